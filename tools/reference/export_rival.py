"""The rival: the three graphs of the sam3-onnx v0.3.0 contract, written by PyTorch's exporter from Meta's own classes.

  python export_rival.py FOLDER OUT [--checkpoint sam3.pt] [--dynamo]

FOLDER is made by make_tiny.py (or is the miniature with its manifest.json).  Small models: the tracing exporter.  Full
size: --dynamo for the two encoders (as the project it stands for does); the decoder is always traced.  Needs about
10 GB of memory at full size.  Checks its graphs against PyTorch with ONNX Runtime and prints the differences.
"""
import argparse, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import official_model, tv_stub
import numpy as np, torch
import sam3.model.geometry_encoders as geometry
from sam3.model.data_misc import FindStage

ap = argparse.ArgumentParser()
ap.add_argument("folder"); ap.add_argument("out"); ap.add_argument("--checkpoint", default="sam3.pt")
ap.add_argument("--dynamo", action="store_true"); ap.add_argument("--opset", type=int, default=20)
a = ap.parse_args()
os.makedirs(a.out, exist_ok=True)
model, k = official_model.load(a.folder, a.checkpoint)
model.eval()


def real_rope(attention):
    """ONNX has no complex numbers: rotate pairs with cos and sin."""
    cs = torch.view_as_real(attention.freqs_cis)
    attention.register_buffer("rope_cos", cs[..., 0].clone()); attention.register_buffer("rope_sin", cs[..., 1].clone())

    def rotate(x):
        x0, x1 = x.unflatten(-1, (-1, 2)).unbind(-1)
        c, s = attention.rope_cos, attention.rope_sin
        return torch.stack([x0 * c - x1 * s, x0 * s + x1 * c], -1).flatten(-2)
    attention._apply_rope = lambda q, key: (rotate(q), rotate(key))


for mod in model.modules():
    if type(mod).__name__ == "Attention" and getattr(mod, "freqs_cis", None) is not None:
        real_rope(mod)


def concat_slots(s1, m1, s2, m2, return_index=False):
    """Nothing depends on the order of prompt tokens, so masked slots may stay where they are."""
    s, msk = torch.cat([s1, s2]), torch.cat([m1, m2], 1)
    if not return_index:
        return s, msk
    return s, msk, torch.arange(len(s1), len(s))[:, None].expand(-1, s2.shape[1])


geometry.concat_padded_sequences = concat_slots


class RoiAlign(torch.autograd.Function):
    """torchvision's operator becomes ONNX's; traced, the stand-in's number of samples would be that of the traced box."""
    @staticmethod
    def forward(ctx, features, rois, batch, size):
        return tv_stub.roi_align(features, torch.cat([batch[:, None].float(), rois], 1), size)

    @staticmethod
    def symbolic(g, features, rois, batch, size):
        return g.op("RoiAlign", features, rois, batch, coordinate_transformation_mode_s="output_half_pixel", mode_s="avg",
                    output_height_i=size, output_width_i=size, sampling_ratio_i=0, spatial_scale_f=1.0)


def roi_align(features, boxes, size):
    rois = torch.cat(list(boxes))
    return RoiAlign.apply(features, rois, torch.zeros(rois.shape[0], dtype=torch.int64), size)


geometry.torchvision.ops.roi_align = roi_align
STAGE = FindStage(img_ids=torch.tensor([0]), text_ids=torch.tensor([0]), input_boxes=None, input_boxes_mask=None,
                  input_boxes_label=None, input_points=None, input_points_mask=None)


class Graph(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.model = model


class ImageEncoder(Graph):
    inputs = ["image"]
    outputs = ["vision_pos_enc_0", "vision_pos_enc_1", "vision_pos_enc_2", "backbone_fpn_0", "backbone_fpn_1", "backbone_fpn_2"]

    def forward(self, image):
        o = self.model.backbone._forward_image_no_act_ckpt(((image.float() / 255 - 0.5) / 0.5)[None])
        return (*o["vision_pos_enc"], *o["backbone_fpn"])


class LanguageEncoder(Graph):
    inputs, outputs = ["tokens"], ["text_attention_mask", "text_memory", "text_embeds"]

    def forward(self, tokens):
        tower = self.model.backbone.language_backbone
        memory = tower.encoder(tokens)[1]
        return tokens == 0, tower.resizer(memory.transpose(0, 1)), tower.encoder.token_embedding(tokens).transpose(0, 1)


class Decoder(Graph):
    inputs = ["vision_pos_enc_2", "backbone_fpn_0", "backbone_fpn_1", "backbone_fpn_2", "language_mask", "language_features",
              "box_coords", "box_labels", "box_masks"]
    outputs = ["boxes", "scores", "masks"]

    def forward(self, pos, f0, f1, f2, text_mask, text, coords, labels, unused):
        prompt = self.model._get_dummy_prompt()
        prompt.box_embeddings, prompt.box_labels, prompt.box_mask = coords, labels, unused
        o = self.model.forward_grounding(
            backbone_out={"vision_pos_enc": [pos] * 3, "backbone_fpn": [f0, f1, f2], "language_mask": text_mask, "language_features": text},
            find_input=STAGE, geometric_prompt=prompt, find_target=None)
        score = (o["pred_logits"].sigmoid() * o["presence_logit_dec"].sigmoid()[:, None])[..., 0]
        keep = score > 0.5
        centre, size = o["pred_boxes"][keep].split(2, -1)
        return torch.cat([centre - size / 2, centre + size / 2], -1), score[keep], o["pred_masks"][keep][:, None].sigmoid()


def export(graph, args, name, **kw):
    torch.onnx.export(graph.eval(), args, f"{a.out}/sam3_{name}.onnx", input_names=graph.inputs, output_names=graph.outputs,
                      opset_version=a.opset, **kw)


with torch.no_grad():
    side = k["image"]
    image = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (3, side, side), dtype=np.uint8))
    tokens = torch.zeros(1, 32, dtype=torch.int64); tokens[0, :3] = torch.tensor([49406, 2533, 49407])
    enc, lang, dec = ImageEncoder(), LanguageEncoder(), Decoder()
    ew, lw = enc(image), lang(tokens)
    box = (torch.tensor([[[.3, .4, .1, .1]]]), torch.ones(1, 1, dtype=torch.int64), torch.zeros(1, 1, dtype=torch.bool))
    big = dict(dynamo=True, external_data=True) if a.dynamo else dict(dynamo=False)
    export(enc, (image,), "image_encoder", **big)
    export(lang, (tokens,), "language_encoder", **big)
    export(dec, (ew[2], *ew[3:], lw[0], lw[1], *box), "decoder", dynamo=False,
           dynamic_axes={o: {0: "n"} for o in Decoder.outputs})

    import onnxruntime as ort
    for name, graph, args, want in (("image_encoder", enc, (image,), ew), ("language_encoder", lang, (tokens,), lw),
                                    ("decoder", dec, (ew[2], *ew[3:], lw[0], lw[1], *box), None)):
        want = want or graph.eval()(*args)
        s = ort.InferenceSession(f"{a.out}/sam3_{name}.onnx", providers=["CPUExecutionProvider"])
        got = s.run(graph.outputs, dict(zip(graph.inputs, [x.numpy() for x in args])))
        diff = [float(np.abs(g.astype("f8") - w.numpy().astype("f8")).max()) if g.size else 0.0 for g, w in zip(got, want)]
        print(name, len(s.get_inputs()), "inputs, max difference", max(diff), [g.shape for g in got][:1])
