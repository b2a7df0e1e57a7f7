#!/usr/bin/env python3
"""Writes models/sam3/arch/testdata/names.tsv: what the other layouts call the tensors of sam3.pt.

Needs the packages of tools/reference/requirements.txt. Run from the repository root:
  python tools/checkpoint/make_names.py

One line a tensor that samlet uses, fields divided by tabs: Meta's name; how it is made of transformers' tensors (copy,
qkv3: three under each other, row N, either); their names divided by blanks; the name in SAM 3.1. Layer 1 stands
for all.
"""

import pathlib
import re
import sys

TOOLS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOOLS / "reference"))
import keylists  # noqa: E402
import make_sam31  # noqa: E402
import sam3_keymap  # noqa: E402

UNUSED = re.compile(r"freqs_cis$|convs\.3\.|text_projection$|points_|pixel_decoder\.(conv_layers|norms)\.2\.|semantic_seg_head|"
                    r"^tracker\.(?!sam_|no_mem_embed$)")
LAYER = re.compile(r"(?:blocks|resblocks|encode|layers)\.(\d+)\.(?!weight$|bias$)")


def line(key):
    op, theirs, row = sam3_keymap.map_key(key)
    how = {"copy": "copy", "dropcls": "copy", "qkv3": "qkv3", "row": f"row {row}", "dup": "either"}[op]
    return "\t".join([key, how, " ".join(theirs), make_sam31.rename(key)])


def main():
    keys = [k for k in keylists.load("official") if not UNUSED.search(k)]
    kept = [k for k in keys if all(int(n) == 1 for n in LAYER.findall(k))]
    out = TOOLS.parent / "models/sam3/arch/testdata/names.tsv"
    out.parent.mkdir(exist_ok=True)
    out.write_text("\n".join(map(line, kept)) + "\n")
    print(len(keys), "tensors are used,", len(kept), "are written")


if __name__ == "__main__":
    main()
