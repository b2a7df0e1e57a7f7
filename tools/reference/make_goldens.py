#!/usr/bin/env python3
"""Writes tests/data/golden: a micro SAM 3, three micro LiteText encoders, and what they must answer.

  python tools/reference/make_goldens.py [--out DIR]

Expected values come from Meta's own classes (oracle.py); LiteText's from make_litetext.py. Prints how far transformers'
modules, which make_tiny.py runs, and the plain formulas of ref_from_spec.py are from them. Seconds.
"""
import argparse, json, os, sys
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import answers
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


def compare_concepts(out, k, m, done):
    """Meta's answers against transformers' modules and the plain formulas, from the same text features."""
    seen, plain, image, margin = Worst(), Worst(), done["image"], 1.0
    v, _, _ = mt.run_vision(m.detector_model, m.tracker_neck, m.tracker_model, image["image"], k, True)
    fpn = [torch.from_numpy(image[n]) for n in ("fpn_0", "fpn_1", "backbone_fpn_2")]
    pos = spec.sine_map(spec.S, spec.DM)
    for name, (phrase, boxes, labels) in cases.concepts(spec.S).items():
        d = done["concept_" + name]
        s = d["scores"]
        margin = min(margin, np.abs(s - 0.5).min())
        print(f"  {name}: {(s > 0.5).sum()} of {s.size} kept, presence {d['presence'][0]:.3f}, "
              f"nearest to 0.5: {np.abs(s - 0.5).min():.4f}")
        text, valid = torch.from_numpy(d["language_features"]), torch.from_numpy(~d["language_mask"])
        t = mt.run_pcs(m.detector_model, v, text, valid, boxes, labels, k, True)
        for ours, theirs in (("scores", "scores"), ("boxes", "pred_boxes_xyxy"), ("mask_logits", "pred_masks")):
            seen.see(ours, t[theirs], d[ours])
        with torch.no_grad():
            f, valid = spec.text(torch.tensor([cases.tokens(phrase, k)]))
            g, gv = spec.geometry(*(torch.from_numpy(x) for x in (d["box_coords"], d["box_labels"], ~d["box_masks"])), fpn[2], pos)
            p = spec.detector(fpn, pos, torch.cat([f, g], 1), torch.cat([valid, gv], 1))
        centre, size = p["boxes"].split(2, -1)
        for ours, theirs in (("language_features", f), ("scores", p["scores"]), ("mask_logits", p["masks"]),
                             ("boxes", torch.cat([centre - size / 2, centre + size / 2], -1))):
            plain.see(ours, theirs.numpy(), d[ours])
    d = done["concept_text"]
    t = mt.run_pcs(m.detector_model, v, torch.from_numpy(d["language_features"]), torch.from_numpy(~d["language_mask"]), [], [], k,
                   True, with_cls=False)
    save_file({"scores": t["scores"], "boxes": t["pred_boxes_xyxy"], "mask_logits": t["pred_masks"]},
              f"{out}/concept_text_nocls.safetensors")
    print("  without the class token: scores differ by", np.abs(t["scores"] - d["scores"]).max())
    print("  transformers against Meta:", seen, "\n  plain formulas against Meta:", plain, "| smallest margin", margin)


def compare_points(k, trk, done):
    seen, plain = Worst(), Worst()
    feats = [torch.from_numpy(done["image"][n]) for n in ("point_fpn_0", "point_fpn_1", "point_embed")]
    for name, (points, labels, masked) in cases.points(k["image"]).items():
        d = done["point_" + name]
        mask = d["mask_input"] if masked else None
        with torch.no_grad():
            p = spec.interactive(*feats, torch.tensor(points).reshape(1, -1, 2), torch.tensor(labels, dtype=torch.int64)[None],
                                 None if mask is None else torch.from_numpy(mask))
        for ours, theirs in zip(("mask_logits", "iou", "object_score"), p):
            plain.see(ours, theirs.numpy(), d[ours])
        if points:
            t = mt.run_pvs(trk, feats, points, labels, True, mask)
            for ours, theirs in (("mask_logits", "masks_all4"), ("iou", "iou_all4"), ("object_score", "object_score_logits")):
                seen.see(ours, t[theirs], d[ours])
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
    spec.load(sam)
    done = answers.write(sam, Oracle(sam), mt.test_image(k, SEED))
    print("image\n  transformers against Meta:", ", ".join(image_differences(k, done["image"], m, trk)))
    print("concepts")
    compare_concepts(sam, k, m, done)
    print("points")
    compare_points(k, trk, done)
    os.remove(os.path.join(sam, "manifest.json"))            # only the oracle wants it
    write_litetext(a.out)
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(a.out) for f in files)
    print(f"{size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
