"""Runs the graphs of a model folder with ONNX Runtime, and gives what they give under one set of names.

An engine has image(), language(), concept() and point(), all with a batch axis, as models/sam3/contract.h names things.
concept() gives kept instances (scores, boxes, mask_logits, prompt_index) and presence.
"""
import glob, os, subprocess, sys
import numpy as np

CAREFUL = []                                                 # a folder with another onnxruntime: try each graph in a child first


def survives(path):
    """Old releases have been seen to abort on graphs, which no exception tells."""
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import onnxruntime as o; s = o.SessionOptions(); s.log_severity_level = 3; "
            "o.InferenceSession(sys.argv[2], s, providers=['CPUExecutionProvider'])")
    run = subprocess.run([sys.executable, "-c", code, CAREFUL[0], path], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"loading {os.path.basename(path)} ends with {run.returncode}: {run.stderr.strip()[-300:]}")


class Graph:
    def __init__(self, path):
        import onnxruntime as ort
        if CAREFUL:
            survives(path)
        options = ort.SessionOptions()
        options.log_severity_level = 3
        self.path = path
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs = {x.name: x for x in self.session.get_inputs()}
        self.outputs = [x.name for x in self.session.get_outputs()]

    def __call__(self, feeds):
        feeds = {n: np.ascontiguousarray(v) for n, v in feeds.items() if n in self.inputs}
        return dict(zip(self.outputs, self.session.run(None, feeds)))


class Folder:
    """Sessions on demand; forget() frees one (full-size models do not fit all at once)."""

    def __init__(self, folder):
        self.folder, self.graphs = folder, {}

    def path(self, stem):
        found = sorted(glob.glob(os.path.join(self.folder, f"sam3_{stem}.onnx")))
        if len(found) != 1:
            raise FileNotFoundError(f"{self.folder} has {len(found)} files sam3_{stem}.onnx")
        return found[0]

    def has(self, stem):
        return bool(glob.glob(os.path.join(self.folder, f"sam3_{stem}.onnx")))

    def graph(self, stem):
        if stem not in self.graphs:
            self.graphs[stem] = Graph(self.path(stem))
        return self.graphs[stem]

    def forget(self, stem):
        self.graphs.pop(stem, None)


def select(scores, boxes, mask_logits, presence, threshold):
    """What the dynamic decoder does inside: strictly above, in prompt, then query order."""
    prompt, query = np.nonzero(scores > threshold)
    return {"boxes": boxes[prompt, query], "scores": scores[prompt, query], "mask_logits": mask_logits[prompt, query],
            "prompt_index": prompt.astype(np.int64), "presence": presence}


class V1(Folder):
    """Our own folders, both decoder forms."""

    def image(self, image):
        return self.graph("image_encoder")({"image": image})

    def language(self, tokens, stem="language_encoder"):
        d = self.graph(stem)({"tokens": tokens})
        return d["language_features"], d["language_mask"]

    @property
    def dynamic(self):
        return "score_threshold" in self.graph("decoder").inputs

    def concept(self, features, inputs, threshold):
        d = self.graph("decoder")({**features, **inputs, "score_threshold": np.float32(threshold)})
        if self.dynamic:
            return d
        return select(d["scores"], d["boxes"], d["mask_logits"], d["presence"], np.float32(threshold))

    def point(self, features, inputs):
        return self.graph("point_decoder")({**features, **inputs})


class V030(Folder):
    """sam3-onnx v0.3.0: one prompt a call, one box slot, the threshold 0.5 inside, mask probabilities."""

    def image(self, image):
        return self.graph("image_encoder")({"image": image})

    def language(self, tokens):
        d = self.graph("language_encoder")({"tokens": tokens})
        return d["text_memory"].transpose(1, 0, 2), d["text_attention_mask"]

    def concept(self, features, inputs, threshold=0.5):
        assert threshold == 0.5 and inputs["box_coords"].shape[:2] == (1, 1)
        d = self.graph("decoder")({**features, "language_mask": inputs["language_mask"],
                                   "language_features": inputs["language_features"].transpose(1, 0, 2),
                                   "box_coords": inputs["box_coords"].transpose(1, 0, 2), "box_labels": inputs["box_labels"].T,
                                   "box_masks": inputs["box_masks"]})
        p = np.clip(d["masks"][:, 0].astype(np.float64), 1e-30, 1 - 1e-16)
        return {"boxes": d["boxes"], "scores": d["scores"], "mask_logits": np.log(p / (1 - p)).astype(np.float32),
                "mask_probabilities": d["masks"][:, 0]}
