"""The stages of a model folder against answers in the form of tests/data/golden/README.md."""
import glob, os
import numpy as np
from safetensors.numpy import load_file
import measure

SHARED = ("backbone_fpn_2", "fusion_embed", "mask_fpn_0", "mask_fpn_1")
POINT = ("point_fpn_0", "point_fpn_1", "point_embed")
TEXT = ("language_features", "language_mask")
BOX = ("box_coords", "box_labels", "box_masks")
PROMPTS = {  # case -> what the table calls it
    "text": "phrase", "empty_text": "phrase", "zero_id": "phrase", "full_text": "phrase",
    "box": "exemplar box", "box_whole": "exemplar box",
    "text_2box": "phrase and boxes, + and -", "text_4box": "phrase and boxes, + and -", "text_box_negative": "phrase and boxes, + and -",
    "text_box_zero": "degenerate boxes", "text_box_speck": "degenerate boxes", "text_box_cell": "degenerate boxes",
    "text_box_border": "degenerate boxes", "text_box_outside": "degenerate boxes"}
CLICKS = {"point": "clicks", "points": "clicks", "corner": "clicks", "box": "box", "box_point": "box and click",
          "mask": "previous mask", "mask_alone": "previous mask", "nothing": "no prompt"}
THRESHOLDS = (0.0, 0.3, 0.5, 0.7, 0.99999)
ALL = -1.0                                                   # every score is above this


class Answers:
    def __init__(self, folder):
        self.folder = folder

    def __getitem__(self, name):
        return load_file(os.path.join(self.folder, name + ".safetensors"))

    def has(self, name):
        return os.path.exists(os.path.join(self.folder, name + ".safetensors"))

    def cases(self, kind, known):
        names = [os.path.basename(x)[len(kind) + 1:-len(".safetensors")] for x in glob.glob(f"{self.folder}/{kind}_*.safetensors")]
        return [n for n in known if n in names]

    def sizes(self):
        i, c = self["image"], self["concept_text"]
        return {"image": i["image"].shape[1], "grid": i["backbone_fpn_2"].shape[3], "width": i["backbone_fpn_2"].shape[1],
                "queries": c["scores"].shape[1]}


