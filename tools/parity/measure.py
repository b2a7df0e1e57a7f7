"""Errors, their bounds, and the table of both."""
import numpy as np

# kind -> (bound, whether smaller is better, what the column says)
BOUNDS = {
    "tensor": (1e-4, "tensors"),          # max|a-b| / max|b|
    "score": (1e-4, "scores"),            # absolute; also presence and predicted IoU
    "box": (5e-5, "boxes"),               # of the side
    "iou": (1e-4, "1 - mask IoU"),        # of kept instances, one pixel apart: IoU >= 0.9999
    "click": (1e-3, "clicks"),            # masks: mean|a-b| / std; object score; on random weights only
    "same": (0.0, "other"),               # things that must not differ at all: counted
}
FP16 = {"tensor": None, "score": 2e-2, "box": 1e-2, "iou": 2e-2, "click": None, "same": 0.0}


def relative(got, want, least=0.0):
    """max|a-b| / max|b|; `least` for tensors of one number, which may happen to be near 0."""
    if got.shape != want.shape:
        return float("inf")
    if not want.size:
        return 0.0
    if not np.isfinite(got).all():
        return float("inf")
    return float(np.abs(got.astype(np.float64) - want).max() / max(np.abs(want).max(), least, 1e-30))


def absolute(got, want):
    if got.shape != want.shape:
        return float("inf")
    d = np.abs(got.astype(np.float64) - want)
    return float("inf") if not np.isfinite(d).all() else float(d.max()) if d.size else 0.0


def click(got, want):
    if got.shape != want.shape or not np.isfinite(got).all():
        return float("inf")
    return float(np.abs(got.astype(np.float64) - want).mean() / want.std())


def upsample(logits, height, width):
    """Bilinear, half-pixel centres, no antialias: [n, h, w] -> [n, height, width]."""
    def axis(n, m):
        x = np.clip((np.arange(m) + 0.5) * n / m - 0.5, 0, n - 1)
        lo = np.minimum(x.astype(np.int64), max(n - 2, 0))
        return lo, np.minimum(lo + 1, n - 1), (x - lo).astype(np.float32)
    y0, y1, fy = axis(logits.shape[1], height)
    x0, x1, fx = axis(logits.shape[2], width)
    rows = logits[:, y0] * (1 - fy)[:, None] + logits[:, y1] * fy[:, None]
    return rows[:, :, x0] * (1 - fx) + rows[:, :, x1] * fx


def mask_iou(a, b):
    """Smallest IoU of pairs of boolean masks [n, h, w]; two empty ones agree. One pixel is forgiven: its logit may be
    0 up to rounding, and in a mask of less than 10000 pixels that alone would be more than 1e-4."""
    if a.shape != b.shape:
        return 0.0
    union = (a | b).sum((1, 2))
    both = np.minimum((a & b).sum((1, 2)) + 1, union)
    return float(np.where(union > 0, both / np.maximum(union, 1), 1.0).min()) if len(a) else 1.0


def logits_iou(got, want, least=256):
    """Smallest IoU of masks given as logits [n, h, w], compared with at least `least` pixels a side."""
    if got.shape != want.shape:
        return 0.0
    worst, side = 1.0, max(least, want.shape[1])
    for i in range(len(want)):                               # one at a time: a full-size set is large
        worst = min(worst, mask_iou(upsample(got[i:i + 1], side, side) > 0, upsample(want[i:i + 1], side, side) > 0))
    return worst


class Table:
    """Rows graph x model x prompt, each with the worst error of every kind."""

    def __init__(self):
        self.rows, self.count, self.problems = {}, 0, []
        self.together = set()                                # models whose prompts share one row

    def row(self, graph, model, prompt):
        if model in self.together:
            prompt = "all prompts"
        return self.rows.setdefault((graph, model, prompt), {})

    def see(self, graph, model, prompt, kind, error, limit=None):
        """limit: another bound than the kind's; None in FP16 means reported, not judged."""
        self.count += 1
        row = self.row(graph, model, prompt)
        row[kind] = max(row.get(kind, 0.0), error)
        bound = BOUNDS[kind][0] if limit is None else limit
        if not error <= bound:
            self.problems.append(f"{graph} | {model} | {prompt}: {BOUNDS[kind][1]} {error:.2e}, bound {bound:.0e}")

    def report(self, graph, model, prompt, kind, value):
        """A figure without a bound."""
        row = self.row(graph, model, prompt)
        row[kind] = max(row.get(kind, 0.0), value)

    def fact(self, graph, model, prompt, holds, otherwise):
        """Something that is so or not."""
        self.count += 1
        row = self.row(graph, model, prompt)
        row["same"] = row.get("same", 0.0) + (0.0 if holds else 1.0)
        if not holds:
            self.problems.append(f"{graph} | {model} | {prompt}: {otherwise}")

    def __str__(self):
        kinds = list(BOUNDS)
        lines = ["| graph | model | prompt | " + " | ".join(BOUNDS[x][1] for x in kinds) + " |",
                 "|" + "---|" * (3 + len(kinds)),
                 "| **bound** | | | " + " | ".join("exact" if x == "same" else f"{BOUNDS[x][0]:.0e}" for x in kinds) + " |"]
        order = ["image encoder", "language encoder", "language encoder, LiteText", "decoder", "decoder, static", "point decoder"]
        models = list(dict.fromkeys(r[1] for r in self.rows))
        rank = lambda r: (order.index(r[0]) if r[0] in order else len(order), models.index(r[1]))
        previous = ("", "")
        for key in sorted(self.rows, key=rank):              # stable: otherwise as they came
            row = self.rows[key]
            cells = []
            for x in kinds:
                e = row.get(x)
                cells.append("" if e is None else ("ok" if e == 0 else f"{e:.0f} wrong") if x == "same" else f"{e:.1e}")
            shown = ["" if key[:i + 1] == previous[:i + 1] else key[i] for i in range(2)]
            lines.append("| " + " | ".join([*shown, key[2], *cells]) + " |")
            previous = key
        return "\n".join(lines)
