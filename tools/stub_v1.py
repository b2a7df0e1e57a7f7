"""Folders of samlet's contract version 1 for make_stub_model.py: tiny graphs in which every input moves some output.

A picture of 56 x 56 has a grid of 4 x 4 cells, D = 8 and Q = 10 queries. Scores, boxes and masks are sums of what comes in, added up row by
row and without matrix products, so that a prompt gives the same bits alone and among others.
"""
import hashlib
import json

import numpy as np
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

SIDE, PATCH, GRID, MASKS, WIDTH, QUERIES, ROWS = 56, 14, 4, 16, 8, 10, 32
ENCODERS = {"full": ("sam3_language_encoder", 32), "litetext-s0": ("sam3_litetext_s0_language_encoder", 16)}


def pattern(*shape, scale=1.0):
    """Numbers that look like weights and come out the same everywhere."""
    flat = np.arange(1, int(np.prod(shape)) + 1, dtype=np.int64)
    return (((flat * 7919) % 1009).astype(np.float32) / 504.5 - 1).reshape(shape) * np.float32(scale)


def value(name, dtype, shape):
    return h.make_tensor_value_info(name, dtype, shape)


def values(tensors):
    return [value(name, dtype, shape) for name, (dtype, shape) in tensors.items()]


def ints(*numbers):
    return np.array(numbers, np.int64)


