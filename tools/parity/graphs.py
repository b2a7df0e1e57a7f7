"""What a graph declares, against models/sam3/contract.h, the ONNX checker and strict shape inference."""
import hashlib, json, os, re
import onnx

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
U8, I64, F32, BOOL = "uint8", "int64", "float32", "bool"
TYPES = {onnx.TensorProto.UINT8: U8, onnx.TensorProto.INT64: I64, onnx.TensorProto.FLOAT: F32, onnx.TensorProto.BOOL: BOOL,
         onnx.TensorProto.FLOAT16: "float16"}
# file -> (inputs, outputs): name -> (type, dims); capital letters are numbers of the model, small ones vary
FEATURES = {"backbone_fpn_2": ("feature", "1 D g g"), "fusion_embed": ("feature", "1 gg D"),
            "mask_fpn_0": ("feature", "1 D 4g 4g"), "mask_fpn_1": ("feature", "1 D 2g 2g")}
POINT_FEATURES = {"point_fpn_0": ("feature", "1 D/8 4g 4g"), "point_fpn_1": ("feature", "1 D/4 2g 2g"),
                  "point_embed": ("feature", "1 D g g")}
TEXT = {"language_features": (F32, "b 32 D"), "language_mask": (BOOL, "b 32")}
BOXES = {"box_coords": (F32, "b n 4"), "box_labels": (I64, "b n"), "box_masks": (BOOL, "b n")}
CONTRACT = {
    "image_encoder": ({"image": (U8, "3 S S")}, {**FEATURES, **POINT_FEATURES}),
    "language_encoder": ({"tokens": (I64, "b C")}, TEXT),
    "decoder": ({**FEATURES, **TEXT, **BOXES, "score_threshold": (F32, "")},
                {"boxes": (F32, "k 4"), "scores": (F32, "k"), "mask_logits": (F32, "k 4g 4g"), "prompt_index": (I64, "k"),
                 "presence": (F32, "b")}),
    "static decoder": ({**FEATURES, **TEXT, **BOXES},
                       {"boxes": (F32, "b Q 4"), "scores": (F32, "b Q"), "mask_logits": (F32, "b Q 4g 4g"), "presence": (F32, "b")}),
    "point_decoder": ({**POINT_FEATURES, "point_coords": (F32, "b p 2"), "point_labels": (I64, "b p"),
                       "mask_input": (F32, "b 1 4g 4g"), "has_mask": (F32, "b")},
                      {"mask_logits": (F32, "b 4 4g 4g"), "iou": (F32, "b 4"), "object_score": (F32, "b")}),
}


def names_of_header():
    """The tensor names in namespace v1 of contract.h."""
    text = open(os.path.join(ROOT, "models", "sam3", "contract.h"), encoding="utf-8").read()
    block = text[text.index("namespace v1 {"):text.index("}  // namespace v1")]
    block = re.sub(r"//[^\n]*", "", block)
    return {m for m in re.findall(r"string_view\s+k\w+\s*=\s*\"(\w+)\"", block)}


def names_of_table():
    return {n for i, o in CONTRACT.values() for n in (*i, *o)}


def declared(value):
    t = value.type.tensor_type
    dims = [d.dim_value if d.HasField("dim_value") else d.dim_param or "?" for d in t.shape.dim]
    return TYPES.get(t.elem_type, str(t.elem_type)), dims


def wanted(spec, m):
    kind, dims = spec
    g, numbers = m["grid"], []
    table = {"D": m["width"], "D/8": m["width"] // 8, "D/4": m["width"] // 4, "g": g, "2g": 2 * g, "4g": 4 * g, "gg": g * g,
             "S": m["image"], "Q": m["queries"], "C": m["context"]}
    for d in dims.split():
        numbers.append(int(d) if d.isdigit() else table.get(d, d))
    return kind, numbers


