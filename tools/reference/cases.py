"""The prompts that everything here is tried with, for any size of model."""
import numpy as np

PHRASES = {"visual": [7195], "cat": [2368], "a yellow school bus": [320, 4481, 1228, 2840],
           "empty": [],
           "zero": [6, 0, 259],                              # id 0 within the phrase counts as padding
           "full": [509, *range(37, 37 * 30, 37)]}           # no padding at all


def tokens(phrase, k):
    """Token ids, k["t_ctx"] of them. In a smaller vocabulary the words are others, but as many."""
    v, ids = k["vocab"], PHRASES[phrase]
    if v != 49408:
        ids = [x and x % (v - 3) + 1 for x in ids]
    ids = [v - 2, *ids, v - 1]
    return ids + [0] * (k["t_ctx"] - len(ids))


def concepts(grid):
    """name -> phrase, boxes (cx, cy, w, h in 0..1), their labels. grid: cells along a side; some cases only where they
    take long."""
    cell = 1 / grid
    two = [[0.3, 0.4, 0.35, 0.5], [0.8, 0.75, 0.03, 0.02]]
    every = {
        "text": ("cat", [], []),
        "box": ("visual", [[0.45, 0.55, 0.4, 0.3]], [1]),
        "text_2box": ("a yellow school bus", two, [1, 0]),
        "text_box_negative": ("cat", [[0.3, 0.6, 0.3, 0.4]], [0]),
        "text_box_zero": ("cat", [[0.5, 0.4, 0.0, 0.0]], [1]),
        "text_box_speck": ("cat", [[0.51, 0.47, 0.004, 0.006]], [1]),
        "text_box_cell": ("cat", [[(grid // 4 + 0.5) * cell, (grid // 3 + 1.5) * cell, cell, cell]], [1]),
        "text_box_border": ("cat", [[0.9, 0.85, 0.2, 0.3]], [1]),
        "text_box_outside": ("cat", [[0.95, 0.1, 0.3, 0.4]], [1]),
        "box_whole": ("visual", [[0.5, 0.5, 1.0, 1.0]], [1]),
        "text_4box": ("a yellow school bus", two + [[0.6, 0.3, 0.2, 0.2], [0.1, 0.9, 0.2, 0.15]], [1, 0, 1, 0]),
        "empty_text": ("empty", [], []),
        "zero_id": ("zero", [], []),
        "full_text": ("full", [], []),
    }
    return every if grid <= 32 else {n: every[n] for n in ("text", "box", "text_2box", "text_box_zero", "text_box_outside")}


BATCH = ("text", "text_2box", "box")


def points(side):
    """name -> points in pixels of the model's picture, labels, whether previous_mask() goes in."""
    def at(*xy):
        return [[side * x, side * y] for x, y in xy]
    return {
        "point": (at((0.4, 0.6)), [1], False),
        "points": (at((0.4, 0.6), (0.7, 0.2), (0.5, 0.5)), [1, 0, 1], False),
        "corner": ([[0.0, side - 1.0]], [1], False),
        "box": (at((0.2, 0.3), (0.7, 0.8)), [2, 3], False),
        "box_point": (at((0.2, 0.3), (0.7, 0.8), (0.4, 0.5)), [2, 3, 1], False),
        "mask": (at((0.5, 0.5)), [1], True),
        "mask_alone": ([], [], True),
        "nothing": ([], [], False),
    }


def previous_mask(side):
    """Logits [side, side] of a disc."""
    y, x = np.mgrid[0:side, 0:side] / side
    return (32 * (0.15 - (x - 0.5) ** 2 - (y - 0.45) ** 2)).astype(np.float32)


def concept_inputs(boxes, labels, slots=None):
    """The decoder's box inputs for one prompt, B = 1; slots behind the boxes are unused."""
    n = len(boxes)
    slots = slots or max(1, n)
    return {"box_coords": np.array(list(boxes) + [[0.0] * 4] * (slots - n), np.float32).reshape(1, slots, 4),
            "box_labels": np.array(list(labels) + [0] * (slots - n), np.int64).reshape(1, slots),
            "box_masks": (np.arange(slots) >= n).reshape(1, slots)}


def point_inputs(coords, labels, mask, side, slots=None):
    """The point decoder's inputs for one object, B = 1. mask: logits [side, side] or None."""
    n = len(coords)
    slots = slots or max(1, n)
    return {"point_coords": np.array(list(coords) + [[0.0, 0.0]] * (slots - n), np.float32).reshape(1, slots, 2),
            "point_labels": np.array(list(labels) + [-1] * (slots - n), np.int64).reshape(1, slots),
            "mask_input": np.zeros((1, 1, side, side), np.float32) if mask is None else mask[None, None],
            "has_mask": np.array([0.0 if mask is None else 1.0], np.float32)}
