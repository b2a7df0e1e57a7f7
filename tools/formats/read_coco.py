"""COCO: pycocotools. Run lengths byte for byte, polygons drawn by its own code, ids, boxes, areas."""

import contextlib
import io
import json

import numpy as np
from masks import CATEGORIES, has_hole
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO


def load(folder, name):
    json.loads((folder / name).read_text(encoding="utf-8"))
    with contextlib.redirect_stdout(io.StringIO()):
        return COCO(str(folder / name))


def expected(pictures):
    """(picture, annotation) in the order of their ids."""
    return [(p, a) for p in pictures for a in p.annotations if a.mask.any()]


def check_members(coco, pictures, wanted):
    assert [c["name"] for c in coco.dataset["categories"]] == list(CATEGORIES)
    assert [c["id"] for c in coco.dataset["categories"]] == list(range(1, len(CATEGORIES) + 1))
    images = coco.dataset["images"]
    assert [i["id"] for i in images] == list(range(1, len(pictures) + 1))
    assert [(i["file_name"], i["height"], i["width"]) for i in images] == [(f"{p.name}.png", *p.size) for p in pictures]
    annotations = coco.dataset["annotations"]
    assert [a["id"] for a in annotations] == list(range(1, len(wanted) + 1))
    assert all(a["iscrowd"] == 0 for a in annotations)
    for made, (picture, annotation) in zip(annotations, wanted, strict=True):
        assert images[made["image_id"] - 1]["file_name"] == f"{picture.name}.png"
        assert made["category_id"] == annotation.category + 1
        assert made["score"] == annotation.score
        encoded = coco_mask.encode(np.asfortranarray(annotation.mask.astype(np.uint8)))
        assert made["area"] == coco_mask.area(encoded)
        assert made["bbox"] == coco_mask.toBbox(encoded).tolist(), (picture.name, made["bbox"])


def checks(folder, pictures):
    wanted = expected(pictures)
    exact, polygons, rough = (load(folder, f"coco{kind}.json") for kind in ("", "_polygons", "_rough"))
    for coco in (exact, polygons, rough):
        yield "members", lambda coco=coco: check_members(coco, pictures, wanted)

    def run_lengths(made, annotation):
        encoded = coco_mask.encode(np.asfortranarray(annotation.mask.astype(np.uint8)))
        assert made["segmentation"]["counts"] == encoded["counts"].decode()
        assert made["segmentation"]["size"] == encoded["size"]
        assert (exact.annToMask(made) == annotation.mask).all()

    def outline(made, annotation):
        is_polygon = isinstance(made["segmentation"], list)
        assert is_polygon == (not has_hole(annotation.mask))
        drawn = polygons.annToMask(made).astype(bool)
        assert (drawn == annotation.mask).all(), f"{np.count_nonzero(drawn != annotation.mask)} pixels differ"

    def near(made, annotation):
        drawn = rough.annToMask(made).astype(bool)
        shared = np.count_nonzero(drawn & annotation.mask) / np.count_nonzero(drawn | annotation.mask)
        # A tolerance of two pixels swallows what is not much larger; it is a matter of large shapes.
        assert annotation.mask.size < 20000 or shared > 0.5, f"IoU {shared}"

    for check, coco in ((run_lengths, exact), (outline, polygons), (near, rough)):
        for made, (picture, annotation) in zip(coco.dataset["annotations"], wanted, strict=True):
            yield f"{check.__name__} {picture.name} {made['id']}", lambda c=check, m=made, a=annotation: c(m, a)
    yield "polygons occur", lambda: check_kinds(polygons)


def check_kinds(polygons):
    lists = [isinstance(a["segmentation"], list) for a in polygons.dataset["annotations"]]
    assert 20 < sum(lists) < len(lists) - 20
