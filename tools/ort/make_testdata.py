#!/usr/bin/env python3
"""Writes the tiny models of libs/ort/testdata, the fuzz corpus, and the probe model in libs/ort/probe_model.h.

Made with Python 3.11, onnx 1.23.2, numpy 2.4.6. Run from anywhere; the output is the same each time:

    python3 tools/ort/make_testdata.py
"""

import pathlib
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2] / "libs" / "ort"
DATA = ROOT / "testdata"
F32, I64, U8, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8, TensorProto.BOOL


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs, outputs, initializers=(), opset=20, metadata=None):
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializer=list(initializers))
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="samlet-testdata", ir_version=9
    )
    if metadata:
        helper.set_model_props(made, metadata)
    return made


def save(name, made, check=True):
    if check:
        onnx.checker.check_model(made)
    (DATA / name).write_bytes(made.SerializeToString(deterministic=True))


def external(name, location, length, offset, dims=(64,), kind=F32):
    tensor = TensorProto(name=name, data_type=kind, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return tensor


def add_weight(tensor, shape=(64,)):
    nodes = [helper.make_node("Add", ["x", tensor.name], ["y"])]
    return model(nodes, [info("x", F32, shape)], [info("y", F32, shape)], [tensor])


def plain_models():
    add = helper.make_node("Add", ["x", "y"], ["z"])
    metadata = {"samlet.family": "sam3", "note": "é 图片"}
    save("add.onnx", model([add], [info(n, F32, [2, 3]) for n in "xy"], [info("z", F32, [2, 3])], metadata=metadata))

    two = numpy_helper.from_array(np.float32(2), "two")
    axes = numpy_helper.from_array(np.array([1], np.int64), "axes")
    nodes = [
        helper.make_node("Mul", ["x", "two"], ["doubled"]),
        helper.make_node("ReduceSum", ["x", "axes"], ["sum"], keepdims=0),
    ]
    outputs = [info("doubled", F32, ["N", 4]), info("sum", F32, ["N"])]
    # The initializer "two" is listed as an input too, as old exporters do: it must not count as one.
    save("dynamic.onnx", model(nodes, [info("x", F32, ["N", 4]), info("two", F32, [])], outputs, [two, axes]))

    nodes = [
        helper.make_node("Not", ["b"], ["not_b"]),
        helper.make_node("Add", ["i", "i"], ["twice_i"]),
        helper.make_node("Identity", ["u"], ["same_u"]),
    ]
    inputs = [info("b", BOOL, [3]), info("i", I64, [3]), info("u", U8, ["N", 2])]
    outputs = [info("not_b", BOOL, [3]), info("twice_i", I64, [3]), info("same_u", U8, ["N", 2])]
    save("types.onnx", model(nodes, inputs, outputs))

    nodes = [helper.make_node("MatMul", ["a", "b"], ["c"]), helper.make_node("Softmax", ["c"], ["d"], axis=-1)]
    inputs = [info("a", F32, ["M", "K"]), info("b", F32, ["K", "N"])]
    save("matmul.onnx", model(nodes, inputs, [info("d", F32, ["M", "N"])]))

    gather = helper.make_node("Gather", ["x", "i"], ["y"])
    save("gather.onnx", model([gather], [info("x", F32, [3]), info("i", I64, ["N"])], [info("y", F32, ["N"])]))

    identity = helper.make_node("Identity", ["text"], ["same"])
    kind = TensorProto.STRING
    save("string.onnx", model([identity], [info("text", kind, [1])], [info("same", kind, [1])]))

    unknown = helper.make_node("NoSuchOperator", ["x"], ["y"])
    save("unknown_operator.onnx", model([unknown], [info("x", F32, [1])], [info("y", F32, [1])]), check=False)

    # The declared output is not what the node makes: ONNX Runtime warns while it loads.
    relu = helper.make_node("Relu", ["x"], ["y"])
    save("warns.onnx", model([relu], [info("x", F32, [2, 3])], [info("y", F32, [2, 4])]), check=False)


def loop_model():
    """Multiplies a matrix by itself `trips` times, scaled so that it stays finite: runs as long as one wants."""
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["m_in", "m_in"], ["squared"]),
            helper.make_node("Tanh", ["squared"], ["m_out"]),
            helper.make_node("Identity", ["go_in"], ["go_out"]),
        ],
        "body",
        [info("i", I64, []), info("go_in", BOOL, []), info("m_in", F32, [32, 32])],
        [info("go_out", BOOL, []), info("m_out", F32, [32, 32])],
    )
    yes = numpy_helper.from_array(np.array(True), "yes")
    node = helper.make_node("Loop", ["trips", "yes", "m"], ["last"], body=body)
    inputs = [info("trips", I64, []), info("m", F32, [32, 32])]
    save("loop.onnx", model([node], inputs, [info("last", F32, [32, 32])], [yes]))


