"""Gives the files of `samlet export --layout sam3-onnx` to the Sam3 class of osam 0.8.1 (PyPI), unchanged, and compares what
it finds with Meta's classes. osam's loader is left out: it would download its own weights.

  osam_interop.py FOLDER ANSWERS     # by hand, on any folder of that layout, e.g. of export_rival.py
"""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np
import PIL.Image
import checks, measure

THRESHOLD = 0.5                                              # in the graph


def sam3(folder):
    import onnxruntime
    from loguru import logger
    logger.remove()
    from osam._models.sam3 import Sam3
    class Loaded(Sam3):
        def __init__(self):                                  # not the inherited one, which pulls
            self._inference_sessions = {n: onnxruntime.InferenceSession(f"{folder}/sam3_{n}.onnx", providers=["CPUExecutionProvider"])
                                        for n in Sam3._blobs}
    return Loaded()


def as_osam_does(answer, width, height, threshold):
    """Instances from Meta's numbers by osam's rules: rounded boxes, the mask cut out in its own cells and stretched."""
    kept = answer["scores"][0] > THRESHOLD
    for score, box, logits in zip(answer["scores"][0][kept], answer["boxes"][0][kept], answer["mask_logits"][0][kept]):
        if score < threshold:
            continue
        x1, y1, x2, y2 = (round(float(v)) for v in box * np.array([width, height, width, height], np.float32))
        cells = (box * len(logits)).astype(int)
        probability = (1 / (1 + np.exp(-logits.astype(np.float64)))).astype(np.float32)
        cut = probability[cells[1]:cells[3] + 1, cells[0]:cells[2] + 1]
        mask = np.asarray(PIL.Image.fromarray(cut).resize((x2 - x1 + 1, y2 - y1 + 1), PIL.Image.Resampling.BILINEAR)) > 0.5
        yield (x1, y1, x2, y2), float(score), mask


def run(table, folder, answers, label):
    from osam import types
    model = sam3(folder)
    image = answers["image"]["image"].transpose(1, 2, 0)     # of the model's own size, so that nothing is resized
    side = image.shape[0]
    embedding = model.encode_image(image)
    for case, texts, prompt_name in (("text", ["cat"], "phrase"), ("box", ["visual"], "one box")):
        want = answers["concept_" + case]
        points = labels = None
        if case == "box":
            cx, cy, w, h = (want["box_coords"][0, 0] * side).astype(np.float64)
            points, labels = [[cx - w / 2, cy - h / 2], [cx + w / 2, cy + h / 2]], [2, 3]
        say = lambda holds, words: table.fact("through osam 0.8.1", label, prompt_name, holds, words)
        prompt = types.Prompt(texts=texts, points=points, point_labels=labels, score_threshold=THRESHOLD)
        found = model.generate(types.GenerateRequest(model="sam3", image_embedding=embedding, prompt=prompt)).annotations
        expected = list(as_osam_does(want, side, side, THRESHOLD))
        say(len(expected) > 0, "the reference keeps nothing, which proves nothing")
        say(len(found) == len(expected), f"{len(found)} found, not {len(expected)}")
        for f, (box, score, mask) in zip(found, expected):
            b = f.bounding_box
            table.see("through osam 0.8.1", label, prompt_name, "score", abs(f.score - score))
            got = np.array([b.xmin, b.ymin, b.xmax, b.ymax], np.float64)
            say(np.abs(got - box).max() <= 1, f"box {got}, not {box}")      # whole pixels: a half may round either way
            if f.mask.shape == mask.shape:
                table.see("through osam 0.8.1", label, prompt_name, "iou", 1 - measure.mask_iou(f.mask[None], mask[None]))


def compare(table, work):
    m = work.model("thin")
    folder, _, _ = work.export("thin-sam3-onnx", f"{m}/sam3.pt", "--layout", "sam3-onnx")
    run(table, folder, checks.Answers(f"{m}/answers"), "thin, sam3-onnx layout")


if __name__ == "__main__":
    t = measure.Table()
    run(t, sys.argv[1], checks.Answers(sys.argv[2]), "given")
    print(t, *t.problems, sep="\n")
    sys.exit(bool(t.problems))
