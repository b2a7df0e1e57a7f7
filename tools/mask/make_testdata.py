#!/usr/bin/env python3
"""Writes libs/mask/testdata and libs/mask/corpus: what pycocotools and PyTorch answer, recorded for the tests.

Pinned: Python 3.11, numpy 2.4.6, pycocotools 2.0.11, torch 2.13.0 (CPU, on a processor with AVX2 and FMA: torch picks its
kernels by processor, and the ones without FMA round differently; the script refuses to run on another one).

    python tools/mask/make_testdata.py --logits DIR     # DIR: *_lowres.npz of the miniature model
"""

import argparse
import hashlib
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from pycocotools import mask as coco

LIB = pathlib.Path(__file__).resolve().parents[2] / "libs" / "mask"


def runs(bitmap):
    """Run lengths in COCO's order, beginning with zeros. Written from the format's description."""
    flat = np.asarray(bitmap, np.uint8).flatten(order="F")
    edges = np.flatnonzero(np.diff(flat)) + 1
    lengths = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
    return ([0] if flat[0] else []) + lengths


def counts_string(bitmap):
    return coco.encode(np.asfortranarray(bitmap, np.uint8))["counts"].decode("ascii")


def shapes():
    rng = np.random.default_rng(20)

    def blank(height, width):
        return np.zeros((height, width), np.uint8)

    yield "one_by_one_clear", blank(1, 1)
    yield "one_by_one_set", blank(1, 1) + 1
    for name, size in (("row", (1, 9)), ("column", (9, 1))):
        line = blank(*size)
        line.flat[[0, 1, 4, 8]] = 1
        yield f"one_{name}", line
    yield "empty", blank(7, 5)
    yield "full", blank(7, 5) + 1
    pixel = blank(12, 10)
    pixel[5, 3] = 1
    yield "one_pixel", pixel
    row = blank(12, 10)
    row[4, :] = 1
    yield "row_of_picture", row
    column = blank(12, 10)
    column[:, 6] = 1
    yield "column_of_picture", column
    border = blank(12, 10) + 1
    border[1:-1, 1:-1] = 0
    yield "border", border
    y, x = np.mgrid[0:60, 0:80]
    distance = np.hypot(y - 30, x - 40)
    yield "ring", (distance < 25) & (distance > 15)
    yield "checkerboard", (y + x) % 2 == 0
    yield "checkerboard_from_clear", (y + x) % 2 == 1
    parts = blank(60, 80)
    for top, left in rng.integers(0, 50, (12, 2)):
        parts[top : top + 5, left : left + 7] = 1
    yield "many_parts", parts
    yield "corner_first", (y < 3) & (x < 3)
    yield "corner_last", (y > 56) & (x > 76)
    yield "random_sparse", rng.random((37, 41)) < 0.03
    yield "random_half", rng.random((37, 41)) < 0.5
    large = blank(300, 700)
    large[10:290, 300:500] = 1
    yield "run_over_32768", large
    huge = blank(1100, 1000)
    huge[500, 998] = 1
    yield "run_over_2_to_20", huge


def write_shapes():
    lines = ["# name width height counts-string runs... (pycocotools 2.0.11)"]
    for name, bitmap in shapes():
        height, width = bitmap.shape
        lines.append(" ".join([name, str(width), str(height), counts_string(bitmap), *map(str, runs(bitmap))]))
    (LIB / "testdata" / "rle.txt").write_text("\n".join(lines) + "\n", encoding="ascii")


