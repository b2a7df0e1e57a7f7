"""Graphs of the sam3-onnx v0.3.0 contract against Meta's classes. Works on any such folder."""
import numpy as np
import engines, measure

NAMES = {"image_encoder": (["image"], ["vision_pos_enc_0", "vision_pos_enc_1", "vision_pos_enc_2", "backbone_fpn_0",
                                       "backbone_fpn_1", "backbone_fpn_2"]),
         "language_encoder": (["tokens"], ["text_attention_mask", "text_memory", "text_embeds"]),
         "decoder": (["vision_pos_enc_2", "backbone_fpn_0", "backbone_fpn_1", "backbone_fpn_2", "language_mask", "language_features",
                      "box_coords", "box_labels", "box_masks"], ["boxes", "scores", "masks"])}


def sine_map(n, d):
    """The position code of an n x n map, [1, d, n, n]."""
    c = np.arange(1, n + 1, dtype=np.float64) / (n + 1e-6) * 2 * np.pi
    a = c[:, None] / 10000.0 ** (2 * np.arange(d // 4) / (d // 2))
    e = np.stack([np.sin(a), np.cos(a)], -1).reshape(n, -1).astype(np.float32)
    y, x = np.broadcast_to(e[:, None], (n, n, d // 2)), np.broadcast_to(e[None], (n, n, d // 2))
    return np.concatenate([y, x], -1).transpose(2, 0, 1)[None]


def compare(table, folder, label, answers):
    engine = engines.V030(folder)
    for stem, (inputs, outputs) in NAMES.items():
        g = engine.graph(stem)
        table.fact(stem.replace("_", " "), label, "names", set(g.inputs) == set(inputs) and g.outputs == outputs,
                   f"{list(g.inputs)} -> {g.outputs}")
    want = answers["image"]
    got = engine.image(want["image"])
    width, grid = want["backbone_fpn_2"].shape[1], want["backbone_fpn_2"].shape[2]
    expected = {"backbone_fpn_0": want["fpn_0"], "backbone_fpn_1": want["fpn_1"], "backbone_fpn_2": want["backbone_fpn_2"],
                **{f"vision_pos_enc_{i}": sine_map(4 * grid >> i, width) for i in range(3)}}
    for name, value in expected.items():
        table.see("image encoder", label, "picture", "tensor", measure.relative(got[name], value))
    rows = answers["language"]
    for i in range(len(rows["tokens"])):
        lf, lm = engine.language(rows["tokens"][i:i + 1])
        table.see("language encoder", label, "one phrase", "tensor", measure.relative(lf, rows["language_features"][i:i + 1]))
        table.fact("language encoder", label, "one phrase", np.array_equal(lm, rows["language_mask"][i:i + 1]), "mask differs")
    for case in ("text", "box", "text_box_zero", "text_box_outside"):
        w = answers["concept_" + case]
        got = engine.concept(expected, {n: w[n] for n in ("language_features", "language_mask", "box_coords", "box_labels", "box_masks")})
        kept = w["scores"][0] > 0.5
        see = lambda kind, error: table.see("decoder", label, "phrase or one box", kind, error)
        see("score", measure.absolute(got["scores"], w["scores"][0][kept]))
        see("box", measure.absolute(got["boxes"], w["boxes"][0][kept]))
        logits = w["mask_logits"][0][kept].astype(np.float64)
        see("tensor", measure.absolute(got["mask_probabilities"], 1 / (1 + np.exp(-logits))))
        if got["mask_logits"].shape == logits.shape:
            see("iou", 1 - measure.mask_iou(got["mask_probabilities"] > 0.5, logits > 0))
