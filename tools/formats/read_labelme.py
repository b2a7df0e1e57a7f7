"""labelme: its own reader and its own drawing of shapes (6.3.1). Its window is not needed, so the modules of Qt and ONNX
Runtime that it imports on the way are replaced by empty ones."""

import json
import sys
from unittest import mock

import numpy as np
from masks import CATEGORIES

for module in ("onnxruntime", "imgviz", "imgviz.io", "PyQt5", "PyQt5.QtCore", "PyQt5.QtGui", "PyQt5.QtWidgets"):
    sys.modules.setdefault(module, mock.MagicMock())

import labelme  # noqa: E402
from labelme.utils import shape_to_mask, shapes_to_label  # noqa: E402
from loguru import logger  # noqa: E402

logger.remove()


def drawn(shapes, size):
    """All shapes in one mask, as labelme draws each."""
    mask = np.zeros(size, bool)
    for shape in shapes:
        if shape["shape_type"] == "mask":
            (x1, y1), (x2, y2) = np.asarray(shape["points"]).astype(int)
            mask[y1 : y2 + 1, x1 : x2 + 1] |= shape["mask"]
        else:
            mask |= shape_to_mask(size, shape["points"], shape["shape_type"])
    return mask


def instances(shapes):
    """Shapes of one instance together: a group, or a shape that is in none. Those of an instance follow each other."""
    found = []
    for shape in shapes:
        group = shape["group_id"]
        if group is not None and found and found[-1][-1]["group_id"] == group:
            found[-1].append(shape)
        else:
            found.append([shape])
    return found


def check(folder, picture, kind):
    file = labelme.LabelFile(str(folder / f"{picture.name}{kind}.json"))  # reads the picture too, and its size
    assert file.image_path == f"{picture.name}.png"
    wanted = [a for a in picture.annotations if a.mask.any()]
    for shapes, annotation in zip(instances(file.shapes), wanted, strict=True):
        for shape in shapes:
            assert shape["label"] == CATEGORIES[annotation.category]
            assert json.loads(shape["description"]) == {"score": annotation.score, "text": shape["label"]}
            points = np.asarray(shape["points"])
            assert (points >= 0).all() and (points <= picture.size[::-1]).all()
            if shape["shape_type"] == "polygon":
                assert len(points) >= 3
                assert len({tuple(p) for p in points.tolist()}) >= 3, "an outline of two points"
            else:
                (x1, y1), (x2, y2) = points
                assert shape["mask"].shape == (y2 - y1 + 1, x2 - x1 + 1)
        if kind != ".rough":
            made = drawn(shapes, picture.size)
            assert (made == annotation.mask).all(), f"{np.count_nonzero(made != annotation.mask)} pixels differ"
    if kind == ".masks":
        assert all(shape["shape_type"] == "mask" for shape in file.shapes)
    names = {name: i + 1 for i, name in enumerate(CATEGORIES)}
    classes, _ = shapes_to_label((*picture.size, 3), file.shapes, names)
    if kind != ".rough":
        covered = np.any([a.mask for a in wanted], axis=0) if wanted else np.zeros(picture.size, bool)
        assert ((classes > 0) == covered).all()


def checks(folder, pictures):
    for picture in pictures:
        for kind in ("", ".masks", ".rough"):
            yield f"{picture.name}{kind}", lambda p=picture, k=kind: check(folder, p, k)