class Graph:
    """Nodes and constants under construction; every call gives the name of its result."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def op(self, kind, *inputs, out=None, **attributes):
        names = []
        for item in inputs:
            if not isinstance(item, str):
                self.constants.append(nh.from_array(np.asarray(item), f"c{len(self.constants)}"))
                item = self.constants[-1].name
            names.append(item)
        result = out or f"t{len(self.nodes)}"
        self.nodes.append(h.make_node(kind, names, [result], **attributes))
        return result

    def mean(self, item, *axes):
        return self.op("ReduceMean", item, ints(*axes), keepdims=1)

    def sum(self, item, *axes):
        return self.op("ReduceSum", item, ints(*axes), keepdims=0)

    def shaped(self, item, *shape):
        return self.op("Reshape", item, ints(*shape))

    def add(self, first, *others):
        for other in others:
            first = self.op("Add", first, other)
        return first

    def larger(self, item, factor):
        return self.op("Resize", item, "", np.array([1, 1, factor, factor], np.float32), mode="nearest",
                       coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def weighted(self, rows, weight):
        """[B, D] and a weight [Q, D] to [B, Q], without a matrix product."""
        return self.sum(self.op("Mul", self.op("Unsqueeze", rows, ints(1)), weight), 2)


def image_features(dtype):
    shapes = {"backbone_fpn_2": [1, WIDTH, GRID, GRID], "fusion_embed": [1, GRID * GRID, WIDTH],
              "mask_fpn_0": [1, WIDTH, MASKS, MASKS], "mask_fpn_1": [1, WIDTH, 2 * GRID, 2 * GRID],
              "point_fpn_0": [1, WIDTH // 8, MASKS, MASKS], "point_fpn_1": [1, WIDTH // 4, 2 * GRID, 2 * GRID],
              "point_embed": [1, WIDTH, GRID, GRID]}
    return {name: (dtype, shape) for name, shape in shapes.items()}


def image_encoder(tools, folder, dtype):
    g = Graph()
    weight = pattern(WIDTH, 3, PATCH, PATCH, scale=0.05)
    file = "sam3_image_encoder.onnx.data"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(bytes(64) + weight.tobytes())
    g.constants.append(tools.external("weight", weight, file, 64))
    pixels = g.op("Div", g.op("Cast", "image", to=T.FLOAT), np.float32(255))
    cells = g.op("Conv", g.shaped(pixels, 1, 3, SIDE, SIDE), "weight", kernel_shape=[PATCH, PATCH],
                 strides=[PATCH, PATCH])
    # Attention in its simplest form: every cell sees the mean of all, so every output changes everywhere.
    mixed = g.add(g.op("Tanh", cells), g.mean(cells, 2, 3))
    tokens = g.op("Transpose", g.shaped(mixed, 1, WIDTH, GRID * GRID), perm=[0, 2, 1])
    two = g.op("Slice", mixed, ints(0), ints(WIDTH // 4), ints(1))
    results = {"backbone_fpn_2": mixed, "fusion_embed": g.op("Sin", tokens), "mask_fpn_0": g.larger(mixed, 4),
               "mask_fpn_1": g.op("Cos", g.larger(mixed, 2)), "point_fpn_0": g.larger(g.mean(mixed, 1), 4),
               "point_fpn_1": g.larger(two, 2), "point_embed": g.op("Neg", mixed)}
    for name, result in results.items():
        g.op("Cast", result, out=name, to=dtype)
    tools.save(folder, "sam3_image_encoder", g.nodes, [value("image", T.UINT8, [3, SIDE, SIDE])],
               values(image_features(dtype)), g.constants)


def language_outputs(dtype, rows=ROWS):
    return {"language_features": (dtype, ["B", rows, WIDTH]), "language_mask": (T.BOOL, ["B", rows])}


def language_encoder(tools, folder, name, context, dtype):
    g = Graph()
    numbers = g.op("Unsqueeze", g.op("Div", g.op("Cast", "tokens", to=T.FLOAT), np.float32(3000)), ints(2))
    scale = context / 8  # so that two encoders differ
    features = g.op("Sin", g.add(g.op("Mul", numbers, pattern(WIDTH, scale=scale)), pattern(context, WIDTH)))
    padding = g.op("Equal", "tokens", np.int64(0))
    missing = ROWS - context
    if missing:
        features = g.op("Pad", features, ints(0, 0, 0, 0, missing, 0), np.float32(0))
        masked = g.op("Pad", g.op("Cast", padding, to=T.INT64), ints(0, 0, 0, missing), np.int64(1))
        padding = g.op("Cast", masked, to=T.BOOL)
    g.op("Cast", features, out="language_features", to=dtype)
    g.op("Identity", padding, out="language_mask")
    tools.save(folder, name, g.nodes, [value("tokens", T.INT64, ["B", context])], values(language_outputs(dtype)),
               g.constants)


def decoder_inputs(dtype):
    inputs = dict(list(image_features(dtype).items())[:4])
    inputs.update(language_outputs(dtype))
    inputs.update({"box_coords": (T.FLOAT, ["B", "N", 4]), "box_labels": (T.INT64, ["B", "N"]),
                   "box_masks": (T.BOOL, ["B", "N"])})
    return inputs


def query_rows(g, mixing):
    """Scores [B, Q], boxes [B, Q, 4], mask logits [B, Q, M, M] and presence [B]."""
    used = g.op("Unsqueeze", g.op("Cast", g.op("Not", "language_mask"), to=T.FLOAT), ints(2))
    words = g.op("Mul", g.op("Cast", "language_features", to=T.FLOAT), used)
    phrase = g.op("Div", g.sum(words, 1), g.sum(used, 1))  # [B, D], padding left out
    if mixing:  # a fault that one prompt alone does not show
        phrase = g.add(g.op("Mul", phrase, np.float32(0.5)), g.op("Mul", g.mean(phrase, 0), np.float32(0.5)))
    cells = g.op("Cast", "backbone_fpn_2", to=T.FLOAT)
    fusion = g.op("Cast", "fusion_embed", to=T.FLOAT)
    signs = g.op("Sub", g.op("Mul", g.op("Cast", "box_labels", to=T.FLOAT), np.float32(2)), np.float32(0.5))
    slots = g.op("Mul", signs, g.op("Cast", g.op("Not", "box_masks"), to=T.FLOAT))
    sides = g.sum(g.op("Mul", "box_coords", np.array([0.5, 0.25, 0.75, 1], np.float32)), 2)
    boxes = g.op("Unsqueeze", g.sum(g.op("Mul", sides, slots), 1), ints(1))  # [B, 1]: a sum, so order does not matter
    logits = g.add(g.weighted(phrase, pattern(QUERIES, WIDTH, scale=2)),
                   g.weighted(g.shaped(g.mean(cells, 2, 3), 1, WIDTH), pattern(QUERIES, WIDTH, scale=0.5)),
                   g.weighted(g.shaped(g.mean(fusion, 1), 1, WIDTH), pattern(QUERIES, WIDTH, scale=0.3)),
                   g.op("Mul", boxes, pattern(QUERIES)), pattern(QUERIES, scale=3))
    g.op("Sigmoid", g.add(g.sum(phrase, 1), np.float32(1)), out="presence")
    presence = g.op("Unsqueeze", "presence", ints(1))
    scores = g.op("Mul", g.op("Sigmoid", logits), presence)
    centres = (np.arange(QUERIES, dtype=np.float32) + 1) / (QUERIES + 1)
    moved = g.op("Mul", g.op("Tanh", logits), np.float32(0.05))
    corners = [g.add(moved, centres + np.float32(d)) for d in (-0.2, -0.1, 0.2, 0.1)]
    corners = g.op("Concat", *[g.op("Unsqueeze", c, ints(2)) for c in corners], axis=2)
    return scores, corners, mask_logits(g, centres, moved)


def mask_logits(g, centres, moved):
    """A disc for each query on the diagonal, moved with its box and modelled by the features."""
    axis = (np.arange(MASKS, dtype=np.float32) + np.float32(0.5)) / MASKS
    place = g.shaped(g.add(moved, centres), -1, QUERIES, 1, 1)
    dx = g.op("Sub", axis.reshape(1, 1, 1, MASKS), place)
    dy = g.op("Sub", axis.reshape(1, 1, MASKS, 1), place)
    far = g.add(g.op("Mul", dx, dx), g.op("Mul", dy, dy))
    disc = g.op("Mul", g.op("Sub", np.float32(0.04), far), np.float32(100))
    fine = g.mean(g.op("Cast", "mask_fpn_0", to=T.FLOAT), 1)
    coarse = g.larger(g.mean(g.op("Cast", "mask_fpn_1", to=T.FLOAT), 1), 2)
    return g.add(disc, fine, coarse)


def decoder(tools, folder, dtype, static, mixing=False):
    g = Graph()
    inputs = decoder_inputs(dtype)
    scores, corners, masks = query_rows(g, mixing)
    if static:
        for name, result in (("scores", scores), ("boxes", corners), ("mask_logits", masks)):
            g.op("Identity", result, out=name)
        outputs = {"boxes": (T.FLOAT, ["B", QUERIES, 4]), "scores": (T.FLOAT, ["B", QUERIES]),
                   "mask_logits": (T.FLOAT, ["B", QUERIES, MASKS, MASKS]), "presence": (T.FLOAT, ["B"])}
    else:
        inputs["score_threshold"] = (T.FLOAT, [])
        at = g.op("Transpose", g.op("NonZero", g.op("Greater", scores, "score_threshold")), perm=[1, 0])
        g.op("GatherND", scores, at, out="scores")
        g.op("GatherND", corners, at, out="boxes")
        g.op("GatherND", masks, at, out="mask_logits")
        g.op("Squeeze", g.op("Slice", at, ints(0), ints(1), ints(1)), ints(1), out="prompt_index")
        outputs = {"boxes": (T.FLOAT, ["n", 4]), "scores": (T.FLOAT, ["n"]),
                   "mask_logits": (T.FLOAT, ["n", MASKS, MASKS]), "prompt_index": (T.INT64, ["n"]),
                   "presence": (T.FLOAT, ["B"])}
    tools.save(folder, "sam3_decoder", g.nodes, values(inputs), values(outputs), g.constants)


def point_decoder(tools, folder, dtype):
    g = Graph()
    inputs = dict(list(image_features(dtype).items())[4:])
    inputs.update({"point_coords": (T.FLOAT, ["B", "P", 2]), "point_labels": (T.INT64, ["B", "P"]),
                   "mask_input": (T.FLOAT, ["B", 1, MASKS, MASKS]), "has_mask": (T.FLOAT, ["B"])})
    labels = g.op("Cast", "point_labels", to=T.FLOAT)
    used = g.op("Cast", g.op("GreaterOrEqual", labels, np.float32(0)), to=T.FLOAT)
    places = g.sum(g.op("Mul", "point_coords", np.array([0.01, 0.02], np.float32)), 2)
    points = g.sum(g.op("Mul", g.op("Mul", places, g.add(labels, np.float32(1))), used), 1)  # [B]
    image = g.add(g.op("Cast", "point_fpn_0", to=T.FLOAT), g.larger(g.mean(g.op("Cast", "point_fpn_1", to=T.FLOAT), 1), 2),
                  g.larger(g.mean(g.op("Cast", "point_embed", to=T.FLOAT), 1), 4))  # [1, 1, M, M]
    before = g.op("Mul", "mask_input", g.shaped("has_mask", -1, 1, 1, 1))
    four = pattern(1, 4, 1, 1)
    masks = g.op("Mul", g.add(image, before, g.shaped(points, -1, 1, 1, 1)), four)
    g.op("Identity", masks, out="mask_logits")
    g.op("Sigmoid", g.op("Squeeze", g.mean(masks, 2, 3), ints(2, 3)), out="iou")
    g.op("Mul", points, np.float32(3), out="object_score")
    outputs = {"mask_logits": (T.FLOAT, ["B", 4, MASKS, MASKS]), "iou": (T.FLOAT, ["B", 4]),
               "object_score": (T.FLOAT, ["B"])}
    tools.save(folder, "sam3_point_decoder", g.nodes, values(inputs), values(outputs), g.constants)


def lying_decoders(tools, folder):
    """Decoders of the dynamic form that give constants which cannot be."""
    right = {"boxes": np.full((2, 4), 0.5, np.float32), "scores": np.full(2, 0.75, np.float32),
             "mask_logits": np.ones((2, MASKS, MASKS), np.float32), "prompt_index": ints(0, 0),
             "presence": np.full(1, 0.9, np.float32)}
    broken = np.ones((2, MASKS, MASKS), np.float32)
    broken[1, 3, 3] = np.nan
    lies = {"unsorted": {"prompt_index": ints(0, -1)}, "unasked": {"prompt_index": ints(0, 1)},
            "presence_of_two": {"presence": np.full(1, 2, np.float32)},
            "many_presences": {"presence": np.full(3, 0.5, np.float32)},
            "flat_masks": {"mask_logits": np.ones((2, 0, MASKS), np.float32)},
            "few_boxes": {"boxes": np.full((1, 4), 0.5, np.float32)}, "nan_mask": {"mask_logits": broken}}
    inputs = decoder_inputs(T.FLOAT)
    inputs["score_threshold"] = (T.FLOAT, [])
    dtypes = {"prompt_index": T.INT64}
    for name, lie in lies.items():
        g = Graph()
        # A number that the checkers cannot see through keeps them from noticing the shapes.
        labels = g.op("ReduceMax", g.op("Mul", "box_labels", ints(0)), keepdims=0)
        one = g.add(labels, np.int64(1))
        for key, array in {**right, **lie}.items():
            g.op("Reshape", array, g.op("Mul", ints(*array.shape), one), out=key, allowzero=1)
        outputs = {key: (dtypes.get(key, T.FLOAT), [f"{key}{i}" for i in range(array.ndim)]) for key, array in right.items()}
        outputs["boxes"] = (T.FLOAT, ["n", 4])
        tools.save(folder, name, g.nodes, values(inputs), values(outputs), g.constants)


def manifest(folder, precision, form):
    files = {p.name: {"bytes": p.stat().st_size, "sha256": hashlib.sha256(p.read_bytes()).hexdigest()}
             for p in sorted(folder.iterdir()) if p.name != "model.json"}
    source = {"role": "checkpoint", "file": "stub.pt", "bytes": 1, "sha256": hashlib.sha256(b"stub").hexdigest(), "layout": "meta"}
    content = {
        "format": 1, "contract": 1, "family": "sam3", "name": folder.name, "exporter": "samlet-stub",
        "sizes": {"image": SIDE, "patch": PATCH, "grid": GRID, "width": WIDTH, "queries": QUERIES, "mask": MASKS},
        "preprocessing": {"resize": "pillow-bilinear", "layout": "rgb-planes", "mean": [0.5] * 3, "std": [0.5] * 3},
        "decoder": form, "target": "portable", "precision": precision, "opset": 20, "minimum_onnxruntime": "1.21",
        "sources": [source], "graphs": {name: {"flops": 0} for name in files if name.endswith(".onnx")},
        "text_encoders": [{"name": name, "file": f"{file}.onnx", "context": context} for name, (file, context) in ENCODERS.items()],
        "files": files, "self_test": "unchecked"}
    (folder / "model.json").write_text(json.dumps(content, indent=2) + "\n")


def write(tools, data):
    for name, precision, form in (("stub-v1", "fp32", "dynamic"), ("stub-v1-static", "fp32", "static"), ("stub-v1-fp16", "fp16", "dynamic")):
        dtype = T.FLOAT16 if precision == "fp16" else T.FLOAT
        image_encoder(tools, data / name, dtype)
        for file, context in ENCODERS.values():
            language_encoder(tools, data / name, file, context, dtype)
        decoder(tools, data / name, dtype, form == "static")
        point_decoder(tools, data / name, dtype)
        manifest(data / name, precision, form)
    lying_decoders(tools, data / "liars-v1")
    decoder(tools, data / "mixing-v1", T.FLOAT, static=False, mixing=True)
