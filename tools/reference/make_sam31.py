#!/usr/bin/env python3
"""A file with the names of SAM 3.1 (sam3.1_multiplex.pt) that holds the picture weights of DIR/sam3.pt.

  python make_sam31.py DIR OUT          # OUT/sam3.1_multiplex.pt, OUT/config.json

DIR is made by make_tiny.py. Everything that 3.1 has for videos is there too, with random values of fitting shapes:
above all `tracker.model.sam_mask_decoder.*`, the multiplex decoder of 48 mask tokens, which a reader that matches the
ends of names takes for the click decoder, `propagation_convs`, shaped as the neck of the clicks, and a second
`positional_encoding_gaussian_matrix`. Levels 3 of the necks and SAM 3's video memory are absent. Answers are those of
DIR, except that 3.1's IoU head gives its value without a sigmoid (Oracle(DIR, iou_sigmoid=False)).
"""
import json, os, shutil, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import keylists
import make_tiny as mt
import torch

RENAMES = [("detector.backbone.vision_backbone.sam2_convs.", "detector.backbone.vision_backbone.interactive_convs."),
           ("tracker.sam_prompt_encoder.", "tracker.model.interactive_sam_prompt_encoder."),
           ("tracker.sam_mask_decoder.", "tracker.model.interactive_sam_mask_decoder."),
           ("tracker.obj_ptr_proj.", "tracker.model.interactive_obj_ptr_proj."),
           ("tracker.mask_downsample.", "tracker.model.interactive_mask_downsample."),
           ("tracker.no_mem_embed", "tracker.model.interactivity_no_mem_embed")]


def rename(key):
    """The name in 3.1, or None for what it does not have."""
    if "convs.3." in key:
        return None
    for old, new in RENAMES:
        if key.startswith(old):
            return new + key[len(old):]
    return key if key.startswith("detector.") else None


def scaled(key, shape, k):
    if "propagation_convs" in key:
        return [{1024: k["width"], 512: k["width"] // 2, 256: k["d"]}.get(x, x) for x in shape]
    return [x * k["d"] // 256 if x >= 32 and x != 48 else x for x in shape]


def main():
    folder, out = sys.argv[1:]
    k = json.load(open(os.path.join(folder, "manifest.json")))["dims"]
    sd = torch.load(os.path.join(folder, "sam3.pt"), map_location="cpu", weights_only=True, mmap=True)
    new = {rename(x): v for x, v in sd.items() if rename(x)}
    kept = len(new)
    for key, shape in keylists.load("sam31_video_only").items():
        assert key not in new, key
        new[key] = torch.from_numpy(mt.fill(31, key, tuple(scaled(key, shape, k))))
    os.makedirs(out, exist_ok=True)
    torch.save(new, os.path.join(out, "sam3.1_multiplex.pt"))
    shutil.copy(os.path.join(folder, "config.json"), out)
    print(f"{kept} tensors for pictures, {len(new) - kept} for videos")


if __name__ == "__main__":
    main()
