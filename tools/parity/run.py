#!/usr/bin/env python3
"""Exports models with samlet, runs the graphs with ONNX Runtime, and compares every stage with Meta's classes.
Started by scripts/parity, which makes the environment; see its --help.
"""
import argparse, filecmp, hashlib, json, os, shutil, subprocess, sys, time
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
REFERENCE = os.path.join(ROOT, "tools", "reference")
sys.path.insert(0, HERE)
import checks, engines, graphs, measure

GOLDEN = os.path.join(ROOT, "tests", "data", "golden")
TINY_SEEDS = (0, 1, 2)


class Work:
    """Where things are made; models are kept between runs as long as the tools that make them stay the same."""

    def __init__(self, folder, samlet, verbose):
        self.folder, self.samlet, self.verbose = folder, samlet, verbose
        self.notes = []                                      # sentences for the end
        os.makedirs(folder, exist_ok=True)

    def model(self, name):
        """The folder of a model of tools/reference/prepare.py with its answers."""
        return os.path.join(self.folder, "models", name)

    def make_models(self, names):
        """Those that are missing or were made by other tools, by one process."""
        stamp = hashlib.sha256()
        for f in sorted(os.listdir(REFERENCE)):
            if f.endswith((".py", ".txt")):
                with open(os.path.join(REFERENCE, f), "rb") as opened:
                    stamp.update(opened.read())
        is_made = lambda made: os.path.exists(made) and open(made).read() == stamp.hexdigest()
        missing = [n for n in names if not is_made(os.path.join(self.model(n), "made"))]
        if not missing:
            return
        self.say(f"making {', '.join(missing)}")
        for n in missing:
            shutil.rmtree(self.model(n), ignore_errors=True)
        log = os.path.join(self.folder, "prepare.log")
        with open(log, "w") as opened:
            command = [sys.executable, os.path.join(REFERENCE, "prepare.py"), *(x for n in missing for x in (n, self.model(n)))]
            if subprocess.run(command, stdout=opened, stderr=opened).returncode:
                sys.exit(f"{open(log).read()[-3000:]}\nmaking the models failed (the end of its words is above; all: {log})")
        for n in missing:
            with open(os.path.join(self.model(n), "made"), "w") as f:
                f.write(stamp.hexdigest())

    def export(self, name, checkpoint, *options):
        """samlet export; gives back the new folder, the seconds it took, and the most resident memory in bytes."""
        out = os.path.join(self.folder, "folders", name)
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        command = [self.samlet, "export", checkpoint, "--out", out, "--no-check", *options]
        self.say(" ".join(os.path.relpath(x, ROOT) if os.path.isabs(x) else x for x in command))
        start, log = time.monotonic(), os.path.join(self.folder, "export.log")
        with open(log, "w") as opened:
            child = subprocess.Popen(command, stdout=opened, stderr=opened)
            _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        if status:
            raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}:\n{open(log).read()[-4000:]}")
        return out, seconds, usage.ru_maxrss * 1024

    def say(self, words):
        if self.verbose:
            print(f"  {words}", file=sys.stderr, flush=True)


def sizes_with_context(answers, folder):
    context = {}
    path = os.path.join(folder, "model.json")
    if os.path.exists(path):
        for t in json.load(open(path, encoding="utf-8")).get("text_encoders", []):
            context[t["file"][len("sam3_"):-len(".onnx")]] = t["context"]
    return {**answers.sizes(), "context": {**context, "language_encoder": 32}}


def compare(table, work, label, answers_folder, checkpoint, options=(), name=None, points=True, together=False):
    """One export, everything about it. together: one row for all prompts."""
    if together:
        table.together.add(label)
    answers = checks.Answers(answers_folder)
    folder, _, _ = work.export(name or label.replace(" ", "-").replace(",", ""), checkpoint, *options)
    graphs.check(table, folder, label, sizes_with_context(answers, folder))
    checks.Stages(table, engines.V1(folder), answers, label).everything(points)
    return folder


def same_bytes(table, label, one, other):
    """The same input gives the same bytes."""
    names = sorted(os.listdir(one))
    equal = names == sorted(os.listdir(other)) and not filecmp.cmpfiles(one, other, names, shallow=False)[1:][0]
    table.fact("all files", label, "exported twice", equal, "the second export differs from the first")


# --- the parts; each gets (table, work)

def part_micro(table, work):
    sam3 = os.path.join(GOLDEN, "sam3")
    one = compare(table, work, "micro (committed)", sam3, f"{sam3}/sam3.pt", name="micro")
    other, _, _ = work.export("micro-again", f"{sam3}/sam3.pt")
    same_bytes(table, "micro (committed)", one, other)
    for v in ("s0", "s1", "l"):
        litetext(table, work, "micro (committed)", f"{sam3}/sam3.pt", f"{GOLDEN}/litetext_{v}/litetext_{v}.pt", f"{GOLDEN}/litetext_{v}", v)