def fits(got, want):
    """Numbers must be these; what varies must be declared as varying (a static form may fix it)."""
    return len(got) == len(want) and all(g == w if isinstance(w, int) else True for g, w in zip(got, want))


def check(table, folder, model_name, sizes, contrib=False, fp16=False):
    """Every graph of one of our own folders. sizes: image, grid, width, queries, context by file stem."""
    features = "float16" if fp16 else F32
    for path in sorted(x for x in os.listdir(folder) if x.endswith(".onnx")):
        stem = path[len("sam3_"):-len(".onnx")]
        kind = "language_encoder" if stem.startswith("litetext") else stem
        graph = "decoder, static" if stem == "decoder" and not is_dynamic(folder) else stem.replace("_", " ")
        graph = "language encoder, LiteText" if stem.startswith("litetext") else graph
        say = lambda holds, words: table.fact(graph, model_name, "contract, checker, shapes", holds, words)
        try:
            onnx.checker.check_model(os.path.join(folder, path), full_check=False)
        except onnx.checker.ValidationError as e:
            if not contrib:
                say(False, f"onnx.checker: {str(e).splitlines()[0]}")
        model = onnx.load(os.path.join(folder, path), load_external_data=False)
        sets = {o.domain: o.version for o in model.opset_import}
        say(contrib or set(sets) <= {"", "ai.onnx"}, f"operator sets {sets}")
        say(sets.get("", 0) <= 20, f"operator set {sets.get('')}")
        inputs, outputs = CONTRACT["static decoder" if graph == "decoder, static" else kind]
        m = {**sizes, "context": sizes["context"].get(stem, 32)}
        has_points = os.path.exists(os.path.join(folder, "sam3_point_decoder.onnx"))
        if kind == "image_encoder" and not has_points:
            outputs = FEATURES
        for what, values, specs in (("input", model.graph.input, inputs), ("output", model.graph.output, outputs)):
            have = {v.name: declared(v) for v in values}
            say(list(have) == list(specs), f"{what}s {list(have)} instead of {list(specs)}")
            for name, spec in specs.items():
                t, dims = wanted(spec, m)
                t = features if t == "feature" else t
                got = have.get(name)
                say(got is not None and got[0] == t and fits(got[1], dims), f"{what} {name} is {got}, not {(t, dims)}")
        infer(say, model, contrib)
    check_manifest(table, folder, model_name)


def is_dynamic(folder):
    model = onnx.load(os.path.join(folder, "sam3_decoder.onnx"), load_external_data=False)
    return any(v.name == "score_threshold" for v in model.graph.input)


def infer(say, model, contrib):
    before = {v.name: declared(v) for v in model.graph.output}
    try:
        after = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=not contrib, data_prop=True)
    except onnx.shape_inference.InferenceError as e:
        say(False, f"shape inference: {str(e).splitlines()[0]}")
        return
    for v in after.graph.output:
        kind, dims = declared(v)
        same = kind == before[v.name][0] and len(dims) == len(before[v.name][1]) and all(
            a == b for a, b in zip(dims, before[v.name][1]) if isinstance(a, int) and isinstance(b, int))
        say(same, f"output {v.name} is inferred as {kind} {dims}, declared {before[v.name]}")


def check_manifest(table, folder, model_name):
    say = lambda holds, words: table.fact("model.json", model_name, "files and hashes", holds, words)
    path = os.path.join(folder, "model.json")
    if not os.path.exists(path):
        say(False, "missing")
        return
    facts = json.load(open(path, encoding="utf-8"))
    files = facts.get("files", {})
    say(set(files) == {x for x in os.listdir(folder) if x != "model.json"}, f"lists {sorted(files)}, there is {sorted(os.listdir(folder))}")
    for name, f in files.items():
        with open(os.path.join(folder, name), "rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        say(f.get("sha256") == digest and f.get("bytes") == os.path.getsize(os.path.join(folder, name)), f"{name} is not as it says")
