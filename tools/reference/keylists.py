"""Key lists of the published checkpoints: load("official") -> {key: shape}.

The files in keys/ hold them folded: "blocks.{32}.norm1.weight" stands for blocks.0 to blocks.31.

  official           sam3.pt                                transformers        Sam3VideoModel safetensors
  litetext_{s0,s1,l} text tensors without their prefix      sam31_video_only    what sam3.1_multiplex.pt has besides images
"""
import json, os, re


def load(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keys", name + ".json")
    out = {}
    for key, shape in json.load(open(path)).items():
        m = re.search(r"\{(\d+)\}", key)
        for k in [key] if m is None else [key[:m.start()] + str(i) + key[m.end():] for i in range(int(m[1]))]:
            out[k] = shape
    return out
