"""Writes what a model must answer, one .safetensors file a stage and case (tests/data/golden/README.md lists them)."""
import os
import cases
import numpy as np
from safetensors.numpy import save_file

IMAGE = ("backbone_fpn_2", "fusion_embed", "mask_fpn_0", "mask_fpn_1", "point_fpn_0", "point_fpn_1", "point_embed", "trunk",
         "fpn_0", "fpn_1")


def point_noise(oracle, features, coords, labels, mask, want, level=2e-6, seeds=4):
    """How far Meta's own answer moves when the features get relative noise of about 16 float32 roundings: the largest
    mean|a-b| / std of the masks, difference of IoU, and of the object score (relative to at least 1). Random weights amplify
    rounding a thousandfold here, and wide layers round more than narrow ones."""
    worst = np.zeros(3, np.float32)
    for seed in range(seeds):
        r = np.random.default_rng(seed)
        noisy = {n: (f * (1 + level * r.standard_normal(f.shape))).astype(np.float32) for n, f in features.items() if n.startswith("point_")}
        got = oracle.point(noisy, coords, labels, mask)
        worst = np.maximum(worst, [np.abs(got["mask_logits"] - want["mask_logits"]).mean() / want["mask_logits"].std(),
                                   np.abs(got["iou"] - want["iou"]).max(),
                                   np.abs(got["object_score"] - want["object_score"]).max() / max(1, np.abs(want["object_score"]).max())])
    return worst.astype(np.float32)


def write(out, oracle, image, with_batch=True):
    """Every case of cases.py; gives back what it wrote: {file name without ending: {tensor name: array}}."""
    os.makedirs(out, exist_ok=True)
    k, grid, done = oracle.dims, oracle.grid, {}

    def save(name, tensors, rows=None):
        done[name] = tensors
        save_file(tensors, os.path.join(out, name + ".safetensors"), metadata={"rows": " | ".join(rows)} if rows else None)

    features = oracle.image(image)
    save("image", {"image": image, **{x: features[x] for x in IMAGE}})
    names = sorted(cases.PHRASES)
    tokens = np.array([cases.tokens(n, k) for n in names], np.int64)
    lf, lm = oracle.language(tokens)
    save("language", {"tokens": tokens, "language_features": lf, "language_mask": lm}, names)
    concepts, inputs, got = cases.concepts(grid), {}, {}
    for name, (phrase, boxes, labels) in concepts.items():
        i = names.index(phrase)
        text = inputs[name] = {"language_features": lf[i:i + 1], "language_mask": lm[i:i + 1]}
        got[name] = oracle.concept(features, lf[i:i + 1], lm[i:i + 1], boxes, labels)
        save("concept_" + name, {**text, **cases.concept_inputs(boxes, labels), **got[name]})
    if with_batch:
        rows = [{**inputs[n], **cases.concept_inputs(*concepts[n][1:], 2)} for n in cases.BATCH]
        save("concept_batch", {**{x: np.concatenate([r[x] for r in rows]) for x in rows[0]},
                               **{x: np.concatenate([got[n][x] for n in cases.BATCH]) for x in ("scores", "boxes", "presence")}},
             cases.BATCH)
    side = 4 * grid
    for name, (coords, labels, masked) in cases.points(k["image"]).items():
        mask = cases.previous_mask(side) if masked else None
        want = oracle.point(features, coords, labels, mask)
        extra = {"noise": point_noise(oracle, features, coords, labels, mask, want)} if grid > 32 else {}
        save("point_" + name, {**cases.point_inputs(coords, labels, mask, side), **want, **extra})
    return done
