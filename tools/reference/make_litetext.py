#!/usr/bin/env python3
"""Builds the three SAM3-LiteText language encoders (S0, S1, L) with deterministic random weights, runs a few texts
through them and stores every layer's output.

  python make_litetext.py --size tiny --out OUT/tiny             # 2 seconds of CPU, 55 MB
  python make_litetext.py --size full --out OUT/full             # 10 seconds, 0.9 GB disk
  python make_litetext.py --size tiny --rows 77 --wrap --out DIR # first-generation table, dict nested under "model"

Written to --out, for each variant V = s0, s1, l into a folder of its own, since a checkpoint's config.json stands
beside it:
  V/litetext_V.pt              text tensors under the published names (with --base: a whole checkpoint)
  V/config.json                {"text_config": {"num_attention_heads": n}} unless every head has the released 64 channels;
                               with --base the base's config.json with that number
  V/io_litetext_V.npz          per text <case>: <case>.tokens int64 [1,ctx], .embed, .layer_NN [1,ctx,width]
                               (.layer_NN.mixed = RepMixer block after its token mixer), .ln_final [1,ctx,width],
                               .features [1,ctx,d], .language_features [1,32,d] (zeros behind ctx),
                               .language_mask bool [1,32] (True = padding); with more rows than ctx also
                               .interp_language_features: the table resampled instead of cut
and manifest_litetext.json: dims, the texts, key -> shape of every npz entry.
Weights come from numpy Philox keyed by (seed, variant, key): identical on every machine. The first rows of the
position table are the same for every --rows, hence so are the outputs (except the interp ones).
Needs: torch (CPU), numpy.
"""
import argparse, hashlib, json, os, sys, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import keylists
import numpy as np
import torch
import torch.nn.functional as F

VARIANTS = ("s0", "s1", "l")
REPMIXER = {"s0": (0, 5)}                                    # blocks that are RepMixer; all others are transformers
VOCAB, MLP, KERNEL, SLOTS, EPS = 49408, 4, 11, 32, 1e-5
DIMS = {                                                     # the released values; tiny keeps blocks and vocabulary
    "full": {"s0": dict(width=512, heads=8, layers=6, d=256), "s1": dict(width=512, heads=8, layers=12, d=256),
             "l": dict(width=768, heads=12, layers=12, d=256)},
    "tiny": {"s0": dict(width=64, heads=4, layers=6, d=32), "s1": dict(width=64, heads=4, layers=12, d=32),
             "l": dict(width=96, heads=6, layers=12, d=32)},   # head dim 16; d as in make_tiny.py --size tiny
    "micro": {"s0": dict(width=40, heads=2, layers=6, d=32, vocab=512), "s1": dict(width=40, heads=2, layers=4, d=32, vocab=512),
              "l": dict(width=48, heads=3, layers=6, d=32, vocab=512)},   # for files that are committed
}
PREFIX = "detector.backbone.language_backbone."
POS = "encoder.positional_embedding.pos_embed.pos_embed"

TEXTS = {"person": [2533], "visual": [7195], "bus": [320, 4481, 1228, 2840],     # "a yellow school bus"
         "comma": [3399, 1395, 267, 736],                    # "traffic light, red"
         "empty": [],
         "zero": [0, 260],                                   # "!%": id 0 inside the text counts as padding
         "long": [4481, 1228, 2840] * 11}                    # too long: cut, last slot = EOS


def layout(t, ctx, vocab=VOCAB):
    bos, eos = vocab - 2, vocab - 1
    if vocab != VOCAB:                                       # other words, but as many; id 0 keeps its meaning
        t = [x and x % (vocab - 3) + 1 for x in t]
    ids = ([bos] + t + [eos])[:ctx]
    if len(t) + 2 > ctx:
        ids[-1] = eos
    return torch.tensor([ids + [0] * (ctx - len(ids))])


def shapes(variant, k, rows):
    """key (without PREFIX) -> shape, in checkpoint order."""
    w, s = k["width"], {}

    def bn(p):
        s.update({f"{p}.{x}": (w,) for x in ("weight", "bias", "running_mean", "running_var")})
        s[p + ".num_batches_tracked"] = ()

    def affine(p, *weight):
        s[p + ".weight"], s[p + ".bias"] = weight, weight[:1]

    s["encoder.projection_layer"] = (w, w)                   # unused by SAM 3
    s["encoder.embedding_layer.weight"] = (k.get("vocab", VOCAB), w)
    s[POS] = (1, 1, rows, w)
    for i in range(k["layers"]):
        p = f"encoder.transformer.{i}."
        if i in REPMIXER.get(variant, ()):
            s[p + "layer_scale"] = s[p + "token_mixer.layer_scale"] = (w, 1, 1)
            bn(p + "token_mixer.norm.rbr_skip")
            bn(p + "token_mixer.mixer.rbr_skip")
            for q in ("token_mixer.mixer.rbr_conv.0", "convffn.conv"):
                s[p + q + ".conv.weight"] = (w, 1, 1, KERNEL)
                bn(p + q + ".bn")
            affine(p + "convffn.fc1", MLP * w, w, 1, 1)
            affine(p + "convffn.fc2", w, MLP * w, 1, 1)
        else:
            affine(p + "pre_norm_mha.0", w)
            affine(p + "pre_norm_mha.1.qkv_proj", 3 * w, w)
            affine(p + "pre_norm_mha.1.out_proj", w, w)
            affine(p + "pre_norm_ffn.0", w)
            affine(p + "pre_norm_ffn.1", MLP * w, w)
            affine(p + "pre_norm_ffn.4", w, MLP * w)
    affine("encoder.final_layer_norm", w)
    affine("projector", k["d"], w)
    return s


