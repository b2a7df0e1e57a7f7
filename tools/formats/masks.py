"""The pictures whose masks are written in every format: all shapes that ever broke a converter, and random ones."""

import dataclasses

import numpy as np

# Index = category. Words that need quotes in one format or the other.
CATEGORIES = (
    "cat",
    'a, "quoted"; word',
    "two\nlines\r\nand a tab\t.",
    "ünïcode 猫 \U0001f600 \u2028 \u0085",
    "",
    "yes: no # - [x] {y} 'z' \\n",
    "=1+1",
)


@dataclasses.dataclass
class Annotation:
    category: int
    score: float
    kind: str
    mask: np.ndarray  # bool [height, width]


@dataclasses.dataclass
class Picture:
    name: str
    annotations: list
    rgb: np.ndarray  # u8 [height, width, 3]

    @property
    def size(self):
        """(height, width)"""
        return self.rgb.shape[:2]


def drawn(text):
    """A mask out of rows of # and ., with / between them."""
    return np.array([[c == "#" for c in row] for row in text.split("/")])


DRAWINGS = {
    "one_pixel_picture": ["#"],
    "one_pixel": ["...../...../..#../.....", "#..../...../...../.....", "...../...../...../....#", "....#/...../...../....."],
    "one_row": ["######", "..##..", "#.#.##", "#....."],
    "one_column": ["#/#/#/#", "./#/#/.", "#/./#/#", "./././#"],
    "row_in_picture": ["..../####/....", "..../.##./....", "####/..../....", "..../..../####"],
    "column_in_picture": [".#./.#./.#./.#.", "#../#../#../...", ".../.../..#/..#"],
    "everything": ["####/####/####"],
    "border": ["####/#..#/#..#/####", "##../#.../..../....", "..../..../...#/..##", "#..#/..../..../#..#"],
    "parts": ["##..##/##..##/....../##..##/##..##", "#.#.#./....../#.#.#./....../.#.#.#", "##..../....../....../....../....##"],
    "diagonal": ["#.../.#../..#./...#", "...#/..#./.#../#...", "#.#./.#.#/#.#./.#.#", ".#.#/#.#./.#.#/#.#."],
    "ring": ["#####/#...#/#...#/#####", "...../.###./.#.#./.###."],
    "island": ["#######/#.....#/#.###.#/#.#.#.#/#.###.#/#.....#/#######", "#######/##...##/#.#.#.#/#..#..#/#.#.#.#/##...##/#######"],
    "pinched": [".###/#.##/####/####", "####/##.#/#.##/####", "####/#.##/##.#/####", "###./##.#/####/####"],
    "two_holes": ["#######/#.#.#.#/#######/.......", "#######/#.#.#.#/#######/##.####"],
    "chain_of_holes": ["######/#.####/##.###/###.##/####.#/######", "######/####.#/###.##/##.###/#.####/######"],
    "bay": ["#####/#..../#.##./#..../#####", "#####/....#/###.#/#...#/#####"],
    "empty": ["..../....", "#..#/....", "..../...."],
    "nothing_found": [],
}


def has_hole(mask):
    return bool((with_filled_holes(mask) & ~mask).any())


def with_filled_holes(mask):
    """Holes are background that no way by sides or corners leads out of."""
    width = mask.shape[1] + 4
    # A free frame to walk along, and one round it that is not free, so that no step leaves the array.
    free = np.pad(np.pad(~mask, 1, constant_values=True), 1, constant_values=False).ravel()
    inside = np.ones(free.size, bool)
    steps = np.array([dy * width + dx for dy in (-1, 0, 1) for dx in (-1, 0, 1)])
    front = np.array([width + 1])
    while front.size:
        inside[front] = False
        front = np.unique((front[:, None] + steps).ravel())
        front = front[free[front] & inside[front]]
    return inside.reshape(-1, width)[2:-2, 2:-2]


def fill(rings, size):
    """Even-odd at the centres of pixels. The corners lie on corners of pixels; the lines between them may run anywhere."""
    height, width = size
    crossings = np.zeros((height, width + 1), int)
    a = np.concatenate(rings).astype(float)
    b = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings]).astype(float)
    # From the top down, so that lines there and back give the same numbers.
    down = (a[:, 1] <= b[:, 1])[:, None]
    top, bottom = np.where(down, a, b), np.where(down, b, a)
    rows_of = (bottom[:, 1] - top[:, 1]).astype(int)
    x0, y0 = np.repeat(top, rows_of, axis=0).T
    x1, y1 = np.repeat(bottom, rows_of, axis=0).T
    rows = y0.astype(int) + np.arange(rows_of.sum()) - np.repeat(np.cumsum(rows_of) - rows_of, rows_of)
    x = x0 + (rows + 0.5 - y0) / (y1 - y0) * (x1 - x0)
    np.add.at(crossings, (rows, np.clip(np.ceil(x - 0.5), 0, width).astype(int)), 1)
    return np.cumsum(crossings, axis=1)[:, :width] % 2 == 1


def picture(name, masks, random, size=None):
    size = masks[0].shape if masks else size
    assert all(mask.shape == size for mask in masks), name
    annotations = [
        Annotation(
            category=i % len(CATEGORIES),
            score=round(float(random.uniform(0.05, 1)), 6),
            kind="object" if i % 3 == 2 else "concept",
            mask=mask,
        )
        for i, mask in enumerate(masks)
    ]
    return Picture(name, annotations, random.integers(0, 256, (*size, 3), dtype=np.uint8))


def blob(random, height, width, scale, share):
    """A smooth random mask: noise in few cells, drawn out, the highest part of it."""
    cells = random.standard_normal((height // scale + 3, width // scale + 3))
    y = np.linspace(0, cells.shape[0] - 2, height)
    x = np.linspace(0, cells.shape[1] - 2, width)
    y0, x0 = y.astype(int), x.astype(int)
    fy, fx = (y - y0)[:, None], (x - x0)[None]
    rows = cells[y0] * (1 - fy) + cells[y0 + 1] * fy
    values = rows[:, x0] * (1 - fx) + rows[:, x0 + 1] * fx
    return values > np.quantile(values, 1 - share)


def pictures():
    random = np.random.default_rng(20)
    for name, drawings in DRAWINGS.items():
        yield picture(name, [drawn(text) for text in drawings], random, size=(3, 5))
    for i in range(40):
        height, width = random.integers(1, 14, 2)
        masks = [random.random((height, width)) < density for density in (0.1, 0.3, 0.5, 0.7, 0.9)]
        yield picture(f"random_{i}", masks, random)
    for i, scale in enumerate((3, 6, 12, 25, 50)):
        masks = [blob(random, 150, 211, scale, share) for share in (0.02, 0.1, 0.3, 0.6, 0.95)]
        yield picture(f"blobs_{i}", masks, random)
    yield picture("many", [blob(random, 60, 61, 8, 0.1) for _ in range(260)], random)
    yield picture("wide", [blob(random, 7, 5000, 9, 0.4)], random)
    yield picture("large", [blob(random, 1500, 2000, 160, 0.2), blob(random, 1500, 2000, 20, 0.3)], random)
