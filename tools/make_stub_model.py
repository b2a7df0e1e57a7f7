#!/usr/bin/env python3
"""Writes a folder of the sam3-onnx v0.3.0 contract that finds 200 discs in every picture.

The graphs have the released model's shapes (1008 x 1008 input, 72 x 72 grid, 288 x 288 masks) and no weights, so that tests can
drive the whole program with many large masks in milliseconds. Python 3.11, onnx==1.23.2, numpy. Usage: make_stub_model.py DATA_FOLDER, which gets
  stub-v030/      the three graphs
  external-v030/  the language encoder once more, with a weight in a .data file beside it
  foreign/        an encoder with the inputs of SAM 1
  liars/          decoders whose outputs are not what they declare
  stub-v1*/, liars-v1/, mixing-v1/  the same for samlet's own contract, see stub_v1.py
"""
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

import stub_v1

SIDE, GRID, MASKS, WIDTH, CONTEXT, FOUND = 1008, 72, 288, 4, 32, 200


def value(name, dtype, shape):
    return h.make_tensor_value_info(name, dtype, shape)


def constant(name, array):
    return nh.from_array(np.asarray(array), name)


def external(name, array, file, offset):
    """A constant whose bytes lie in a file beside the model."""
    tensor = T(name=name, data_type=T.FLOAT, dims=array.shape, data_location=T.EXTERNAL)
    for key, entry in (("location", file), ("offset", offset), ("length", array.nbytes)):
        tensor.external_data.add(key=key, value=str(entry))
    return tensor


def save(folder, name, nodes, inputs, outputs, constants):
    folder.mkdir(parents=True, exist_ok=True)
    graph = h.make_graph(nodes, name, inputs, outputs, constants)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 20)], ir_version=9, producer_name="samlet-stub")
    if not any(c.data_location == T.EXTERNAL for c in constants):
        onnx.checker.check_model(model, full_check=True)
    (folder / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))


def feature_shapes():
    return {"vision_pos_enc_2": GRID, "backbone_fpn_0": 4 * GRID, "backbone_fpn_1": 2 * GRID, "backbone_fpn_2": GRID}


def image_encoder(folder):
    nodes = [h.make_node("Cast", ["image"], ["pixels"], to=T.FLOAT),
             h.make_node("ReduceMean", ["pixels"], ["mean"], keepdims=0)]
    constants = []
    for name, side in feature_shapes().items():
        constants.append(constant(f"{name}_shape", np.array([1, WIDTH, side, side], np.int64)))
        nodes.append(h.make_node("Expand", ["mean", f"{name}_shape"], [name]))
    outputs = [value(n, T.FLOAT, [1, WIDTH, s, s]) for n, s in feature_shapes().items()]
    save(folder, "sam3_image_encoder", nodes, [value("image", T.UINT8, [3, SIDE, SIDE])], outputs, constants)


def language_encoder(folder, weight_outside):
    weight = np.linspace(-1, 1, CONTEXT * WIDTH).astype(np.float32).reshape(CONTEXT, 1, WIDTH)
    nodes = [h.make_node("Equal", ["tokens", "zero"], ["text_attention_mask"]),
             h.make_node("Cast", ["tokens"], ["numbers"], to=T.FLOAT),
             h.make_node("Reshape", ["numbers", "column"], ["as_column"]),
             h.make_node("Add", ["as_column", "weight"], ["text_memory"])]
    constants = [constant("zero", np.int64(0)), constant("column", np.array([CONTEXT, 1, 1], np.int64))]
    if weight_outside:
        # An offset as exporters choose it, so that "long enough" is not the same as "as long as the weight".
        file, offset = "sam3_language_encoder.onnx.data", 4096
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(bytes(offset) + weight.tobytes())
        constants.append(external("weight", weight, file, offset))
    else:
        constants.append(constant("weight", weight))
    outputs = [value("text_attention_mask", T.BOOL, [1, CONTEXT]), value("text_memory", T.FLOAT, [CONTEXT, 1, WIDTH])]
    save(folder, "sam3_language_encoder", nodes, [value("tokens", T.INT64, [1, CONTEXT])], outputs, constants)


def sam1_encoder(folder):
    nodes = [h.make_node("Identity", ["x"], ["image_embeddings"])]
    shape = [1, 3, 1024, 1024]
    save(folder, "sam1_encoder", nodes, [value("x", T.FLOAT, shape)], [value("image_embeddings", T.FLOAT, shape)], [])