def fill(seed, variant, key, shape):
    """A value for every tensor so that each one visibly moves the outputs (float32; the counters are int64)."""
    h = hashlib.sha256(f"{seed}:litetext_{variant}:{key}".encode()).digest()
    r = np.random.Generator(np.random.Philox(key=int.from_bytes(h[:8], "little")))
    n = lambda std, mean=0.0: (r.standard_normal(shape, dtype=np.float32) * np.float32(std) + np.float32(mean))
    leaf = key.split(".")[-1]
    if leaf == "num_batches_tracked":
        return np.array(r.integers(1000, 100000), np.int64)
    if leaf == "running_var":
        return r.random(shape, dtype=np.float32) + np.float32(0.25)
    if leaf == "running_mean":
        return n(0.3)
    if leaf == "layer_scale":
        return n(0.2, 0.4)
    if "embed" in key:                                       # token and position tables
        return n(0.3)
    if leaf == "bias":
        return n(0.1)
    if len(shape) == 1:                                      # weight of a LayerNorm or BatchNorm
        return n(0.2, 1.0)
    return n(1 / np.sqrt(np.prod(shape[1:])))


def weights(variant, k, rows, seed):
    return {x: torch.from_numpy(fill(seed, variant, x, s)) for x, s in shapes(variant, k, rows).items()}


