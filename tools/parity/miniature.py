"""The bundled miniature: exported, then asked every prompt of its samples, against Meta's recorded answers. No torch."""
import glob, json, os
import numpy as np
import PIL.Image, PIL.ImageOps
import engines, measure

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "..", "examples", "miniature")
ROUNDED = 1e-6                                               # how exactly the JSON gives scores


def checkpoint():
    found = sorted(glob.glob(f"{FOLDER}/*.safetensors") + glob.glob(f"{FOLDER}/*.pt") +
                   glob.glob(f"{FOLDER}/checkpoint/*.safetensors") + glob.glob(f"{FOLDER}/checkpoint/*.pt"))
    if not found:
        raise FileNotFoundError("examples/miniature has no checkpoint (*.pt or *.safetensors)")
    return found


def decode_rle(rle):
    """COCO run lengths -> bool [height, width]."""
    height, width = rle["size"]
    runs, counts, i = [], rle["counts"].encode(), 0
    while i < len(counts):
        x = shift = 0
        while True:
            c = counts[i] - 48
            i += 1
            x |= (c & 31) << shift
            shift += 5
            if not c & 32:
                if c & 16:
                    x -= 1 << shift
                break
        runs.append(x + (runs[-2] if len(runs) > 2 else 0))
    flat = np.repeat(np.arange(len(runs)) % 2 == 1, runs)
    return flat.reshape(width, height).T


def picture(name, side):
    image = PIL.ImageOps.exif_transpose(PIL.Image.open(os.path.join(FOLDER, "samples", name))).convert("RGB")
    return np.asarray(image.resize((side, side), PIL.Image.Resampling.BILINEAR)).transpose(2, 0, 1).copy(), image.size


def boxes_of(p, width, height):
    b = np.array(p["boxes"], np.float64).reshape(-1, 4)
    n = max(1, len(b))
    coords = np.zeros((1, n, 4), np.float32)
    coords[0, :len(b)] = np.stack([(b[:, 0] + b[:, 2]) / 2 / width, (b[:, 1] + b[:, 3]) / 2 / height, (b[:, 2] - b[:, 0]) / width,
                                   (b[:, 3] - b[:, 1]) / height], -1)
    labels = np.zeros((1, n), np.int64)
    labels[0, :len(b)] = p["box_labels"]
    return {"box_coords": coords, "box_labels": labels, "box_masks": (np.arange(n) >= len(b))[None]}


