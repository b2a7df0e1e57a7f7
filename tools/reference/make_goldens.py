#!/usr/bin/env python3
"""Writes tests/data/golden: a micro SAM 3, three micro LiteText encoders, and what they must answer.

  python tools/reference/make_goldens.py [--out DIR]

Expected values come from Meta's own classes (oracle.py); LiteText's from make_litetext.py. Prints how far transformers'
modules, which make_tiny.py runs, and the plain formulas of ref_from_spec.py are from them. Seconds.
"""
import argparse, json, os, sys
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import cases
import make_tiny as mt
import make_litetext as ml
import ref_from_spec as spec
import numpy as np
import torch
from oracle import Oracle
from safetensors.numpy import save_file

SEED = 6


def make_model(folder):
    k, cfg, m, trk = mt.build("micro", SEED)
    cfg.save_pretrained(folder)
    torch.save(mt.video_to_official(m.state_dict(), k, SEED), os.path.join(folder, "sam3.pt"))
    json.dump({"dims": k, "seed": SEED}, open(os.path.join(folder, "manifest.json"), "w"), indent=1)
    return k, m, trk


def relative(a, b):
    return float(np.abs(np.asarray(a, np.float64).reshape(b.shape) - b).max() / max(np.abs(b).max(), 1e-9))


class Worst:
    """Largest relative differences by name."""

    def __init__(self):
        self.d = {}

    def see(self, name, a, b):
        self.d[name] = max(self.d.get(name, 0.0), relative(a, b))

    def __str__(self):
        return ", ".join(f"{k} {v:.1e}" for k, v in self.d.items())