class Stages:
    """Compares one engine; every method is one kind of rows of the table."""

    def __init__(self, table, engine, answers, model, limits=None):
        self.table, self.engine, self.answers, self.model = table, engine, answers, model
        self.limits = limits or {}
        self.decoder = "decoder" if getattr(engine, "dynamic", True) else "decoder, static"

    def see(self, graph, prompt, kind, error, at_least=0.0):
        """at_least: a bound that is taken when it is larger than the kind's."""
        if kind in self.limits and self.limits[kind] is None:
            self.table.report(graph, self.model, prompt, kind, error)
        else:
            limit = self.limits.get(kind, measure.BOUNDS[kind][0])
            self.table.see(graph, self.model, prompt, kind, error, max(limit, at_least))

    def fact(self, graph, prompt, holds, otherwise):
        self.table.fact(graph, self.model, prompt, holds, otherwise)

    # --- encoders

    def image(self):
        want = self.answers["image"]
        got = self.engine.image(want["image"])
        for name in (*SHARED, *POINT):
            if name in got or name in SHARED:
                self.see("image encoder", "picture", "tensor", measure.relative(got[name].astype(np.float32), want[name]))
        return got

    def language(self, graph="language encoder", stem="language_encoder", want=None):
        want = want or self.answers["language"]
        got = self.engine.language(want["tokens"], stem)
        self.see(graph, "phrases in one call", "tensor", measure.relative(got[0], want["language_features"]))
        self.fact(graph, "phrases in one call", np.array_equal(got[1], want["language_mask"]), "language_mask differs")
        for i in range(len(want["tokens"])):
            one = self.engine.language(want["tokens"][i:i + 1], stem)
            self.see(graph, "one phrase", "tensor", measure.relative(one[0], want["language_features"][i:i + 1]))
            self.fact(graph, "one phrase", np.array_equal(one[1], want["language_mask"][i:i + 1]), "language_mask differs")
        return got

    # --- decoder

    def stored(self):
        return {n: self.answers["image"][n] for n in SHARED}

    def compare(self, prompt, got, want, b=1, iou=0.0):
        """All queries of B prompts: `got` as the dynamic form gives them with a threshold that keeps all."""
        q = want["scores"].shape[1]
        index = np.repeat(np.arange(b), q)
        if not np.array_equal(got["prompt_index"], index):
            self.fact(self.decoder, prompt, False, f"prompt_index {got['prompt_index']}")
            return
        scores = got["scores"].reshape(b, q)
        self.see(self.decoder, prompt, "score", measure.absolute(scores, want["scores"]))
        self.see(self.decoder, prompt, "score", measure.absolute(got["presence"], want["presence"]))
        self.see(self.decoder, prompt, "box", measure.absolute(got["boxes"].reshape(b, q, 4), want["boxes"]))
        if "mask_logits" in want:
            masks = got["mask_logits"].reshape(want["mask_logits"].shape)
            self.see(self.decoder, prompt, "tensor", measure.relative(masks, want["mask_logits"]))
            kept = want["scores"] > 0.5
            self.see(self.decoder, prompt, "iou", 1 - measure.logits_iou(masks[kept], want["mask_logits"][kept]), iou)

    def concepts(self, features=None, suffix="", cases=None):
        for case in cases or self.answers.cases("concept", PROMPTS):
            want = self.answers["concept_" + case]
            got = self.engine.concept(features or self.stored(), {n: want[n] for n in (*TEXT, *BOX)}, ALL)
            self.compare(PROMPTS[case] + suffix, got, want)

    def thresholds(self, case="text_2box"):
        """Strictly above, in query order, also when nothing is kept; the masks are those of the kept queries."""
        want, prompt = self.answers["concept_" + case], "score thresholds"
        inputs, q = {n: want[n] for n in (*TEXT, *BOX)}, want["scores"].shape[1]
        every = self.engine.concept(self.stored(), inputs, ALL)
        middle = float(np.sort(every["scores"])[q // 2])     # equal to a score: not kept
        for t in (*THRESHOLDS, middle):
            got = self.engine.concept(self.stored(), inputs, t)
            kept = np.flatnonzero(every["scores"] > np.float32(t))
            shapes = [got[n].shape for n in ("scores", "boxes", "mask_logits", "prompt_index")]
            n, side = len(kept), want["mask_logits"].shape[2]
            if shapes != [(n,), (n, 4), (n, side, side), (n,)]:
                self.fact(self.decoder, prompt, False, f"{t}: shapes {shapes} for {n} kept")
                continue
            self.see(self.decoder, prompt, "score", measure.absolute(got["scores"], every["scores"][kept]))
            self.see(self.decoder, prompt, "box", measure.absolute(got["boxes"], every["boxes"][kept]))
            self.see(self.decoder, prompt, "tensor", measure.relative(got["mask_logits"], every["mask_logits"][kept]))
        self.fact(self.decoder, prompt, len(self.engine.concept(self.stored(), inputs, 0.99999)["scores"]) == 0, "not empty at 0.99999")

    def batch(self):
        """Three prompts in one call are each what they are alone."""
        want = self.answers["concept_batch"]
        got = self.engine.concept(self.stored(), {n: want[n] for n in (*TEXT, *BOX)}, ALL)
        self.compare("three prompts in one call", got, want, 3)
        masks = got["mask_logits"].reshape(3, -1, *got["mask_logits"].shape[1:])
        for i, case in enumerate(("text", "text_2box", "box")):
            alone = self.answers["concept_" + case]["mask_logits"][0]
            self.see(self.decoder, "three prompts in one call", "tensor", measure.relative(masks[i], alone))
        one = self.engine.concept(self.stored(), {n: want[n] for n in (*TEXT, *BOX)}, 0.5)
        kept = np.nonzero(want["scores"] > 0.5)
        self.fact(self.decoder, "three prompts in one call", np.array_equal(one["prompt_index"], kept[0]), "prompt_index at 0.5")

    def unused_slots(self):
        """Any number of unused box slots, anywhere, whatever stands in them."""
        want = self.answers["concept_text_2box"]
        rng = np.random.default_rng(0)
        for places in ([2], [0], [1, 2], [0, 1, 3, 4, 6]):
            n = 2 + len(places)
            used = [i for i in range(n) if i not in places]
            coords = rng.uniform(-1, 2, (1, n, 4)).astype(np.float32)
            labels = rng.integers(0, 2, (1, n))
            unused = np.ones((1, n), bool)
            coords[:, used], labels[:, used], unused[:, used] = want["box_coords"], want["box_labels"], False
            got = self.engine.concept(self.stored(), {**{x: want[x] for x in TEXT}, "box_coords": coords, "box_labels": labels,
                                                      "box_masks": unused}, ALL)
            self.compare("unused box slots", got, want)

    def class_token(self):
        """A phrase without the class token is another answer, and these bounds tell them apart."""
        if self.answers.has("concept_text_nocls"):
            other, want = self.answers["concept_text_nocls"], self.answers["concept_text"]
            got = self.engine.concept(self.stored(), {n: want[n] for n in (*TEXT, *BOX)}, ALL)
            far = measure.absolute(got["scores"].reshape(1, -1), other["scores"])
            self.fact(self.decoder, "phrase", far > 0.1, f"only {far:.1e} from the answer without the class token")

    def chained(self, features, language):
        """From the picture and the tokens, through our own encoders."""
        names = [n for n in self.answers.cases("concept", PROMPTS)]
        rows = self.answers["language"]
        for case in names:
            want = self.answers["concept_" + case]
            row = [i for i in range(len(rows["tokens"])) if np.array_equal(rows["language_features"][i], want["language_features"][0])][0]
            text = {"language_features": language[0][row:row + 1], "language_mask": language[1][row:row + 1]}
            got = self.engine.concept({n: features[n] for n in SHARED}, {**text, **{n: want[n] for n in BOX}}, ALL)
            self.compare("all of these, from picture and tokens", got, want, iou=2 * measure.BOUNDS["iou"][0])

    # --- point decoder

    def click(self, prompt, got, want):
        masks, iou, score = (float(x) for x in want.get("noise", (0, 0, 0)))     # what rounding does to Meta's own answer
        self.see("point decoder", prompt, "click", measure.click(got["mask_logits"], want["mask_logits"]), masks)
        self.see("point decoder", prompt, "score", measure.absolute(got["iou"], want["iou"]), iou)
        self.see("point decoder", prompt, "click", measure.relative(got["object_score"], want["object_score"], 1.0), score)

    def points(self):
        features = {n: self.answers["image"][n] for n in POINT}
        inputs = ("point_coords", "point_labels", "mask_input", "has_mask")
        rng = np.random.default_rng(1)
        loaded = {}
        for case in self.answers.cases("point", CLICKS):
            want = loaded[case] = self.answers["point_" + case]
            feeds = {n: want[n] for n in inputs}
            self.click(CLICKS[case], self.engine.point(features, feeds), want)
            for places in ([0], [1, 2, 5, 6, 7]):            # unused points, anywhere, whatever stands in them
                n = feeds["point_labels"].shape[1] + len(places)
                places = places if max(places) < n else range(len(places))
                coords = rng.uniform(-500, 500, (1, n, 2)).astype(np.float32)
                labels = np.full((1, n), -1, np.int64)
                used = [i for i in range(n) if i not in places]
                coords[:, used], labels[:, used] = feeds["point_coords"], feeds["point_labels"]
                got = self.engine.point(features, {**feeds, "point_coords": coords, "point_labels": labels})
                self.click("unused points", got, want)
            if not want["has_mask"].any():                   # has_mask = 0: whatever stands in mask_input
                noise = rng.normal(0, 10, feeds["mask_input"].shape).astype(np.float32)
                self.click("no previous mask", self.engine.point(features, {**feeds, "mask_input": noise}), want)
        self.several(features, loaded)

    def several(self, features, loaded):
        """Objects in one call, with and without a previous mask, are each what they are alone."""
        names = [n for n in ("points", "mask", "box", "nothing") if n in loaded]
        slots = max(loaded[n]["point_labels"].shape[1] for n in names)
        pad = lambda a, value: np.concatenate([a, np.full((1, slots - a.shape[1], *a.shape[2:]), value, a.dtype)], 1)
        feeds = {"point_coords": np.concatenate([pad(loaded[n]["point_coords"], 0) for n in names]),
                 "point_labels": np.concatenate([pad(loaded[n]["point_labels"], -1) for n in names]),
                 "mask_input": np.concatenate([loaded[n]["mask_input"] for n in names]),
                 "has_mask": np.concatenate([loaded[n]["has_mask"] for n in names])}
        got = self.engine.point(features, feeds)
        for i, n in enumerate(names):
            self.click("several objects in one call", {x: got[x][i:i + 1] for x in ("mask_logits", "iou", "object_score")}, loaded[n])

    def everything(self, points=True):
        features, language = self.image(), self.language()
        self.concepts()
        self.class_token()
        self.thresholds()
        self.batch()
        self.unused_slots()
        self.chained(features, language)
        if points:
            self.points()