class Encoder:
    """Forward pass over the flat dict. record(name, tensor) sees every layer's output as [1,ctx,width]."""

    def __init__(self, w, variant, k):
        self.w, self.k, self.rep = w, k, REPMIXER.get(variant, ())

    def linear(self, p, x):
        return F.linear(x, self.w[p + ".weight"], self.w[p + ".bias"])

    def layer_norm(self, p, x):
        return F.layer_norm(x, x.shape[-1:], self.w[p + ".weight"], self.w[p + ".bias"], EPS)

    def batch_norm(self, p, x):
        w = self.w
        return F.batch_norm(x, w[p + ".running_mean"], w[p + ".running_var"], w[p + ".weight"], w[p + ".bias"], eps=EPS)

    def conv_bn(self, p, x):
        """Depthwise, along the tokens, zero padding, no bias."""
        x = F.conv2d(x, self.w[p + ".conv.weight"], padding=(0, KERNEL // 2), groups=x.shape[1])
        return self.batch_norm(p + ".bn", x)

    def repmixer(self, p, x, see):
        w = self.w
        x = x.transpose(1, 2).unsqueeze(2)                   # [1,width,1,ctx]
        m = p + "token_mixer."
        mix = self.batch_norm(m + "mixer.rbr_skip", x) + self.conv_bn(m + "mixer.rbr_conv.0", x)
        x = x + w[m + "layer_scale"] * (mix - self.batch_norm(m + "norm.rbr_skip", x))
        see(x.squeeze(2).transpose(1, 2))
        y = self.conv_bn(p + "convffn.conv", x)
        y = F.gelu(F.conv2d(y, w[p + "convffn.fc1.weight"], w[p + "convffn.fc1.bias"]))
        y = F.conv2d(y, w[p + "convffn.fc2.weight"], w[p + "convffn.fc2.bias"])
        return (x + w[p + "layer_scale"] * y).squeeze(2).transpose(1, 2)

    def transformer(self, p, x):
        b, t, c = x.shape
        h = self.k["heads"]
        qkv = self.linear(p + "pre_norm_mha.1.qkv_proj", self.layer_norm(p + "pre_norm_mha.0", x))
        q, k, v = qkv.view(b, t, 3, h, c // h).permute(2, 0, 3, 1, 4)
        a = (q * (c // h) ** -0.5 @ k.transpose(-1, -2)).softmax(-1) @ v      # no mask: padding is attended too
        x = x + self.linear(p + "pre_norm_mha.1.out_proj", a.transpose(1, 2).reshape(b, t, c))
        y = F.gelu(self.linear(p + "pre_norm_ffn.1", self.layer_norm(p + "pre_norm_ffn.0", x)))
        return x + self.linear(p + "pre_norm_ffn.4", y)

    @torch.no_grad()
    def run(self, tokens, record=lambda name, t: None, interp=False):
        ctx, pos = tokens.shape[1], self.w[POS][0, 0]
        if interp:                                           # training-time reading of a longer table
            pos = F.interpolate(pos[None, None], (ctx, pos.shape[1]), mode="bilinear", align_corners=False)[0, 0]
        x = self.w["encoder.embedding_layer.weight"][tokens] + pos[:ctx]
        record("embed", x)
        for i in range(self.k["layers"]):
            p, name = f"encoder.transformer.{i}.", f"layer_{i:02d}"
            x = self.repmixer(p, x, lambda t: record(name + ".mixed", t)) if i in self.rep else self.transformer(p, x)
            record(name, x)
        x = self.layer_norm("encoder.final_layer_norm", x)
        record("ln_final", x)
        return self.linear("projector", x)


def slots(features, tokens):
    """The 32 positions of the decoder's prompt: zeros, masked, behind the context."""
    pad = SLOTS - tokens.shape[1]
    return F.pad(features, (0, 0, 0, pad)), F.pad(tokens == 0, (0, pad), value=True)


def outputs(enc, ctx):
    d = {}
    for case, t in TEXTS.items():
        put = lambda name, v: d.__setitem__(f"{case}.{name}", v.contiguous().numpy().copy())
        tokens = layout(t, ctx, enc.k.get("vocab", VOCAB))
        put("tokens", tokens)
        features = enc.run(tokens, put)
        lf, mask = slots(features, tokens)
        put("features", features); put("language_features", lf); put("language_mask", mask)
        if enc.w[POS].shape[2] != ctx:
            put("interp_language_features", slots(enc.run(tokens, interp=True), tokens)[0])
    return d


def check_keys(variant, s):
    """Full size only: names and shapes equal the published list (which shows the 16-row table)."""
    want = {x: tuple(v) for x, v in keylists.load(f"litetext_{variant}").items()}
    have = {x: (1, 1, 16, v[3]) if x == POS else v for x, v in s.items()}
    assert have == want, f"{variant}: key list differs from the published one"


def write_config(folder, k, base):
    """What a checkpoint does not say: the number of heads, where it is not width / 64."""
    if k["width"] == 64 * k["heads"] and not base:
        return
    c = {}
    if base and os.path.exists(os.path.join(os.path.dirname(base), "config.json")):
        c = json.load(open(os.path.join(os.path.dirname(base), "config.json")))
        c["detector_config"]["text_config"]["num_attention_heads"] = k["heads"]
    c["text_config"] = {"num_attention_heads": k["heads"]}
    json.dump(c, open(os.path.join(folder, "config.json"), "w"), indent=1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--size", default="tiny", choices=list(DIMS))
    ap.add_argument("--out", required=True)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--only", choices=VARIANTS, help="one variant instead of all three")
    ap.add_argument("--rows", type=int, default=16, choices=(16, 32, 77), help="rows of the position table")
    ap.add_argument("--ctx", type=int, default=16, choices=(16, 32), help="context length that is run")
    ap.add_argument("--vocab", type=int, help="size of the token table (released: 49408); ids are mapped into it")
    ap.add_argument("--wrap", action="store_true", help='nest the dict under "model"')
    ap.add_argument("--base", help="a sam3.pt of the same size: keep its tensors, replace the text encoder only")
    a = ap.parse_args()
    if a.rows < a.ctx:
        ap.error("--rows must be at least --ctx")
    os.makedirs(a.out, exist_ok=True)
    base = torch.load(a.base, map_location="cpu", weights_only=True) if a.base else {}
    base = {x: v for x, v in base.items() if not x.startswith(PREFIX)}
    man = {"dims": DIMS[a.size], "repmixer": REPMIXER, "rows": a.rows, "ctx": a.ctx, "seed": a.seed, "texts": TEXTS,
           "prefix": PREFIX, "files": {}}
    t0 = time.time()
    for v in [a.only] if a.only else VARIANTS:
        k = dict(DIMS[a.size][v], **({"vocab": a.vocab} if a.vocab else {}))
        folder = os.path.join(a.out, v)
        os.makedirs(folder, exist_ok=True)
        if a.size == "full":
            check_keys(v, shapes(v, k, a.rows))
        w = weights(v, k, a.rows, a.seed)
        sd = {**base, **{PREFIX + x: t for x, t in w.items()}}
        torch.save({"model": sd} if a.wrap else sd, os.path.join(folder, f"litetext_{v}.pt"))
        write_config(folder, k, a.base)
        d = outputs(Encoder(w, v, k), a.ctx)
        np.savez(os.path.join(folder, f"io_litetext_{v}.npz"), **d)
        man["files"][f"io_litetext_{v}"] = {x: list(y.shape) for x, y in d.items()}
        params = sum(t.numel() for x, t in w.items() if t.is_floating_point() and "running_" not in x)
        print(f"{time.time()-t0:6.1f}s litetext_{v}: {len(w)} text keys, {len(sd)} keys, {params} parameters, "
              f"{len(d)} stage tensors")
    json.dump(man, open(os.path.join(a.out, "manifest_litetext.json"), "w"), indent=1)


if __name__ == "__main__":
    main()
