#!/usr/bin/env python3
"""Decodes pictures with samlet and with Pillow and compares the pixels. scripts/pictures calls it.

usage: python tools/pictures/run.py PROBE [MODULE...]

PROBE is the program samlet_picture_probe of the build. Each module MODULE.py of this folder has a function cases() which
yields cases (common.py); without names all modules run. The closing line is "N passed, N failed".
"""

import importlib
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

MODULES = ("jpeg", "png", "tiff", "bmp", "pnm", "webp", "gif", "heif", "photographs")


def read_ppm(path):
    """The probe's P6: u8 [height, width, 3]."""
    magic, sides, depth, pixels = path.read_bytes().split(b"\n", 3)
    assert (magic, depth) == (b"P6", b"255")
    width, height = map(int, sides.split())
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 3)


def verdict(case, made, error):
    """None when the case is right, else what is wrong."""
    if case.refused is not None:
        if error is None:
            return f"read as {made.shape}, but must be refused with '{case.refused}'"
        return None if case.refused in error else f"refused with other words: {error}"
    if error is not None:
        return f"refused: {error}"
    if made.shape != case.expected.shape:
        return f"is {made.shape}, but must be {case.expected.shape}"
    difference = np.abs(made.astype(int) - case.expected.astype(int))
    if difference.max() > case.tolerance:
        return (f"differs by up to {difference.max()} (allowed: {case.tolerance}) in "
                f"{np.count_nonzero(difference.max(axis=2) > case.tolerance)} of {made.shape[0] * made.shape[1]} pixels")
    return None


def check(probe, cases, folder):
    """Decodes all cases in one run of the probe; (passed, failed)."""
    for case in cases:
        (folder / case.name).write_bytes(case.data)
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    subprocess.run([probe, folder], input="\n".join(names) + "\n", text=True, check=True)
    failed = 0
    for case in cases:
        made, error = folder / f"{case.name}.ppm", folder / f"{case.name}.error"
        wrong = verdict(case, read_ppm(made) if made.exists() else None, error.read_text() if error.exists() else None)
        if wrong:
            failed += 1
            print(f"FAILED {case.name}: {wrong}")
    return len(cases) - failed, failed


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    passed = failed = 0
    for name in sys.argv[2:] or MODULES:
        cases = list(importlib.import_module(name).cases())
        assert cases, f"the module {name} has no cases"
        with tempfile.TemporaryDirectory() as folder:
            right, wrong = check(sys.argv[1], cases, pathlib.Path(folder))
        print(f"{name}: {right} of {len(cases)} as expected")
        passed += right
        failed += wrong
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