class Miniature:
    def __init__(self, table, engine, label, limits=None):
        self.table, self.engine, self.label, self.limits = table, engine, label, limits or {}

    def see(self, graph, prompt, kind, error):
        if kind in self.limits and self.limits[kind] is None:
            self.table.report(graph, self.label, prompt, kind, error)
        else:
            self.table.see(graph, self.label, prompt, kind, error, self.limits.get(kind))

    def tokens(self, p):
        return np.array([p["token_ids"] + [0] * (32 - len(p["token_ids"]))], np.int64)

    def concept(self, features, p, width, height, every):
        """every: the engine gives all queries. Without it only what is kept can be compared."""
        lf, lm = self.engine.language(self.tokens(p))
        inputs = {"language_features": lf, "language_mask": lm, **boxes_of(p, width, height)}
        got = self.engine.concept(features, inputs, -1.0 if every else 0.5)
        prompt = "phrase" if not p["boxes"] else "exemplar boxes" if p["text"] == "visual" else "phrase and boxes"
        want = p["detections"]
        scores = got["scores"]
        if every:
            self.see("decoder", prompt, "score", max(0.0, measure.absolute(scores, np.array(p["all_scores"])) - ROUNDED))
            self.see("decoder", prompt, "score", abs(float(got["presence"][0]) - p["presence"]) - ROUNDED)
            limit = self.limits.get("score", measure.BOUNDS["score"][0])
            same = np.array_equal(scores > 0.5, np.array(p["all_scores"]) > 0.5)
            self.table.fact("decoder", self.label, prompt, same or p["nearest_to_threshold"] <= limit, f"others are kept: {p['id']}")
            order = np.array([d["query"] for d in want], np.int64)
        else:
            order = np.argsort(-scores, kind="stable")
            if len(order) != len(want):
                self.table.fact("decoder", self.label, prompt, False, f"{len(order)} kept, not {len(want)}: {p['id']}")
                return
        if not want:
            return
        self.see("decoder", prompt, "score", measure.absolute(scores[order], np.array([d["score"] for d in want])) - ROUNDED)
        size = np.array([width, height, width, height])
        self.see("decoder", prompt, "box", np.abs((got["boxes"][order] * size - np.array([d["box"] for d in want])) / size).max())
        for i, d in zip(order, want):
            mask = measure.upsample(got["mask_logits"][i:i + 1], height, width) > 0
            self.see("decoder", prompt, "iou", 1 - measure.mask_iou(mask, decode_rle(d["mask"])[None]))

    def click(self, features, p, width, height, previous):
        side, s = features["point_fpn_0"].shape[-1], self.side
        points = [[p["box"][0], p["box"][1]], [p["box"][2], p["box"][3]]] if p["box"] else []
        labels = ([2, 3] if p["box"] else []) + p["labels"]
        points = np.array(points + p["points"], np.float64) * [s / width, s / height]
        mask = previous[p["mask_from"]] if p["mask_from"] else None
        got = self.engine.point(features, {
            "point_coords": points[None].astype(np.float32), "point_labels": np.array([labels], np.int64),
            "mask_input": np.zeros((1, 1, side, side), np.float32) if mask is None else mask.reshape(1, 1, side, side),
            "has_mask": np.array([0.0 if mask is None else 1.0], np.float32)})
        prompt = "previous mask" if p["mask_from"] else "box" if p["box"] else "clicks"
        previous[p["id"]] = np.clip(got["mask_logits"][0, 1 + p["best"]], -32, 32)
        self.see("point decoder", prompt, "score", measure.absolute(got["iou"][0, 1:], np.array([c["iou"] for c in p["multimask"]])) - ROUNDED)
        self.see("point decoder", prompt, "tensor", measure.relative(got["object_score"], np.array([p["object_score_logit"]]), 1.0))
        for i, c in enumerate(p["multimask"]):
            m = measure.upsample(got["mask_logits"][:, 1 + i], height, width) > 0
            self.see("point decoder", prompt, "iou", 1 - measure.mask_iou(m, decode_rle(c["mask"])[None]))

    def sample(self, path, every, clicks):
        d = json.load(open(path, encoding="utf-8"))
        self.side = self.engine.graph("image_encoder").session.get_inputs()[0].shape[1]
        pixels, (width, height) = picture(os.path.basename(d["image"]), self.side)
        assert (width, height) == (d["width"], d["height"])
        features = self.engine.image(pixels)
        previous = {}                                        # low-resolution logits of earlier clicks' best candidates
        for p in d["prompts"]:
            if p["type"] == "concept":
                if every or (len(p["boxes"]) <= 1):
                    self.concept(features, p, width, height, every)
            elif clicks:
                self.click(features, p, width, height, previous)


def compare_folder(table, engine, label, limits=None, every=True, clicks=True):
    m = Miniature(table, engine, label, limits)
    for path in sorted(glob.glob(f"{FOLDER}/expected/shapes_*.json")):
        m.sample(path, every, clicks)


def compare(table, work):
    compare_folder(table, engines.V030(f"{FOLDER}/onnx-v030"), "miniature, PyTorch's exporter", every=False, clicks=False)
    for path in checkpoint():
        folder, _, _ = work.export("miniature", path)
        compare_folder(table, engines.V1(folder), "miniature")
    folder, _, _ = work.export("miniature-fp16", path, "--precision", "fp16")
    compare_folder(table, engines.V1(folder), "miniature, fp16", measure.FP16)