def part_tiny(table, work):
    for seed in TINY_SEEDS:
        m = work.model(f"tiny-{seed}")
        compare(table, work, f"tiny, {len(TINY_SEEDS)} seeds", f"{m}/answers", f"{m}/sam3.pt", name=f"tiny-{seed}")
    m = work.model("tiny-0")
    for target in ("coreml", "tensorrt"):
        compare(table, work, f"tiny, {target}", f"{m}/answers", f"{m}/sam3.pt", ("--target", target), together=True)


def part_layouts(table, work):
    def one(label, folder, file, *options, **more):
        compare(table, work, f"tiny, {label}", f"{folder}/answers", f"{folder}/{file}", options, together=True, **more)

    m = work.model("tiny-0")
    one("transformers layout", m, "model.safetensors")
    one("shards", m, "shards/model.safetensors.index.json")
    one("Sam3Model file", m, "detector/model.safetensors", points=False)
    for kind, words in (("bf16", "bfloat16"), ("f16", "float16")):
        m = work.model(f"tiny-{kind}")
        one(words, m, "sam3.pt", name=f"tiny-{kind}-pt")
        one(words, m, "model.safetensors", name=f"tiny-{kind}-safetensors")
    one("SAM 3.1", work.model("tiny-3.1"), "sam3.1/sam3.1_multiplex.pt")
    one("168 px", work.model("tiny-168"), "sam3.pt", "--size", "168")


def part_litetext(table, work):
    for rows in (16, 32, 77):
        m = work.model(f"litetext-{rows}")
        for v in ("s0", "s1", "l"):
            litetext(table, work, "tiny", f"{m}/sam3.pt", f"{m}/{v}/litetext_{v}.pt", f"{m}/answers-{v}", v, f"{m}/answers")


def litetext(table, work, model, checkpoint, encoder, answers_folder, variant, detector_answers=None):
    label = f"{model}, LiteText {variant.upper()}"
    folder, _, _ = work.export(f"litetext-{variant}", checkpoint, "--text-encoder", encoder)
    stems = [x[len("sam3_"):-len(".onnx")] for x in os.listdir(folder) if x.startswith("sam3_litetext") and x.endswith(".onnx")]
    table.fact("language encoder, LiteText", label, "context", len(stems) == 1, f"files {stems}")
    stem, engine = stems[0], engines.V1(folder)
    context = engine.graph(stem).session.get_inputs()[0].shape[1]
    answers = checks.Answers(answers_folder)
    if not answers.has(f"language_{context}"):
        table.fact("language encoder, LiteText", label, "context", False, f"{context} tokens in {stem}")
        return
    stages = checks.Stages(table, engine, answers, label)
    stages.language("language encoder, LiteText", stem, answers[f"language_{context}"])
    if answers.has(f"concept_{context}"):
        want = answers[f"concept_{context}"]
        lf, lm = engine.language(want["tokens"], stem)
        image = checks.Answers(detector_answers)["image"]
        got = engine.concept({n: image[n] for n in checks.SHARED}, {**{n: want[n] for n in checks.BOX}, "language_features": lf,
                                                                    "language_mask": lm}, checks.ALL)
        stages.compare("phrase through LiteText, and a box", got, want)


def part_thin(table, work):
    m = work.model("thin")
    compare(table, work, "thin", f"{m}/answers", f"{m}/sam3.pt")


def part_v030(table, work):
    """sam3-onnx's layout, checked by its own names; osam_interop.py gives the same files to osam."""
    import v030
    m = work.model("thin")
    folder, _, _ = work.export("thin-sam3-onnx", f"{m}/sam3.pt", "--layout", "sam3-onnx")
    v030.compare(table, folder, "thin, sam3-onnx layout", checks.Answers(f"{m}/answers"))


def copy_and_hash(path, copy):
    start = time.monotonic()
    subprocess.run(["cp", path, copy], check=True)
    subprocess.run(["sha256sum", copy], check=True, stdout=subprocess.DEVNULL)
    os.remove(copy)
    return time.monotonic() - start


