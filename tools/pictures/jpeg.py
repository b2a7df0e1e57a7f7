"""JPEG: colour spaces, sampling, progressive scans, EXIF."""

from PIL import Image

from common import SIZES, same_as_pillow, saved, scene

MODES = {"grey": "L", "rgb": "RGB", "cmyk": "CMYK"}


def picture(mode, width, height):
    pixels = scene(width, height, {"L": 1, "RGB": 3, "CMYK": 4}[mode])
    return Image.fromarray(pixels[..., 0] if mode == "L" else pixels, mode)


def exif(orientation):
    data = Image.Exif()
    data[274] = orientation
    return data.tobytes()


def cases():
    for width, height in SIZES:
        for name, mode in MODES.items():
            for progressive in (False, True):
                for sampling in (0, 1, 2) if mode == "RGB" else (0,):
                    data = saved(picture(mode, width, height), "JPEG", quality=88, subsampling=sampling,
                                 progressive=progressive)
                    kind = "progressive" if progressive else "baseline"
                    yield same_as_pillow(f"jpeg_{name}_{kind}_{sampling}_{width}x{height}", data)
    for quality in (1, 30, 100):
        yield same_as_pillow(f"jpeg_quality_{quality}", saved(picture("RGB", 90, 61), "JPEG", quality=quality))
    for orientation in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 65535):
        data = saved(picture("RGB", 37, 21), "JPEG", exif=exif(orientation))
        yield same_as_pillow(f"jpeg_exif_{orientation}", data)
