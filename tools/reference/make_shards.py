#!/usr/bin/env python3
"""Other forms of transformers' layout, from DIR/model.safetensors, which make_tiny.py writes (--dtype for bfloat16, float16).

  python make_shards.py DIR OUT

OUT/shards/    model-0000N-of-00003.safetensors, model.safetensors.index.json, config.json
OUT/detector/  a file of Sam3Model alone: no `detector_model.` prefix, no tracker; config.json of that class
"""
import json, os, shutil, sys
from safetensors import safe_open
from safetensors.torch import save_file

SHARDS = 3


def main():
    folder, out = sys.argv[1:]
    with safe_open(os.path.join(folder, "model.safetensors"), "pt") as f:
        sd = {x: f.get_tensor(x) for x in f.keys()}
    shards, detector = os.path.join(out, "shards"), os.path.join(out, "detector")
    os.makedirs(shards, exist_ok=True)
    os.makedirs(detector, exist_ok=True)
    where, names = {}, sorted(sd)
    for i in range(SHARDS):
        file = f"model-{i + 1:05d}-of-{SHARDS:05d}.safetensors"
        part = {x: sd[x] for x in names[i::SHARDS]}          # neighbours go to different files
        where.update(dict.fromkeys(part, file))
        save_file(part, os.path.join(shards, file), metadata={"format": "pt"})
    index = {"metadata": {"total_size": sum(v.numel() * v.element_size() for v in sd.values())},
             "weight_map": dict(sorted(where.items()))}
    json.dump(index, open(os.path.join(shards, "model.safetensors.index.json"), "w"), indent=2)
    shutil.copy(os.path.join(folder, "config.json"), shards)
    p = "detector_model."
    save_file({x[len(p):]: v for x, v in sd.items() if x.startswith(p)}, os.path.join(detector, "model.safetensors"),
              metadata={"format": "pt"})
    config = json.load(open(os.path.join(folder, "config.json")))
    json.dump(config["detector_config"], open(os.path.join(detector, "config.json"), "w"), indent=2)


if __name__ == "__main__":
    main()
