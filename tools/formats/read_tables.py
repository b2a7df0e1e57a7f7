"""CSV by Python's csv module, .npy by NumPy (both ways)."""

import csv

import numpy as np
from masks import CATEGORIES


def check_csv(folder, picture):
    path = folder / f"{picture.name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    height, width = picture.size
    wanted = [(i + 1, a) for i, a in enumerate(picture.annotations) if a.mask.any()]
    for row, (number, annotation) in zip(rows, wanted, strict=True):
        assert row["label"] == CATEGORIES[annotation.category]
        assert row["image"] == f"{picture.name}.png" and row["kind"] == annotation.kind
        assert float(row["score"]) == annotation.score
        ys, xs = np.nonzero(annotation.mask)
        found = {name: int(row[name]) for name in ("width", "height", "instance", "category", "area", "mask_x", "mask_y",
                                                   "mask_width", "mask_height")}
        assert found == {
            "width": width, "height": height, "instance": number, "category": annotation.category, "area": len(xs),
            "mask_x": xs.min(), "mask_y": ys.min(),
            "mask_width": xs.max() - xs.min() + 1, "mask_height": ys.max() - ys.min() + 1,
        }
        box = [float(row[f"box_{corner}"]) for corner in ("x1", "y1", "x2", "y2")]
        assert np.allclose(box, (0.25, 0.5, width / 3, height), atol=5e-5)
    if all("\n" not in CATEGORIES[a.category] for _, a in wanted):
        assert path.read_bytes().count(b"\r\n") == len(wanted) + 1


def check_npy(folder, picture):
    for i, annotation in enumerate(picture.annotations):
        path = folder / f"{picture.name}.{i + 1}.npy"
        made = np.load(path, allow_pickle=False)
        assert made.dtype == np.float32 and made.shape == picture.size and made.flags.c_contiguous
        assert ((made > 0) == annotation.mask).all()
        ours = path.read_bytes()
        with (folder / "again.npy").open("wb") as file:
            np.lib.format.write_array(file, made, version=(1, 0))
        assert (folder / "again.npy").read_bytes() == ours, "NumPy writes other bytes"


def arrays():
    """What NumPy may write: every type, order of axes and of bytes, version."""
    random = np.random.default_rng(4)
    values = random.uniform(-40, 40, (5, 7))
    for dtype in ("<f2", ">f2", "<f4", ">f4", "<f8", ">f8"):
        yield values.astype(dtype)
    yield values > 0
    yield (values > 0).astype(np.uint8) * 255
    yield np.asfortranarray(values.astype(np.float32))
    yield values.astype(np.float32)[None]
    yield np.asfortranarray(values.astype(np.float64)[None])
    yield np.array([[0, -0.0, 5.96e-8, 6.1e-5, 65504, -65504]], np.float16)


def write_arrays(folder):
    for i, array in enumerate(arrays()):
        version = ((1, 0), (2, 0), (3, 0))[i % 3]
        with (folder / f"{i + 1}.given.npy").open("wb") as file:
            np.lib.format.write_array(file, array, version=version)


def check_taken(folder, number, array):
    made = np.load(folder / f"{number}.taken.npy", allow_pickle=False)
    assert (made == array.reshape(array.shape[-2:]).astype(np.float32)).all()


def checks(folder, pictures):
    for check in (check_csv, check_npy):
        for picture in pictures:
            yield f"{check.__name__} {picture.name}", lambda c=check, p=picture: c(folder, p)
    for i, array in enumerate(arrays()):
        yield f"array {i + 1}", lambda n=i + 1, a=array: check_taken(folder, n, a)
