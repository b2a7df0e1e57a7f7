#!/usr/bin/env python3
"""Prints the overlay's palette (libs/engine/palette.cc): 20 bright colours that stay apart, also for colour-blind eyes.

Greedy: from all bright, saturated colours, the next one is the farthest from those chosen before, where the distance of
two colours is the least of their OKLab distances as seen by normal, protanope, deuteranope and tritanope eyes (linear
RGB matrices of Machado, Oliveira, Fernandes 2009, full severity). So the first few are the farthest apart.

Pinned: Python 3.11, numpy 2.4.6.   python tools/mask/make_palette.py
"""

import itertools

import numpy as np

COUNT = 20
FIRST = (30, 144, 255)
STEP = 15
LIGHTNESS = (0.60, 0.92)  # OKLab L: bright enough for a line on a dark ground, dark enough to show a hue
LEAST_CHROMA = 0.125
# Counted half for normal eyes, so that colours which all can tell apart are twice as far for most.
NORMAL_WEIGHT = 0.5

VISIONS = [
    np.eye(3),
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
]
TO_LMS = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                   [0.0883024619, 0.2817188376, 0.6299787005]])
TO_LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                   [0.0259040371, 0.7827717662, -0.8086757660]])


def oklab(rgb, vision):
    srgb = np.asarray(rgb, np.float64) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ vision.T, 0, 1)
    return np.cbrt(seen @ TO_LMS.T) @ TO_LAB.T


def main():
    levels = range(0, 256, STEP)
    candidates = np.array([FIRST, *itertools.product(levels, repeat=3)])
    lab = oklab(candidates, VISIONS[0])
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    keep = (lab[:, 0] >= LIGHTNESS[0]) & (lab[:, 0] <= LIGHTNESS[1]) & (chroma >= LEAST_CHROMA)
    keep[0] = True
    candidates = candidates[keep]
    seen = [oklab(candidates, vision) for vision in VISIONS]
    weights = [NORMAL_WEIGHT, 1, 1, 1]
    chosen, nearest = [0], np.full(len(candidates), np.inf)
    while True:
        last = chosen[-1]
        between = np.min([w * np.linalg.norm(s - s[last], axis=1) for w, s in zip(weights, seen)], axis=0)
        nearest = np.minimum(nearest, between)
        if len(chosen) == COUNT:
            break
        chosen.append(int(np.argmax(nearest)))
        print(f"# distance {nearest[chosen[-1]]:.3f}")
    for index in chosen:
        r, g, b = (int(v) for v in candidates[index])
        print(f"    {{{r}, {g}, {b}}},")


if __name__ == "__main__":
    main()
