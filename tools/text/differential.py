"""Compares libs/text with the reference on many random phrases and shows each difference.

Run: python tools/text/differential.py BUILD/bin/samlet_text_corpus [first seed] [count] [processes]
"""
import multiprocessing
import subprocess
import sys

import corpus
import oracle

CONTEXT = 256
CHUNK = 5000


def reference(ingredients, tokenizer, seed):
    phrase = corpus.make(ingredients, seed)
    ids = [oracle.START, *tokenizer.encode(phrase), oracle.END]
    if len(ids) > CONTEXT:
        ids = ids[: CONTEXT - 1] + [oracle.END]
    return phrase, ids


def compare(job):
    program, first, count = job
    out = subprocess.run(
        [program, "corpus", str(corpus.INGREDIENTS), str(first), str(count)], capture_output=True, text=True
    )
    if out.returncode != 0:
        return [f"seeds {first}..: {out.stderr}"]
    ingredients, tokenizer, failures = corpus.Ingredients(), oracle.Oracle(), []
    for seed, got in zip(range(first, first + count), out.stdout.split(), strict=True):
        phrase, ids = reference(ingredients, tokenizer, seed)
        if f"{oracle.fnv1a(ids):016x}" != got:
            shown = subprocess.run(
                [program, "lines"], input=phrase.encode("utf-8").hex() + "\n", capture_output=True, text=True
            )
            failures.append(
                f"seed {seed}: {ascii(phrase)}\n  cleaned {ascii(oracle.clean(phrase))}\n"
                f"  reference {ids}\n  samlet    {shown.stdout.strip()}{shown.stderr}"
            )
    return failures


def main():
    oracle.check_versions()
    program = sys.argv[1]
    first, count, processes = (int(x) for x in (sys.argv[2:] + ["0", "20000", "2"][len(sys.argv) - 2 :]))
    jobs = [(program, s, min(CHUNK, first + count - s)) for s in range(first, first + count, CHUNK)]
    failures = 0
    with multiprocessing.Pool(processes) as pool:
        for result in pool.imap_unordered(compare, jobs):
            failures += len(result)
            for text in result[:5]:
                print(text, flush=True)
    print(f"{count} phrases, {failures} differences")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