def formula(rows, columns):
    """Logits that the test makes itself, exact in float32: a smooth hill with a little noise."""
    r, c = np.mgrid[0:rows, 0:columns].astype(np.int64)
    hill = 4000 * 64 - 3 * 64 * (r - rows // 2) ** 2 - 2 * 64 * (c - columns // 3) ** 2
    noise = (r * 7919 + c * 104729 + r * c * 31) % 2003 - 1001
    return ((hill + noise * 40) / 4096).astype(np.float32)


def special(rows, columns):
    rng = np.random.default_rng(5)
    values = rng.normal(size=(rows, columns)).astype(np.float32)
    for value in (np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45, -1e-45, 1e-38, 3e38, -3e38):
        values[rng.random(values.shape) < 0.03] = value
    return values


SIZES = [(640, 480), (480, 640), (2560, 1600), (17, 401), (1, 1), (48, 48), (20, 20), (403, 1601), (64, 64), (64, 65),
         (1, 300), (300, 1)]


def write_upsampled(logits_folder):
    rng = np.random.default_rng(7)
    sources = {}
    for file, key in (("shapes_01", "click_1"), ("shapes_02", "click_box"), ("shapes_03", "click_2")):
        with np.load(logits_folder / f"{file}_lowres.npz") as archive:
            if key in archive:
                sources[f"{file}_{key}"] = archive[key][0]
    coarse = torch.from_numpy(rng.normal(size=(1, 1, 6, 6)).astype(np.float32))
    sources["smooth"] = F.interpolate(coarse, size=(48, 48), mode="bicubic")[0, 0].numpy()
    sources["noise"] = rng.normal(size=(12, 15)).astype(np.float32)
    sources["special"] = special(12, 15)
    sources["subnormal"] = (rng.normal(size=(9, 9)) * 1e-44).astype(np.float32)
    sources["one"] = np.array([[0.5]], np.float32)
    for name, values in sources.items():
        (LIB / "testdata" / f"{name}.f32").write_bytes(values.astype("<f4").tobytes())
    sources["formula"] = formula(288, 288)
    lines = ["# logits rows columns width height area counts-string-or-#hash (torch 2.13.0, > 0)"]
    for name, values in sources.items():
        rows, columns = values.shape
        for width, height in SIZES:
            tensor = torch.from_numpy(np.ascontiguousarray(values))[None, None]
            big = F.interpolate(tensor, size=(height, width), mode="bilinear", align_corners=False)
            bitmap = (big[0, 0] > 0).numpy()
            counts = counts_string(bitmap)
            if len(counts) > 2000:  # long ones by their hash (FNV-1a, 64 bits): enough to tell, small to keep
                counts = "#" + fnv1a(counts)
            lines.append(f"{name} {rows} {columns} {width} {height} {int(bitmap.sum())} {counts}")
    (LIB / "testdata" / "upsample.txt").write_text("\n".join(lines) + "\n", encoding="ascii")


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode("ascii"):
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def write_corpus():
    """Inputs of the fuzz target: width and height (u16, little-endian), then the text."""
    folder = LIB / "corpus" / "rle"
    folder.mkdir(parents=True, exist_ok=True)
    seeds = []
    for name, bitmap in shapes():
        if bitmap.size <= 5000:
            height, width = bitmap.shape
            seeds.append((width, height, counts_string(bitmap).encode("ascii")))
    seeds += [
        (5, 7, b""),  # nothing
        (5, 7, b"o"),  # ends within a number
        (5, 7, b"ooooooooooooooo0"),  # a number without end
        (5, 7, b"0O"),  # a negative run
        (5, 7, b"0000000S10"),  # empty runs
        (5, 7, b"/p\xff\x00"),  # none of the characters
        (65535, 65535, b"PPPPPP4"),  # a run of more than 32 bits
        (0, 0, b""),
        (0, 3, b"0"),
    ]
    for width, height, text in seeds:
        data = width.to_bytes(2, "little") + height.to_bytes(2, "little") + text
        (folder / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logits", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    if torch.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"):
        sys.exit("torch runs without FMA on this processor: the recorded masks would differ")
    (LIB / "testdata").mkdir(exist_ok=True)
    write_shapes()
    write_upsampled(arguments.logits)
    write_corpus()


if __name__ == "__main__":
    main()
