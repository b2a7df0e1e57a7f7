"""The reference for libs/text: what Meta's SAM 3 tokenizer computes, said with the libraries that it calls.

Pinned: Python 3.11 (unicodedata 14.0.0), ftfy 6.3.1, regex 2026.11.19, open_clip_torch 3.3.0 (only its merges file).
Facts of the tokenizer: clean = whitespace(basic(x)).lower(), basic = fix_text, unescape twice, strip.
"""
import gzip
import hashlib
import html
import importlib.metadata
import sys
import unicodedata

import ftfy
import regex

START, END = 49406, 49407
MERGES_GZ_SHA256 = "924691ac288e54409236115652ad4aa250f48203de50a9e4722a6ecd48d6804a"
MERGES_SHA256 = "67603cfda2e032ad77b5f8808af37789d590db664b26df8705d2bf8b3c553fc8"
PATTERN = regex.compile(
    r"<start_of_text>|<end_of_text>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    regex.IGNORECASE,
)


def check_versions():
    found = {
        "python": ".".join(map(str, sys.version_info[:2])),
        "unicodedata": unicodedata.unidata_version,
        "ftfy": importlib.metadata.version("ftfy"),
        "regex": importlib.metadata.version("regex"),
    }
    wanted = {"python": "3.11", "unicodedata": "14.0.0", "ftfy": "6.3.1", "regex": "2026.11.19"}
    if found != wanted:
        raise SystemExit(f"the recorded tables need exactly {wanted}, this is {found}")
    return wanted


def read_merges():
    """The 48,894 merges of OpenAI CLIP's vocabulary, by rank, from PyPI's open_clip_torch 3.3.0."""
    name = "bpe_simple_vocab_16e6.txt.gz"
    if importlib.metadata.version("open_clip_torch") != "3.3.0":
        raise SystemExit("pip install --no-deps open_clip_torch==3.3.0 (it carries the merges file)")
    files = [f for f in importlib.metadata.files("open_clip_torch") if f.name == name]
    packed = files[0].locate().read_bytes()
    text = gzip.decompress(packed)
    for what, data, want in (("gz", packed, MERGES_GZ_SHA256), ("text", text, MERGES_SHA256)):
        got = hashlib.sha256(data).hexdigest()
        if got != want:
            raise SystemExit(f"{name} ({what}): sha256 {got}, expected {want}")
    return [tuple(line.split()) for line in text.decode("utf-8").split("\n")[1:48895]]


def byte_alphabet():
    """byte -> printable character, in the order of ids 0..255."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {b: chr(b) for b in printable}
    others = [b for b in range(256) if b not in table]
    table.update({b: chr(256 + i) for i, b in enumerate(others)})
    return table


def clean(text):
    text = html.unescape(html.unescape(ftfy.fix_text(text))).strip()
    return regex.sub(r"\s+", " ", text).strip().lower()


class Oracle:
    def __init__(self):
        merges = read_merges()
        self.alphabet = byte_alphabet()
        symbols = list(self.alphabet.values())
        vocabulary = symbols + [s + "</w>" for s in symbols] + ["".join(m) for m in merges]
        self.ids = {s: i for i, s in enumerate(vocabulary)}
        self.ranks = {m: i for i, m in enumerate(merges)}
        self.known = {"<start_of_text>": [START], "<end_of_text>": [END]}

    def word(self, symbols):
        """Ids of one pattern match, given in the byte alphabet: merges the best-ranked pair until none is left."""
        if symbols in self.known:
            return self.known[symbols]
        parts = [*symbols[:-1], symbols[-1] + "</w>"]
        while len(parts) > 1:
            best = min(zip(parts, parts[1:]), key=lambda p: self.ranks.get(p, 1 << 30))
            if best not in self.ranks:
                break
            merged, i = [], 0
            while i < len(parts):
                if tuple(parts[i : i + 2]) == best:
                    merged.append(parts[i] + parts[i + 1])
                    i += 2
                else:
                    merged.append(parts[i])
                    i += 1
            parts = merged
        result = [self.ids[p] for p in parts]
        if len(self.known) < 500_000:
            self.known[symbols] = result
        return result

    def encode(self, text):
        ids = []
        for match in PATTERN.findall(clean(text)):
            ids += self.word("".join(self.alphabet[b] for b in match.encode("utf-8")))
        return ids

    def tokens(self, text, context=32):
        ids = [START, *self.encode(text), END]
        if len(ids) > context:
            ids = ids[:context]
            ids[-1] = END
        return ids + [0] * (context - len(ids))


def fnv1a(ids, state=0xCBF29CE484222325):
    """FNV-1a 64 over the ids, each as two little-endian bytes."""
    for i in ids:
        for byte in (i & 0xFF, i >> 8):
            state = ((state ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return state
