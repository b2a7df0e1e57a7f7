"""Photographs and drawings that Python packages carry, as they are and saved in other containers."""

import pathlib
import sysconfig

from PIL import Image

from common import Case, same_as_pillow, saved

# Every picture of scikit-learn, scikit-image and matplotlib's samples; a missing one is an error.
FILES = {
    "sklearn/datasets/images": ("china.jpg", "flower.jpg"),
    "matplotlib/mpl-data/sample_data": ("grace_hopper.jpg", "logo2.png", "Minduka_Present_Blue_Pack.png"),
    "skimage/data": (
        "astronaut.png", "brick.png", "camera.png", "cell.png", "chelsea.png", "chessboard_GRAY.png",
        "chessboard_RGB.png", "clock_motion.png", "coffee.png", "coins.png", "color.png", "gravel.png", "grass.png",
        "horse.png", "hubble_deep_field.jpg", "ihc.png", "logo.png", "microaneurysms.png", "moon.png",
        "motorcycle_left.png", "motorcycle_right.png", "multipage.tif", "multipage_rgb.tif",
        "no_time_for_that_tiny.gif", "page.png", "phantom.png", "retina.jpg", "rocket.jpg", "text.png"),
}
# 64-bit floating point samples, which Pillow does not read either.
REFUSED = {"multipage_rgb.tif": "64"}
# These are also saved in every container that Pillow writes; GIF and CMYK by conversion.
SAVED_AGAIN = ("china.jpg", "flower.jpg", "grace_hopper.jpg", "astronaut.png", "camera.png", "coffee.png",
               "hubble_deep_field.jpg", "retina.jpg", "rocket.jpg")
WAYS = {
    "jpeg_444": ("JPEG", {"quality": 92, "subsampling": 0}), "jpeg_420": ("JPEG", {"quality": 75}),
    "jpeg_progressive": ("JPEG", {"quality": 80, "progressive": True}), "png": ("PNG", {}),
    "webp": ("WEBP", {"quality": 80}), "webp_lossless": ("WEBP", {"lossless": True, "quality": 20, "method": 1}),
    "tiff": ("TIFF", {}), "tiff_lzw": ("TIFF", {"compression": "tiff_lzw"}),
    "tiff_deflate": ("TIFF", {"compression": "tiff_adobe_deflate"}), "tiff_jpeg": ("TIFF", {"compression": "jpeg"}),
    "bmp": ("BMP", {}), "ppm": ("PPM", {}),
}


def packages():
    return pathlib.Path(sysconfig.get_path("purelib"))


def saved_again(name, picture):
    stem = name.rsplit(".", 1)[0]
    for way, (container, options) in WAYS.items():
        yield same_as_pillow(f"{stem}_{way}", saved(picture, container, **options))
    yield same_as_pillow(f"{stem}_gif", saved(picture.quantize(200), "GIF"))
    yield same_as_pillow(f"{stem}_cmyk", saved(picture.convert("CMYK"), "JPEG", quality=85))


def cases():
    for folder, names in FILES.items():
        for name in names:
            data = (packages() / folder / name).read_bytes()
            if name in REFUSED:
                yield Case(name, data, refused=REFUSED[name])
                continue
            yield same_as_pillow(name, data)
            if name in SAVED_AGAIN:
                with Image.open(packages() / folder / name) as picture:
                    yield from saved_again(name, picture.convert("RGB"))
