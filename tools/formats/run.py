#!/usr/bin/env python3
"""Has samlet write masks in every format, and reads the files with the tools that the formats are for.

usage: python tools/formats/run.py PROGRAM [READER...]

PROGRAM is samlet_format_samples of the build. Each reader read_READER.py of this folder has a function checks(folder,
pictures) which yields names and functions to call; without names all of them run. The closing line is "N passed, N
failed".
"""

import importlib
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

import masks
import read_tables
from PIL import Image

READERS = ("pictures", "coco", "labelme", "yolo", "geojson", "tables")


def write_input(folder, picture):
    """What tests/formats/samples.cc reads, and the picture itself, which labelme opens."""
    height, width = picture.size
    lines = [f"{width} {height} {len(picture.annotations)}"]
    lines += [f"{a.category} {a.score!r} {a.kind}" for a in picture.annotations]
    pixels = b"".join(a.mask.tobytes() for a in picture.annotations) + picture.rgb.tobytes()
    (folder / f"{picture.name}.in").write_bytes("".join(f"{line}\n" for line in lines).encode() + pixels)
    Image.fromarray(picture.rgb).save(folder / f"{picture.name}.png", compress_level=1)


def read(reader, folder, pictures):
    """(passed, failed)"""
    passed = failed = 0
    start = time.monotonic()
    for name, check in importlib.import_module(f"read_{reader}").checks(folder, pictures):
        try:
            check()
            passed += 1
        except Exception as error:  # noqa: BLE001: a reader's own exception is a finding too
            failed += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(f"FAILED {reader} {name}: {type(error).__name__} {str(error)[:300]} ({place.line})")
    print(f"{reader}: {passed} of {passed + failed} as expected, {time.monotonic() - start:.1f} s")
    assert passed + failed > 0, f"{reader} has checked nothing"
    return passed, failed


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    pictures = list(masks.pictures())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "categories").write_bytes("".join(f"{c}\0" for c in masks.CATEGORIES).encode())
        for picture in pictures:
            write_input(folder, picture)
        read_tables.write_arrays(folder)
        names = "".join(f"{picture.name}\n" for picture in pictures)
        subprocess.run([sys.argv[1], folder], input=names, text=True, check=True)
        counts = [read(reader, folder, pictures) for reader in sys.argv[2:] or READERS]
    passed, failed = map(sum, zip(*counts, strict=True))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