def write_concepts(out, o, k, m, features):
    seen, plain, names = Worst(), Worst(), sorted(cases.PHRASES)
    tokens = np.array([cases.tokens(n, k) for n in names], np.int64)
    lf, lm = o.language(tokens)
    save_file({"tokens": tokens, "language_features": lf, "language_mask": lm}, f"{out}/language.safetensors",
              metadata={"rows": " | ".join(names)})
    row = {n: slice(i, i + 1) for i, n in enumerate(names)}
    v, _, _ = mt.run_vision(m.detector_model, m.tracker_neck, m.tracker_model, mt.test_image(k, SEED), k, True)
    margin, all_answers = 1.0, {}
    concepts = cases.concepts(k["image"] // k["patch"])
    for name, (word, boxes, labels) in concepts.items():
        r = row[word]
        text = {"language_features": lf[r], "language_mask": lm[r]}
        answer = all_answers[name] = o.concept(features, lf[r], lm[r], boxes, labels)
        s = answer["scores"]
        margin = min(margin, np.abs(s - 0.5).min())
        print(f"  {name}: {(s > 0.5).sum()} of {s.size} kept, presence {answer['presence'][0]:.3f}, "
              f"nearest to 0.5: {np.abs(s - 0.5).min():.4f}")
        save_file({**text, **cases.concept_inputs(boxes, labels), **answer}, f"{out}/concept_{name}.safetensors")
        t = mt.run_pcs(m.detector_model, v, torch.from_numpy(lf[r]), torch.from_numpy(~lm[r]), boxes, labels, k, True)
        for ours, theirs in (("scores", "scores"), ("boxes", "pred_boxes_xyxy"), ("mask_logits", "pred_masks")):
            seen.see(ours, t[theirs], answer[ours])
        i = {n: torch.from_numpy(x) for n, x in cases.concept_inputs(boxes, labels).items()}
        fpn = [torch.from_numpy(features[n]) for n in ("fpn_0", "fpn_1", "backbone_fpn_2")]
        with torch.no_grad():
            f, valid = spec.text(torch.from_numpy(tokens[r]))
            pos = spec.sine_map(spec.S, spec.DM)
            g, gv = spec.geometry(i["box_coords"], i["box_labels"], ~i["box_masks"], fpn[2], pos)
            p = spec.detector(fpn, pos, torch.cat([f, g], 1), torch.cat([valid, gv], 1))
        centre, size = p["boxes"].split(2, -1)
        for ours, theirs in (("language_features", f), ("scores", p["scores"]), ("mask_logits", p["masks"]),
                             ("boxes", torch.cat([centre - size / 2, centre + size / 2], -1))):
            plain.see(ours, theirs.numpy(), {**text, **answer}[ours])
    t = mt.run_pcs(m.detector_model, v, torch.from_numpy(lf[row["cat"]]), torch.from_numpy(~lm[row["cat"]]), [], [], k, True,
                   with_cls=False)
    save_file({"scores": t["scores"], "boxes": t["pred_boxes_xyxy"], "mask_logits": t["pred_masks"]},
              f"{out}/concept_text_nocls.safetensors")
    print("  without the class token: scores differ by", np.abs(t["scores"] - all_answers["text"]["scores"]).max())
    inputs = [{"language_features": lf[row[concepts[n][0]]], "language_mask": lm[row[concepts[n][0]]],
               **cases.concept_inputs(*concepts[n][1:], 2)} for n in cases.BATCH]
    stacked = {x: np.concatenate([i[x] for i in inputs]) for x in inputs[0]}
    answers = {x: np.concatenate([all_answers[n][x] for n in cases.BATCH]) for x in ("scores", "boxes", "presence")}
    save_file({**stacked, **answers}, f"{out}/concept_batch.safetensors", metadata={"rows": " | ".join(cases.BATCH)})
    print("  transformers against Meta:", seen, "\n  plain formulas against Meta:", plain, "| smallest margin", margin)


def write_points(out, o, k, trk, features):
    seen, plain, side = Worst(), Worst(), 4 * k["image"] // k["patch"]
    feats = [torch.from_numpy(features[n]) for n in ("point_fpn_0", "point_fpn_1", "point_embed")]
    for name, (points, labels, with_mask) in cases.points(k["image"]).items():
        mask = cases.previous_mask(side) if with_mask else None
        answer = o.point(features, points, labels, mask)
        save_file({**cases.point_inputs(points, labels, mask, side), **answer}, f"{out}/point_{name}.safetensors")
        with torch.no_grad():
            p = spec.interactive(*feats, torch.tensor(points).reshape(1, -1, 2), torch.tensor(labels, dtype=torch.int64)[None],
                                 None if mask is None else torch.from_numpy(mask)[None, None])
        for ours, theirs in zip(("mask_logits", "iou", "object_score"), p):
            plain.see(ours, theirs.numpy(), answer[ours])
        if points:
            t = mt.run_pvs(trk, feats, points, labels, True, None if mask is None else mask[None, None])
            for ours, theirs in (("mask_logits", "masks_all4"), ("iou", "iou_all4"), ("object_score", "object_score_logits")):
                seen.see(ours, t[theirs], answer[ours])
    print("  transformers against Meta:", seen, "\n  plain formulas against Meta:", plain)


def write_litetext(out):
    """S0 as published now (16 rows), S1 as *_ctx32 (32 rows, dict under "model"), L as first published (77 rows)."""
    for variant, rows, wrap in (("s0", 16, False), ("s1", 32, True), ("l", 77, False)):
        k, folder = ml.DIMS["micro"][variant], os.path.join(out, f"litetext_{variant}")
        os.makedirs(folder, exist_ok=True)
        w = ml.weights(variant, k, rows, SEED)
        sd = {ml.PREFIX + x: t for x, t in w.items()}
        torch.save({"model": sd} if wrap else sd, os.path.join(folder, f"litetext_{variant}.pt"))
        ml.write_config(folder, k, None)
        for ctx in (16, 32) if rows == 32 else (16,):
            d = ml.outputs(ml.Encoder(w, variant, k), ctx)
            stack = lambda name: np.concatenate([d[f"{t}.{name}"] for t in ml.TEXTS])
            tensors = {x: stack(x) for x in ("tokens", "language_features", "language_mask")}
            if rows == 77:
                tensors["interp_language_features"] = stack("interp_language_features")
            save_file(tensors, f"{folder}/language_{ctx}.safetensors", metadata={"rows": " | ".join(ml.TEXTS)})


def image_differences(k, features, m, trk):
    d = mt.run_vision(m.detector_model, m.tracker_neck, trk, mt.test_image(k, SEED), k, True)[2]
    for ours, theirs in (("backbone_fpn_2", "fpn_2"), ("fpn_0", "fpn_0"), ("fpn_1", "fpn_1"), ("point_fpn_0", "trk_high_res_0"),
                         ("point_fpn_1", "trk_high_res_1"), ("point_embed", "trk_image_embed")):
        yield f"{ours} {relative(d[theirs], features[ours]):.1e}"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", default=os.path.join(HERE, "..", "..", "tests", "data", "golden"))
    a = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)                                 # two threads sum in another order
    sam = os.path.join(a.out, "sam3")
    os.makedirs(sam, exist_ok=True)
    k, m, trk = make_model(sam)
    o = Oracle(sam)
    spec.load(sam)
    image = mt.test_image(k, SEED)
    features = o.image(image)
    kept = ("backbone_fpn_2", "fusion_embed", "mask_fpn_0", "mask_fpn_1", "point_fpn_0", "point_fpn_1", "point_embed", "trunk",
            "fpn_0", "fpn_1")
    save_file({"image": image, **{x: features[x] for x in kept}}, f"{sam}/image.safetensors")
    print("image\n  transformers against Meta:", ", ".join(image_differences(k, features, m, trk)))
    print("concepts")
    write_concepts(sam, o, k, m, features)
    print("points")
    write_points(sam, o, k, trk, features)
    os.remove(os.path.join(sam, "manifest.json"))            # only the oracle wants it
    write_litetext(a.out)
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(a.out) for f in files)
    print(f"{size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
