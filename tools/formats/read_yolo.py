"""YOLO: a reader written after the format's description (ultralytics itself would bring PyTorch along): a line is a class
and pairs of fractions; the polygon is filled by the even-odd rule at the centres of pixels."""

import re

import numpy as np
import yaml
from masks import CATEGORIES, fill, with_filled_holes


def lines(path):
    for line in path.read_text(encoding="ascii").splitlines():
        words = line.split(" ")
        numbers = np.array([float(word) for word in words[1:]])
        assert all(re.fullmatch(r"\d\.\d{6,}", word) for word in words[1:])
        assert (numbers >= 0).all() and (numbers <= 1).all()
        yield int(words[0]), numbers


def rings_of(path, picture):
    """(class, ring) of each line; the fractions must be within a hundredth of a pixel of whole pixels."""
    for category, numbers in lines(path):
        assert numbers.size >= 6 and numbers.size % 2 == 0
        corners = numbers.reshape(-1, 2) * picture.size[::-1]
        assert np.abs(corners - np.round(corners)).max() < 0.01
        yield category, np.round(corners)


def check_segments(folder, picture):
    wanted = [(i + 1, a) for i, a in enumerate(picture.annotations) if a.mask.any()]
    warnings = (folder / f"{picture.name}.segments.txt.warnings").read_text(encoding="utf-8")
    made = list(rings_of(folder / f"{picture.name}.segments.txt", picture))
    for (category, ring), (number, annotation) in zip(made, wanted, strict=True):
        assert category == annotation.category
        mask = fill([ring], picture.size)
        filled = with_filled_holes(annotation.mask)
        assert (mask == filled).all(), f"{np.count_nonzero(mask != filled)} pixels differ"
        lost = np.count_nonzero(mask) - np.count_nonzero(annotation.mask)
        said = re.search(rf"instance {number} \(.*\) has holes.* (\d+) pixels more than its (\d+)", warnings)
        assert (said is None) == (lost == 0)
        assert said is None or (int(said[1]), int(said[2])) == (lost, np.count_nonzero(annotation.mask))


def check_separate(folder, picture):
    separate, joined = (list(rings_of(folder / f"{picture.name}.{kind}.txt", picture)) for kind in ("separate", "segments"))
    assert len(separate) >= len(joined)
    for category in {c for c, _ in separate + joined}:
        one, other = ([ring for c, ring in found if c == category] for found in (separate, joined))
        assert (fill(one, picture.size) == fill(other, picture.size)).all()


def check_boxes(folder, picture):
    wanted = [a for a in picture.annotations if a.mask.any()]
    height, width = picture.size
    for (category, numbers), annotation in zip(lines(folder / f"{picture.name}.boxes.txt"), wanted, strict=True):
        assert category == annotation.category
        x, y, w, h = numbers * (width, height, width, height)
        rows, columns = np.nonzero(annotation.mask)
        box = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        assert np.abs(np.subtract((x - w / 2, y - h / 2, x + w / 2, y + h / 2), box)).max() < 0.01


def check_data(folder):
    data = yaml.safe_load((folder / "data.yaml").read_text(encoding="utf-8"))
    assert data == {"path": ".", "train": "images", "val": "images", "nc": len(CATEGORIES), "names": dict(enumerate(CATEGORIES))}


def checks(folder, pictures):
    for check in (check_segments, check_separate, check_boxes):
        for picture in pictures:
            yield f"{check.__name__} {picture.name}", lambda c=check, p=picture: c(folder, p)
    yield "data.yaml", lambda: check_data(folder)