def part_full(table, work):
    """The released size. Exports under a limit of memory, measures, then compares graph by graph."""
    m = work.model("full")
    checkpoint = f"{m}/sam3.pt"
    limited = os.path.join(work.folder, "limited")
    with open(limited, "w") as f:
        f.write(f'#!/bin/sh\nexec prlimit --data=400000000 {work.samlet} "$@"\n')
    os.chmod(limited, 0o755)
    unlimited, work.samlet = work.samlet, limited
    exports, copies = [], []
    for _ in range(2):                                       # the better of two: other work on the machine disturbs
        folder, seconds, peak = work.export("full", checkpoint)
        exports.append(seconds)
        copies.append(copy_and_hash(checkpoint, os.path.join(work.folder, "copy.pt")))
    work.samlet = unlimited
    size = sum(os.path.getsize(os.path.join(folder, x)) for x in os.listdir(folder))
    work.notes.append(
        f"Exported in {min(exports):.1f} s under `prlimit --data=400000000` (`cp` and `sha256sum` of the checkpoint: {min(copies):.1f} s), "
        f"{size / 1e9:.2f} GB of files; at most {peak / 1e9:.2f} GB resident, pages of the mapped checkpoint included.")
    work.say(work.notes[-1])
    table.fact("all files", "full", "time", min(exports) <= 1.5 * min(copies), f"{min(exports):.1f} s is more than 1.5 x {min(copies):.1f} s")
    answers = checks.Answers(f"{m}/answers")
    graphs.check(table, folder, "full", sizes_with_context(answers, folder))
    engine = engines.V1(folder)
    stages = checks.Stages(table, engine, answers, "full")
    features = stages.image()
    engine.forget("image_encoder")
    language = stages.language()
    engine.forget("language_encoder")
    stages.concepts()
    stages.thresholds()
    stages.batch()
    stages.chained(features, language)
    engine.forget("decoder")
    stages.points()


def part_miniature(table, work):
    import miniature
    miniature.compare(table, work)


def run_osam(table, work):
    import osam_interop
    osam_interop.compare(table, work)


PARTS = {n[5:]: f for n, f in globals().items() if n.startswith("part_")}
MODELS = {"tiny": [f"tiny-{s}" for s in TINY_SEEDS], "layouts": ["tiny-0", "tiny-bf16", "tiny-f16", "tiny-3.1", "tiny-168"],
          "litetext": ["litetext-16", "litetext-32", "litetext-77"], "thin": ["thin"], "v030": ["thin"], "full": ["full"]}
DEFAULT = ("micro", "tiny", "layouts", "litetext", "thin", "v030", "miniature")


def stand_in(table, work, fault):
    import standin
    m = work.model("tiny-0")
    checks.Stages(table, standin.StandIn(m, fault), checks.Answers(f"{m}/answers"), "tiny, plain formulas").everything()


def write(path, command, content):
    """Replaces what stands between the markers of this command in a Markdown file."""
    begin, end = f"<!-- begin: {command} -->", f"<!-- end: {command} -->"
    text = open(path, encoding="utf-8").read()
    if begin not in text or end not in text:
        sys.exit(f"'{path}' has no lines {begin} and {end}")
    head, rest = text.split(begin, 1)
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{head}{begin}\n{content}\n{end}{rest.split(end, 1)[1]}")


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--work", required=True)
    ap.add_argument("--samlet")
    ap.add_argument("--ort-path", help="a folder with another onnxruntime package")
    ap.add_argument("--stand-in", nargs="?", const="none")
    ap.add_argument("--osam", action="store_true")
    ap.add_argument("--write")
    ap.add_argument("parts", nargs="*", choices=[*PARTS, []])
    a = ap.parse_args()
    if a.ort_path:
        sys.path.insert(0, a.ort_path)
        engines.CAREFUL.append(a.ort_path)
    import onnxruntime
    work, table = Work(a.work, a.samlet, True), measure.Table()
    start = time.monotonic()
    parts = [] if a.stand_in else a.parts or ([] if a.osam else DEFAULT)
    names = [n for p in parts for n in MODELS.get(p, [])] + (["thin"] if a.osam else []) + (["tiny-0"] if a.stand_in else [])
    work.make_models(list(dict.fromkeys(names)))
    if a.stand_in:
        stand_in(table, work, None if a.stand_in == "none" else a.stand_in)
    for name in [*parts, *(["osam"] if a.osam else [])]:
        try:
            ({**PARTS, "osam": run_osam})[name](table, work)
        except Exception as e:                               # the other parts still say what they have
            import traceback
            traceback.print_exc()
            table.fact("all files", name, "runs", False, f"{type(e).__name__}: {e}")
    words = (f"ONNX Runtime {onnxruntime.__version__}, Meta's classes on PyTorch 2.13.0, both float32 on a CPU; "
             f"{table.count} comparisons, {len(table.problems)} beyond a bound.")
    print(table)
    print(f"\n{words} {time.monotonic() - start:.0f} s")
    for p in table.problems:
        print("beyond its bound:", p)
    for note in work.notes:
        print(note)
    if a.write and not table.problems:
        options = ["--full"] if parts == ["full"] else [*a.parts, *(["--osam"] if a.osam else [])]
        command = " ".join(["scripts/parity", *options, *(["--ort", onnxruntime.__version__] if a.ort_path else [])])
        write(a.write, command, "\n\n".join([words, *work.notes, *([] if a.ort_path else [str(table)])]))
    print(f"{table.count - len(table.problems)} passed, {len(table.problems)} failed")
    return 1 if table.problems or not table.count else 0


if __name__ == "__main__":
    sys.exit(main())
