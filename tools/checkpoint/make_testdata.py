#!/usr/bin/env python3
"""Writes libs/checkpoint/testdata: small checkpoints, with the values that torch and safetensors read from them.

Needs Python 3.11, torch 2.13.0, numpy and safetensors 0.8.0. Run from the repository root:
  python tools/checkpoint/make_testdata.py
The output is the same on every run.

*.pt, *.safetensors, shards/   the inputs
expected.txt                   one line a tensor, in the order of the file, fields divided by tabs:
                               file, name, element type, shape ("2,3"; a scalar's is empty), values ("-": not read)
                               as the hexadecimal bits of float32, divided by blanks
"""

import collections
import json
import pathlib
import warnings

import numpy as np
import safetensors
import torch
from safetensors import safe_open
from safetensors.torch import save_file

assert torch.__version__.split("+")[0] == "2.13.0", torch.__version__
assert safetensors.__version__ == "0.8.0", safetensors.__version__
warnings.simplefilter("ignore")

ROOT = pathlib.Path(__file__).resolve().parents[2] / "libs/checkpoint/testdata"
NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64", torch.int64: "i64",
         torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool",
         torch.complex64: "complex64"}
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def ramp(*shape, dtype=torch.float32):
    count = int(np.prod(shape, dtype=np.int64))
    return (torch.arange(count, dtype=torch.float64) * 0.75 - 3).reshape(shape).to(dtype)


def specials(dtype):
    """Zeros of both signs, subnormals, the largest, infinities, and values between."""
    info = torch.finfo(dtype)
    return torch.tensor([0.0, -0.0, info.tiny, -info.tiny / 4, info.max, -info.max, float("inf"), -float("inf"), 1 / 3, -1e-3],
                        dtype=torch.float64).to(dtype)


def types():
    tensors = {f"ramp.{NAMES[t]}": ramp(2, 3, dtype=t) for t in FLOATS}
    tensors |= {f"specials.{NAMES[t]}": specials(t) for t in (torch.float32, torch.float16, torch.bfloat16)}
    # Doubles that a float rounds, overflows and underflows with.
    tensors["specials.f64"] = torch.tensor([0.1, 1e300, -1e300, 1e-300, 1 + 2.0**-25], dtype=torch.float64)
    tensors |= {f"whole.{NAMES[t]}": torch.arange(3).to(t)
                for t in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)}
    return tensors | {"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 4), "counter": torch.tensor(7)}


def views():
    base = ramp(4, 6)
    cube = ramp(2, 3, 4)
    return {"whole": base, "offset": base[1:3], "columns": base[:, 2:5], "transposed": base.t(), "every_other": base[::2, ::3],
            "permuted": cube.permute(2, 0, 1), "one_row": base[2:3, :], "halves": ramp(3, 2, dtype=torch.float16).t(),
            "parameter": torch.nn.Parameter(ramp(2, 2)), "unsqueezed": base[0].unsqueeze(1)}


def training():
    """What a training script saves: the state dict of a module beside all sorts of things."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    with torch.no_grad():
        for i, p in enumerate(module.parameters()):
            p.copy_(ramp(*p.shape) + i)
    optimizer = torch.optim.AdamW(module.parameters())
    return {"epoch": 3, "loss": 0.25, "note": "é", "best": None, "done": False, "sizes": [1, (2, 3)], "big": 1 << 80,
            "shape": torch.Size([2, 3]), "dtype": torch.float32, "device": torch.device("cpu"),
            "optimizer": optimizer.state_dict(), "model": module.state_dict()}


def line(file, name, tensor):
    values = "-"
    if tensor.dtype in FLOATS:
        values = " ".join(f"{b:08x}" for b in tensor.detach().float().contiguous().numpy().reshape(-1).view(np.uint32))
    return "\t".join([file, name, NAMES[tensor.dtype], ",".join(map(str, tensor.shape)), values])


def main():
    ROOT.mkdir(parents=True, exist_ok=True)
    lines = []

    def torch_file(file, value, tensors, **options):
        torch.save(value, ROOT / file, **options)
        lines.extend(line(file, name, tensor) for name, tensor in tensors.items())

    complex_too = types() | {"rotary": torch.polar(torch.ones(2, 2), ramp(2, 2))}
    torch_file("types.pt", complex_too, complex_too)
    torch_file("protocol5.pt", complex_too, complex_too, pickle_protocol=5)
    torch_file("views.pt", views(), views())
    torch_file("training.pt", training(), training()["model"])
    ordered = collections.OrderedDict(types())
    torch_file("ordered.pt", ordered, ordered)
    torch.save({"wide": torch.ones(1).expand(1000, 1000)}, ROOT / "expanded.pt")
    torch.save([ramp(2)], ROOT / "list.pt")
    torch.save({"state_dict": {"a": ramp(2)}, "epoch": 1}, ROOT / "elsewhere.pt")

    class Evil:
        def __reduce__(self):
            import os
            return os.system, ("true",)

    torch.save({"a": ramp(2), "b": Evil()}, ROOT / "evil.pt")

    save_file(types(), ROOT / "types.safetensors", metadata={"format": "pt"})
    with safe_open(ROOT / "types.safetensors", "pt") as f:
        header = (ROOT / "types.safetensors").read_bytes()
        order = json.loads(header[8:8 + int.from_bytes(header[:8], "little")])
        lines.extend(line("types.safetensors", name, f.get_tensor(name)) for name in order if name != "__metadata__")

    shards = ROOT / "shards"
    shards.mkdir(exist_ok=True)
    parts = [{"b.weight": ramp(2, 2), "a.weight": ramp(3)}, {"c.weight": ramp(2, dtype=torch.bfloat16)}]
    where = {}
    for i, part in enumerate(parts):
        file = f"model-{i + 1:05d}-of-00002.safetensors"
        save_file(part, shards / file)
        where |= dict.fromkeys(part, file)
        lines.extend(line("shards", name, part[name]) for name in sorted(part))
    index = {"metadata": {"total_size": 32}, "weight_map": dict(sorted(where.items()))}
    (shards / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
    (ROOT / "expected.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