def external_models():
    weight = np.arange(64, dtype=np.float32)
    (DATA / "external.onnx.data").write_bytes(bytes(16) + weight.tobytes())  # 16 + 256 bytes
    save("external.onnx", add_weight(external("w", "external.onnx.data", 256, 16)), check=False)
    save("external_up.onnx", add_weight(external("w", "../external.onnx.data", 256, 16)), check=False)
    save("external_absolute.onnx", add_weight(external("w", "/etc/passwd", 256, 0)), check=False)
    save("external_unnamed.onnx", add_weight(external("w", None, 256, 0)), check=False)
    save("external_not_a_number.onnx", add_weight(external("w", "w.data", "12x", 0)), check=False)
    save("external_overflow.onnx", add_weight(external("w", "w.data", 256, 2**64 - 100)), check=False)
    save("external_wrong_length.onnx", add_weight(external("w", "w.data", 100, 0)), check=False)
    save("external_negative.onnx", add_weight(external("w", "w.data", 256, 0, dims=(-64,))), check=False)
    # No length and no offset: shape and type tell.
    save("external_bare.onnx", add_weight(external("w", "w.data", None, None)), check=False)
    # Far beyond 4 GiB, and two tensors in one file.
    far = add_weight(external("w", "far.data", 256, 5 * 2**30))
    far.graph.initializer.append(external("v", "far.data", 256, 0))
    far.graph.initializer.append(external("u", "a.data", 256, 0))
    save("external_far.onnx", far, check=False)
    # Hidden in an attribute of a node of a subgraph, where a look at the initializers does not see it.
    constant = helper.make_node("Constant", [], ["w"], value=external("w", "../hidden.data", 256, 0))
    branch = helper.make_graph([constant], "branch", [], [info("w", F32, [64])])
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    save("external_hidden.onnx", model([node], [info("c", BOOL, [])], [info("y", F32, [64])]), check=False)


def probe_header():
    made = model([helper.make_node("Add", ["x", "x"], ["y"])], [info("x", F32, [1, 4])], [info("y", F32, [1, 4])], opset=13)
    made.ir_version = 8
    onnx.checker.check_model(made)
    data = made.SerializeToString(deterministic=True)
    rows = [", ".join(f"0x{b:02x}" for b in data[i : i + 16]) for i in range(0, len(data), 16)]
    text = (
        "// Written by tools/ort/make_testdata.py; do not edit.\n#pragma once\n\n#include <array>\n#include <cstdint>\n\n"
        "namespace samlet::ort {\n\n/// The ONNX model y = x + x, x: f32 [1, 4].\n"
        f"// clang-format off\ninline constexpr std::array<std::uint8_t, {len(data)}> kProbeModel{{\n    "
        + ",\n    ".join(rows)
        + "};\n// clang-format on\n\n}  // namespace samlet::ort\n"
    )
    (ROOT / "probe_model.h").write_text(text)


def length_delimited(field, payload):
    size, encoded = len(payload), b""
    while size > 127:
        encoded, size = encoded + bytes([size & 127 | 128]), size >> 7
    return bytes([field << 3 | 2]) + encoded + bytes([size]) + payload


def corpus():
    """Small seeds: the models that the parser has most to do with, one cut, one with nested graphs."""
    folder = DATA / "fuzz_model_file"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in ("add", "dynamic", "loop", "external", "external_far", "external_hidden", "external_bare"):
        shutil.copyfile(DATA / f"{name}.onnx", folder / name)
    (folder / "cut").write_bytes((DATA / "loop.onnx").read_bytes()[:-7])
    graph = b""
    for _ in range(40):  # deeper than the parser goes, and than protobuf itself, so written by hand
        # AttributeProto.g = 6, NodeProto.attribute = 5, GraphProto.node = 1
        for field in (6, 5, 1):
            graph = length_delimited(field, graph)
    (folder / "deep").write_bytes(b"\x08\x09" + length_delimited(7, graph))
    (folder / "empty").write_bytes(b"")


def main():
    DATA.mkdir(exist_ok=True)
    for old in DATA.glob("*.onnx*"):
        old.unlink()
    plain_models()
    loop_model()
    external_models()
    probe_header()
    corpus()


if __name__ == "__main__":
    main()
