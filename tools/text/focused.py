"""Compares libs/text with the reference on phrases aimed at one part each: NFC, references, bytes, words, lower case.

Run: python tools/text/focused.py BUILD/bin/samlet_text_corpus [count a family] [seed]
"""
import html.entities
import random
import subprocess
import sys
import unicodedata

from ftfy import chardata

import oracle

CONTEXT = 256


def nfc_family(rng):
    parts = sorted(
        {int(x, 16) for c in range(0x110000) for x in unicodedata.decomposition(chr(c)).split() if x[0] != "<"}
    )
    marks = [c for c in range(0x110000) if unicodedata.combining(chr(c))]
    whole = [c for c in range(0x110000) if unicodedata.decomposition(chr(c))]
    hangul = [*range(0x1100, 0x1114), *range(0x1160, 0x1178), *range(0x11A6, 0x11C5), *range(0xAC00, 0xAC40), 0xD7A3]
    groups = [parts, marks, marks, whole, hangul, [0x41, 0x20, 0x3B1]]
    while True:
        yield "".join(chr(rng.choice(rng.choice(groups))) for _ in range(rng.randint(1, 9)))


def html_family(rng):
    names = sorted(html.entities.html5) + [k[1:] for k in chardata.HTML_ENTITIES]
    digits = ["#38", "#x26", "#0", "#13", "#127", "#128", "#x9F", "#64976", "#xFFFF", "#x1FFFE", "#xD800", "#55555555555"]
    while True:
        text = ""
        for _ in range(rng.randint(1, 4)):
            name = rng.choice(digits) if rng.random() < 0.25 else rng.choice(names)
            if rng.random() < 0.3:
                name = name[: rng.randint(0, len(name))]
            if rng.random() < 0.2:
                name = rng.choice([name.upper(), name.swapcase()])
            tail = rng.choice(["", ";", ";", "x", " ", "é", "amp;", "=", "#", "0"])
            text += rng.choice(["&", "&", "&amp;", "&amp;amp;", "&#38;"]) + name + tail
        yield text + rng.choice(["", "", "<", "\n&eacute;&amp;lt;", "<\n&eacute;&AMP;amp;"])


def bytes_family(rng):
    leads = [0xC0, 0xC2, 0xC3, 0xC5, 0xCE, 0xD0, 0xD9, 0xDF, 0xE0, 0xE1, 0xE2, 0xE3, 0xED, 0xED, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5]
    others = [0x20, 0x20, 0x1A, 0x3F, 0x80, 0x85, 0x8D, 0x9F, 0xA0, 0xA1, 0xB0, 0xBF, 0x0A, 0x41, 0x61, 0x71]
    words = [b"quele", b"s ", b"quilo", b"\xe2\x80\x99", b"\xc3\xa9", b"\xed\xa0\xbd\xed\xb8\x8d", b"\xed\xa0\xbd\xed\xb8\n"]
    while True:
        data = b""
        for _ in range(rng.randint(1, 6)):
            if rng.random() < 0.25:
                data += rng.choice(words)
            else:
                data += bytes([rng.choice(leads), *(rng.choice(others) for _ in range(rng.randint(1, 3)))])
        yield data.decode(rng.choice(chardata.CHARMAP_ENCODINGS)) + rng.choice(["", "", "", "\n", "a", "ж"])


def word_family(rng):
    merges = ["".join(m).replace("</w>", "") for m in oracle.read_merges()]
    alphabet = {c: b for b, c in oracle.byte_alphabet().items()}
    while True:
        symbols = "".join(rng.choice(merges) for _ in range(rng.randint(1, 5)))
        text = bytes(alphabet[c] for c in symbols).decode("utf-8", "ignore")
        yield text + "".join(rng.choice("aeiouthe rsn'!.,-") for _ in range(rng.randint(0, 30)))


def case_family(rng):
    sigma = ["Σ", "Σ", "σ", "A", "'", ".", "\u0301", "\u200d", "1", " ", "İ", "ſ", "ᾼ", "ⅷ", "ª", "\u0345", "ʰ", "-", "ΐ"]
    upper = [chr(c) for c in range(0x110000) if chr(c).lower() != chr(c)]
    special = ["<start_of_text>", "<ſtart_of_text>", "<end_of_text>", "'ſ", "'s", "'RE", "'ll", "<START_OF_TEXT>"]
    while True:
        yield "".join(
            rng.choice(sigma if rng.random() < 0.7 else upper if rng.random() < 0.7 else special)
            for _ in range(rng.randint(1, 10))
        )


def main():
    oracle.check_versions()
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    tokenizer, failures = oracle.Oracle(), 0
    for family in (nfc_family, html_family, bytes_family, word_family, case_family):
        source = family(random.Random(seed))
        phrases = [next(source) for _ in range(count)]
        out = subprocess.run(
            [program, "lines"],
            input="".join(p.encode("utf-8").hex() + "\n" for p in phrases),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\n")
        wrong = 0
        for phrase, line in zip(phrases, out):
            ids = [oracle.START, *tokenizer.encode(phrase), oracle.END]
            if len(ids) > CONTEXT:
                ids = ids[: CONTEXT - 1] + [oracle.END]
            if line.split() != [str(i) for i in ids]:
                wrong += 1
                if wrong <= 5:
                    print(f"{ascii(phrase)}\n  cleaned {ascii(oracle.clean(phrase))}\n  reference {ids}\n  samlet    {line}")
        print(f"{family.__name__}: {count} phrases, {wrong} differences", flush=True)
        failures += wrong
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
