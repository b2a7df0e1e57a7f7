"""Masks, label maps and cut-outs: Pillow."""

import numpy as np
from PIL import Image


def opened(path, mode):
    with Image.open(path) as image:
        assert image.format == "PNG" and image.mode == mode, (image.format, image.mode)
        return np.asarray(image)


def check_masks(folder, picture):
    for i, annotation in enumerate(picture.annotations):
        made = opened(folder / f"{picture.name}.{i + 1}.mask.png", "L")
        assert (made == annotation.mask * 255).all()


def check_labels(folder, picture):
    made = opened(folder / f"{picture.name}.labels.png", "L" if len(picture.annotations) < 256 else "I;16")
    wanted = np.zeros(picture.size, int)
    best = np.full(picture.size, -1.0)
    for i, annotation in enumerate(picture.annotations):
        here = annotation.mask & (annotation.score > best)
        wanted[here], best[here] = i + 1, annotation.score
    assert (made == wanted).all()
    hidden = sum(np.count_nonzero(a.mask) for a in picture.annotations) - np.count_nonzero(wanted)
    assert int((folder / f"{picture.name}.labels.hidden").read_text()) == hidden


def check_cutouts(folder, picture):
    for i, annotation in enumerate(picture.annotations):
        tight, whole = (folder / f"{picture.name}.{i + 1}.{kind}.png" for kind in ("tight", "whole"))
        if not annotation.mask.any():
            assert not tight.exists() and not whole.exists()
            continue
        for path in (tight, whole):
            rgba = opened(path, "RGBA")
            x, y = map(int, path.with_suffix(".at").read_text().split())
            back = np.zeros((*picture.size, 4), np.uint8)
            back[y : y + rgba.shape[0], x : x + rgba.shape[1]] = rgba
            assert (back[..., 3] == annotation.mask * 255).all()
            assert (back[..., :3] == picture.rgb * annotation.mask[..., None]).all()
            if path == tight:
                set_rows, set_columns = rgba[..., 3].any(axis=1), rgba[..., 3].any(axis=0)
                assert set_rows[0] and set_rows[-1] and set_columns[0] and set_columns[-1]
            # Pasted by Pillow onto the picture it is the picture.
            pasted = Image.fromarray(picture.rgb)
            pasted.paste(Image.fromarray(rgba), (x, y), Image.fromarray(rgba))
            assert (np.asarray(pasted) == picture.rgb).all()


def checks(folder, pictures):
    for check in (check_masks, check_labels, check_cutouts):
        for picture in pictures:
            yield f"{check.__name__} {picture.name}", lambda c=check, p=picture: c(folder, p)
