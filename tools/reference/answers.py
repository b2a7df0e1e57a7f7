"""Writes what a model must answer, one .safetensors file a stage and case (tests/data/golden/README.md lists them)."""
import os
import cases
import numpy as np
from safetensors.numpy import save_file

IMAGE = ("backbone_fpn_2", "fusion_embed", "mask_fpn_0", "mask_fpn_1", "point_fpn_0", "point_fpn_1", "point_embed", "trunk",
         "fpn_0", "fpn_1")


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
        save("point_" + name, {**cases.point_inputs(coords, labels, mask, side), **oracle.point(features, coords, labels, mask)})
    return done