def decoder(folder):
    # FOUND discs on a 20 x 10 lattice; disc i has centre c_i and radius r: logit = (r^2 - |x - c_i|^2) * sharpness.
    column, row = np.meshgrid(np.arange(20), np.arange(10))
    cx = ((column.ravel() + 0.5) / 20).astype(np.float32)
    cy = ((row.ravel() + 0.5) / 10).astype(np.float32)
    radius = 0.3
    cells = ((np.arange(MASKS) + 0.5) / MASKS).astype(np.float32)
    boxes = np.stack([cx - radius, cy - radius, cx + radius, cy + radius], 1).astype(np.float32)
    scores = np.linspace(0.99, 0.51, FOUND).astype(np.float32)
    constants = [constant("cx", cx.reshape(FOUND, 1, 1, 1)), constant("cy", cy.reshape(FOUND, 1, 1, 1)),
                 constant("xs", cells.reshape(1, 1, 1, MASKS)), constant("ys", cells.reshape(1, 1, MASKS, 1)),
                 constant("radius_squared", np.float32(radius ** 2)), constant("sharpness", np.float32(100)),
                 constant("all_boxes", boxes), constant("all_scores", scores)]
    nodes = [h.make_node("Sub", ["xs", "cx"], ["dx"]), h.make_node("Mul", ["dx", "dx"], ["dx2"]),
             h.make_node("Sub", ["ys", "cy"], ["dy"]), h.make_node("Mul", ["dy", "dy"], ["dy2"]),
             h.make_node("Add", ["dx2", "dy2"], ["d2"]), h.make_node("Sub", ["radius_squared", "d2"], ["inside"]),
             h.make_node("Mul", ["inside", "sharpness"], ["logits"]), h.make_node("Sigmoid", ["logits"], ["masks"]),
             h.make_node("Identity", ["all_boxes"], ["boxes"]), h.make_node("Identity", ["all_scores"], ["scores"])]
    inputs = [value(n, T.FLOAT, [1, WIDTH, s, s]) for n, s in feature_shapes().items()]
    inputs += [value("language_mask", T.BOOL, [1, CONTEXT]), value("language_features", T.FLOAT, [CONTEXT, 1, WIDTH]),
               value("box_coords", T.FLOAT, [1, 1, 4]), value("box_labels", T.INT64, [1, 1]),
               value("box_masks", T.BOOL, [1, 1])]
    outputs = [value("boxes", T.FLOAT, ["n", 4]), value("scores", T.FLOAT, ["n"]),
               value("masks", T.FLOAT, ["n", 1, MASKS, MASKS])]
    save(folder, "sam3_decoder", nodes, inputs, outputs, constants)


def lying_decoders(folder):
    """Decoders that declare what the contract wants and give something else when they run."""
    def floats(*shape, fill=0.25):
        return np.full(shape, fill, np.float32)

    right = {"boxes": floats(2, 4, fill=0.5), "scores": floats(2, fill=0.75), "masks": floats(2, 1, 8, 8)}
    reversed_corners = np.array([[0.9, 0.9, 0.1, 0.1]] * 2, np.float32)
    lies = {"scalar_masks": {"masks": np.float32(0.5)}, "flat_masks": {"masks": floats(128)},
            "two_channels": {"masks": floats(2, 2, 8, 8)}, "boxes_turned": {"boxes": floats(4, 2)},
            "scores_as_column": {"scores": floats(2, 1)}, "score_of_two": {"scores": floats(2, fill=2)},
            "reversed_corners": {"boxes": reversed_corners}, "nan_score": {"scores": floats(2, fill=np.nan)},
            "infinite_mask": {"masks": floats(2, 1, 8, 8, fill=np.inf)}}
    inputs = [value(n, T.FLOAT, [1, WIDTH, s, s]) for n, s in feature_shapes().items()]
    inputs += [value("language_mask", T.BOOL, [1, CONTEXT]), value("language_features", T.FLOAT, [CONTEXT, 1, WIDTH]),
               value("box_coords", T.FLOAT, [1, 1, 4]), value("box_labels", T.INT64, [1, 1]),
               value("box_masks", T.BOOL, [1, 1])]
    outputs = [value("boxes", T.FLOAT, ["n", 4]), value("scores", T.FLOAT, ["n"]),
               value("masks", T.FLOAT, ["n", 1, "rows", "columns"])]
    folder.mkdir(parents=True, exist_ok=True)
    for name, lie in lies.items():
        constants = [constant(f"all_{key}", array) for key, array in {**right, **lie}.items()]
        # A condition that the checkers cannot see through keeps them from noticing the shapes.
        nodes = [h.make_node("ReduceMax", ["box_masks_as_numbers"], ["any"], keepdims=0),
                 h.make_node("Cast", ["box_masks"], ["box_masks_as_numbers"], to=T.FLOAT)][::-1]
        for key, array in {**right, **lie}.items():
            shape = constant(f"shape_of_{key}", np.array(np.shape(array), np.int64))
            constants.append(shape)
            nodes += [h.make_node("Mul", [f"shape_of_{key}", "one"], [f"real_shape_of_{key}"]),
                      h.make_node("Reshape", [f"all_{key}", f"real_shape_of_{key}"], [key])]
        nodes.insert(2, h.make_node("Cast", ["any"], ["any_as_integer"], to=T.INT64))
        nodes.insert(3, h.make_node("Equal", ["any_as_integer", "any_as_integer"], ["true"]))
        nodes.insert(4, h.make_node("Cast", ["true"], ["one"], to=T.INT64))
        graph = h.make_graph(nodes, "liar", inputs, outputs, constants)
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 20)], ir_version=9, producer_name="samlet-stub")
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))


def main():
    data = Path(sys.argv[1])
    image_encoder(data / "stub-v030")
    language_encoder(data / "stub-v030", weight_outside=False)
    decoder(data / "stub-v030")
    language_encoder(data / "external-v030", weight_outside=True)
    sam1_encoder(data / "foreign")
    lying_decoders(data / "liars")
    stub_v1.write(sys.modules[__name__], data)


if __name__ == "__main__":
    main()
