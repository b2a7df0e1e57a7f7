#!/usr/bin/env python3
"""Makes models and their expected answers for scripts/parity.   usage: prepare.py NAME DIR [NAME DIR ...]

NAME: tiny-SEED, tiny-bf16, tiny-f16, tiny-3.1, tiny-168, thin, full, litetext-16, litetext-32, litetext-77. Writes below DIR
  model files as make_tiny.py, make_sam31.py, make_shards.py and make_litetext.py do, and
  answers/*.safetensors as answers.py does; for litetext-N a folder answers-V for each variant V.
"""
import importlib, json, os, subprocess, sys
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import numpy as np
from safetensors.numpy import save_file


def tool(name, *arguments):
    """In a process of its own only where memory matters: loading PyTorch takes longer than most of the work."""
    if "full" in arguments:
        subprocess.run([sys.executable, os.path.join(HERE, name), *arguments], check=True, stdout=subprocess.DEVNULL)
        return
    sys.argv = [name, *arguments]
    importlib.import_module(name[:-len(".py")]).main()


def write_answers(out, **options):
    import answers
    import make_tiny as mt
    from oracle import Oracle
    o = Oracle(out, **options)
    seed = json.load(open(os.path.join(out, "manifest.json")))["seed"]
    return o, answers.write(os.path.join(out, "answers"), o, mt.test_image(o.dims, seed))


def litetext(rows, out):
    """Three variants, the first with the whole checkpoint in its file, the second nested under "model"."""
    import make_litetext as ml
    o, done = write_answers(out)
    for v, flags in (("s0", ["--base", f"{out}/sam3.pt"]), ("s1", ["--wrap"]), ("l", [])):
        contexts = [16, 32] if rows == 32 else [16]
        tool("make_litetext.py", "--size", "tiny", "--rows", str(rows), "--only", v, "--out", out, *flags)
        k = ml.DIMS["tiny"][v]
        encoder = ml.Encoder(ml.weights(v, k, rows, 0), v, k)
        folder = f"{out}/answers-{v}"
        os.makedirs(folder, exist_ok=True)
        for ctx in contexts:
            d = ml.outputs(encoder, ctx)
            tensors = {x: np.concatenate([d[f"{t}.{x}"] for t in ml.TEXTS])
                       for x in ("tokens", "language_features", "language_mask")}
            save_file(tensors, f"{folder}/language_{ctx}.safetensors")
            # what the detector makes of them: the slots behind the context are zeros and masked
            i = list(ml.TEXTS).index("bus")
            text = {x: tensors[x][i:i + 1] for x in ("language_features", "language_mask")}
            features = {**done["image"], "pos_2": o.image(done["image"]["image"])["pos_2"]}
            box, label = [[0.3, 0.4, 0.35, 0.5]], [1]
            import cases
            save_file({"tokens": tensors["tokens"][i:i + 1], **text, **cases.concept_inputs(box, label),
                       **o.concept(features, text["language_features"], text["language_mask"], box, label)},
                      f"{folder}/concept_{ctx}.safetensors")


def prepare(name, out):
    import torch
    torch.set_num_threads(2 if name in ("thin", "full") else 1)
    os.makedirs(out, exist_ok=True)
    kind, _, rest = name.partition("-")
    plain = ["--no-io", "--out", out]
    if kind == "litetext":
        tool("make_tiny.py", "--size", "tiny", *plain)
        litetext(int(rest), out)
    elif name in ("thin", "full"):
        tool("make_tiny.py", "--size", name, "--lean", *plain)
        write_answers(out)
    elif name in ("tiny-bf16", "tiny-f16"):
        tool("make_tiny.py", "--size", "tiny", "--dtype", {"bf16": "bfloat16", "f16": "float16"}[rest], *plain)
        write_answers(out)
    elif name == "tiny-3.1":
        tool("make_tiny.py", "--size", "tiny", *plain)
        tool("make_sam31.py", out, f"{out}/sam3.1")
        write_answers(out, iou_sigmoid=False)
    elif name == "tiny-168":
        tool("make_tiny.py", "--size", "tiny", *plain)
        write_answers(out, image=168)
    else:
        tool("make_tiny.py", "--size", "tiny", "--seed", rest, *plain)
        tool("make_shards.py", out, out)
        write_answers(out)


def main():
    wanted = sys.argv[1:]
    for name, out in zip(wanted[::2], wanted[1::2]):
        prepare(name, out)


if __name__ == "__main__":
    main()
