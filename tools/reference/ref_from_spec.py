"""SAM 3 written out with ONNX-shaped primitives only (real RoPE, RoIAlign as two
matrices, no scatter, no complex, no nn.Module). Reads the OFFICIAL sam3.pt and checks itself against the npz files of
make_tiny.py.     usage: ref_from_spec.py DIR [--skip-vision]
As a module: load(DIR) first, then the functions.
"""
import json, math, sys
import numpy as np, torch
import torch.nn.functional as F


def load(folder):
    global D, K, W, NH, DM, S
    D = folder
    K = json.load(open(f"{D}/manifest.json"))["dims"]
    W = torch.load(f"{D}/sam3.pt", map_location="cpu", weights_only=True, mmap=True)
    W = W.get("model", W)
    NH, DM = K["nheads"], K["d"]
    S = K["image"] // K["patch"]                   # 72


def lin(x, p):                                     # x [.., in]
    return x @ W[p + ".weight"].t() + W[p + ".bias"]


def ln(x, p, eps=1e-5):
    return F.layer_norm(x, (x.shape[-1],), W[p + ".weight"], W[p + ".bias"], eps)


def ln2d(x, p, eps=1e-6):                          # over channels of NCHW
    u = x.mean(1, keepdim=True); v = ((x - u) ** 2).mean(1, keepdim=True)
    return (x - u) / torch.sqrt(v + eps) * W[p + ".weight"][:, None, None] + W[p + ".bias"][:, None, None]


def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def heads(x, n):                                   # [B,L,C] -> [B,n,L,C/n]
    b, l, c = x.shape
    return x.reshape(b, l, n, c // n).transpose(1, 2)


def attend(q, k, v, bias=None):
    s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if bias is not None:
        s = s + bias
    o = torch.softmax(s, -1) @ v
    b, n, l, c = o.shape
    return o.transpose(1, 2).reshape(b, l, n * c)


def mha(q, k, v, p, n, bias=None):                 # fused in_proj, rows ordered q,k,v
    w, b = W[p + "in_proj_weight"], W[p + "in_proj_bias"]
    c = w.shape[0] // 3
    pr = [heads(x @ w[i * c:(i + 1) * c].t() + b[i * c:(i + 1) * c], n) for i, x in enumerate((q, k, v))]
    return lin(attend(*pr, bias), p + "out_proj")


def mlp(x, p, n, sigmoid=False):                   # ReLU between layers
    for i in range(n):
        x = lin(x, f"{p}.layers.{i}")
        if i < n - 1:
            x = torch.relu(x)
    return torch.sigmoid(x) if sigmoid else x


def conv(x, p, **a):
    return F.conv2d(x, W[p + ".weight"], W[p + ".bias"], **a)


def convt(x, p):
    return F.conv_transpose2d(x, W[p + ".weight"], W[p + ".bias"], stride=2)


def neg(valid):                                    # [B,L] bool -> additive [B,1,1,L]
    return torch.where(valid, 0.0, -1e9)[:, None, None, :]


def sine1(x, d):                                   # x [..] -> [..,d], interleaved sin/cos, x already times 2*pi
    i = torch.arange(d // 2, dtype=torch.float32)
    a = x[..., None] / (10000.0 ** (2 * i / d))    # exponent 2*floor(j/2)/d for j = 2i, 2i+1
    return torch.stack([a.sin(), a.cos()], -1).flatten(-2)


def sine_map(n, d):                                # [1,d,n,n]
    c = torch.arange(1, n + 1, dtype=torch.float32) / (n + 1e-6) * 2 * math.pi
    e = sine1(c, d // 2)
    y = e[:, None, :].expand(n, n, -1); x = e[None].expand(n, n, -1)
    return torch.cat([y, x], -1).permute(2, 0, 1)[None]


# ------------------------------------------------------------------ vision
def rope_tables(n, hd, scale):
    f = 10000.0 ** (-torch.arange(0, hd, 4).float() / hd)          # hd/4 frequencies
    t = torch.arange(n * n)
    ax = (t % n).float()[:, None] * scale * f; ay = (t // n).float()[:, None] * scale * f
    a = torch.cat([ax, ay], -1).repeat_interleave(2, -1)           # [n*n, hd]: x pairs first, then y pairs
    return a.cos(), a.sin()


def rope(x, cs):
    c, s = cs
    x1, x2 = x[..., 0::2], x[..., 1::2]
    return x * c + torch.stack([-x2, x1], -1).flatten(-2) * s


def vit(pix):
    p = "detector.backbone.vision_backbone.trunk."
    x = F.conv2d(pix, W[p + "patch_embed.proj.weight"], None, stride=K["patch"]).permute(0, 2, 3, 1)
    g = K["pretrain"] // K["patch"]
    pe = W[p + "pos_embed"][:, 1:].reshape(1, g, g, -1)
    r = -(-S // g)
    x = ln(x + pe.repeat(1, r, r, 1)[:, :S, :S], p + "ln_pre")
    hd, w = K["width"] // K["heads"], K["window"]
    rw, rg = rope_tables(w, hd, 1.0), rope_tables(S, hd, w / S)
    nw = S // w
    for i in range(K["depth"]):
        q = f"{p}blocks.{i}."
        h = ln(x, q + "norm1")
        glob = i in K["glob"]
        if glob:
            h = h.reshape(1, S * S, -1)
        else:
            h = h.reshape(1, nw, w, nw, w, -1).permute(0, 1, 3, 2, 4, 5).reshape(nw * nw, w * w, -1)
        qkv = lin(h, q + "attn.qkv")
        a, b, c = [heads(t, K["heads"]) for t in qkv.chunk(3, -1)]
        cs = rg if glob else rw
        h = lin(attend(rope(a, cs), rope(b, cs), c), q + "attn.proj")
        if glob:
            h = h.reshape(1, S, S, -1)
        else:
            h = h.reshape(1, nw, nw, w, w, -1).permute(0, 1, 3, 2, 4, 5).reshape(1, S, S, -1)
        x = x + h
        x = x + lin(gelu(lin(ln(x, q + "norm2"), q + "mlp.fc1")), q + "mlp.fc2")
    return x


def neck(x, which):
    x = x.permute(0, 3, 1, 2); out = []
    p = f"detector.backbone.vision_backbone.{which}."
    for i in range(3):
        y = x
        if i == 0:
            y = convt(gelu(convt(y, p + "0.dconv_2x2_0")), p + "0.dconv_2x2_1")
        if i == 1:
            y = convt(y, p + "1.dconv_2x2")
        out.append(conv(conv(y, f"{p}{i}.conv_1x1"), f"{p}{i}.conv_3x3", padding=1))
    return out


# ------------------------------------------------------------------ text
def text(ids):
    p = "detector.backbone.language_backbone."
    e = p + "encoder."
    x = W[e + "token_embedding.weight"][ids] + W[e + "positional_embedding"][:ids.shape[1]]
    n = ids.shape[1]
    causal = torch.full((n, n), -1e9).triu(1)
    for i in range(K["t_layers"]):
        q = f"{e}transformer.resblocks.{i}."
        h = ln(x, q + "ln_1")
        x = x + mha(h, h, h, q + "attn.", K["t_heads"], causal)
        x = x + lin(gelu(lin(ln(x, q + "ln_2"), q + "mlp.c_fc")), q + "mlp.c_proj")
    return lin(ln(x, e + "ln_final"), p + "resizer"), ids != 0


# ------------------------------------------------------------------ geometry
def roi_matrix(lo, hi, n, P=7):
    """[N,P,n] weights of RoIAlign along one axis (legacy: no half-pixel shift, at least one cell, adaptive samples)."""
    size = (hi - lo).clamp(min=1.0)
    cnt = torch.ceil(size / P)
    M = max(1, math.ceil(n / P) + 1)                              # enough for boxes up to one image wide
    M = max(M, int(cnt.max()) if cnt.numel() else 1)
    s = torch.arange(M, dtype=torch.float32); p = torch.arange(P, dtype=torch.float32)
    b = size / P
    c = lo[:, None, None] + p[:, None] * b[:, None, None] + (s + 0.5) * (b / cnt)[:, None, None]
    ok = ((s < cnt[:, None, None]) & (c >= -1) & (c <= n)).float()
    hat = (1 - (c.clamp(0, n - 1)[..., None] - torch.arange(n, dtype=torch.float32)).abs()).clamp(min=0)
    return (hat * ok[..., None]).sum(2) / cnt[:, None, None]


def geometry(boxes, labels, bvalid, feat, pos):
    """boxes [1,N,4] cxcywh, labels [1,N], bvalid [1,N] -> tokens [1,N+1,D], valid. Class token last, no compaction."""
    p = "detector.geometry_encoder."
    fl = feat.flatten(2).transpose(1, 2); pl = pos.flatten(2).transpose(1, 2)
    img = ln(fl, p + "img_pre_norm").transpose(1, 2).reshape(feat.shape)
    cx, cy, w, h = boxes[0].unbind(-1)
    ax = roi_matrix((cx - w / 2) * S, (cx + w / 2) * S, S); ay = roi_matrix((cy - h / 2) * S, (cy + h / 2) * S, S)
    pooled = torch.einsum("npy,cyx,nqx->ncpq", ay, img[0], ax)
    wp = W[p + "boxes_pool_project.weight"]
    e = lin(boxes[0], p + "boxes_direct_project") + pooled.flatten(1) @ wp.flatten(1).t() + W[p + "boxes_pool_project.bias"]
    pe = torch.cat([sine1(cy * 2 * math.pi, DM // 2), sine1(cx * 2 * math.pi, DM // 2), h[:, None], w[:, None]], -1)
    e = e + lin(pe, p + "boxes_pos_enc_project") + W[p + "label_embed.weight"][labels[0]]
    t = torch.cat([e, W[p + "cls_embed.weight"]], 0)[None]
    valid = torch.cat([bvalid, torch.ones(1, 1, dtype=torch.bool)], 1)
    t = ln(lin(t, p + "final_proj"), p + "norm")
    for i in range(K["geo_layers"]):
        q = f"{p}encode.{i}."
        h = ln(t, q + "norm1"); t = t + mha(h, h, h, q + "self_attn.", NH, neg(valid))
        t = t + mha(ln(t, q + "norm2"), fl + pl, fl, q + "cross_attn_image.", NH)
        t = t + lin(torch.relu(lin(ln(t, q + "norm3"), q + "linear1")), q + "linear2")
    return ln(t, p + "encode_norm"), valid


# ------------------------------------------------------------------ detector
def inv_sigmoid(x, eps=1e-3):
    x = x.clamp(0, 1)
    return torch.log(x.clamp(min=eps) / (1 - x).clamp(min=eps))


def detector(fpn, pos, prompt, valid):
    mem = fpn[2].flatten(2).transpose(1, 2); pp = pos.flatten(2).transpose(1, 2)
    kb = neg(valid)
    for i in range(K["enc_layers"]):
        q = f"detector.transformer.encoder.layers.{i}."
        h = ln(mem, q + "norm1"); mem = mem + mha(h + pp, h + pp, h, q + "self_attn.", NH)
        mem = mem + mha(ln(mem, q + "norm2"), prompt, prompt, q + "cross_attn_image.", NH, kb)
        mem = mem + lin(torch.relu(lin(ln(mem, q + "norm3"), q + "linear1")), q + "linear2")
    d = "detector.transformer.decoder."
    ref = torch.sigmoid(W[d + "reference_points.weight"])[None]
    x = torch.cat([W[d + "presence_token.weight"], W[d + "query_embed.weight"]], 0)[None]
    grid = torch.arange(S, dtype=torch.float32) / S
    for i in range(K["dec_layers"]):
        q = f"{d}layers.{i}."
        cx, cy, w, h = ref.unbind(-1)
        sine = torch.cat([sine1(t * 2 * math.pi, DM // 2) for t in (cy, cx, w, h)], -1)
        qp = mlp(sine, d + "ref_point_head", 2)
        qp = torch.cat([torch.zeros(1, 1, DM), qp], 1)

        def rpb(lo, hi, name):                     # [1,Q,S,heads]
            t = (grid[None, None, :, None] - torch.stack([lo, hi], -1)[:, :, None, :]) * 8
            return mlp(t.sign() * torch.log2(t.abs() + 1) / 3, d + name, 2)
        by = rpb(cy - h / 2, cy + h / 2, "boxRPB_embed_y"); bx = rpb(cx - w / 2, cx + w / 2, "boxRPB_embed_x")
        bias = (by[:, :, :, None] + bx[:, :, None]).flatten(2, 3).permute(0, 3, 1, 2)
        bias = torch.cat([torch.zeros(1, NH, 1, S * S), bias], 2)
        x = ln(x + mha(x + qp, x + qp, x, q + "self_attn.", NH), q + "norm2")
        x = ln(x + mha(x + qp, prompt, prompt, q + "ca_text.", NH, kb), q + "catext_norm")
        x = ln(x + mha(x + qp, mem + pp, mem, q + "cross_attn.", NH, bias), q + "norm1")
        x = ln(x + lin(torch.relu(lin(x, q + "linear1")), q + "linear2"), q + "norm3")
        hs = ln(x[:, 1:], d + "norm")
        ref = torch.sigmoid(mlp(hs, d + "bbox_embed", 3) + inv_sigmoid(ref))
    pres = mlp(ln(x[:, :1], d + "presence_token_out_norm"), d + "presence_token_head", 3)[..., 0]
    s = "detector.dot_prod_scoring."
    pm = ln(mlp(prompt, s + "prompt_mlp", 2) + prompt, s + "prompt_mlp.out_norm")
    v = valid.float()[..., None]
    pool = (pm * v).sum(1) / v.sum(1).clamp(min=1)
    logit = (lin(hs, s + "hs_proj") @ lin(pool, s + "prompt_proj")[..., None])[..., 0] / math.sqrt(DM)
    logit = logit.clamp(-12, 12)
    g = "detector.segmentation_head."
    m = mem + mha(ln(mem, g + "cross_attn_norm"), prompt, prompt, g + "cross_attend_prompt.", NH, kb)
    y = m.transpose(1, 2).reshape(1, DM, S, S)
    for i, f in enumerate((fpn[1], fpn[0])):       # only two steps run: three levels, the coarsest replaced by m
        y = f + F.interpolate(y, scale_factor=2, mode="nearest")
        y = conv(y, f"{g}pixel_decoder.conv_layers.{i}", padding=1)
        y = torch.relu(F.group_norm(y, 8, W[f"{g}pixel_decoder.norms.{i}.weight"], W[f"{g}pixel_decoder.norms.{i}.bias"], 1e-5))
    inst = conv(y, g + "instance_seg_head")
    me = mlp(hs, g + "mask_predictor.mask_embed", 3)
    masks = (me @ inst.flatten(2)).reshape(1, -1, 4 * S, 4 * S)
    return dict(mem=mem, boxes=ref, logits=logit, presence=pres, masks=masks, semantic=conv(y, g + "semantic_seg_head"),
                scores=torch.sigmoid(logit) * torch.sigmoid(pres), hs=hs)


# ------------------------------------------------------------------ interactive
def pe_points(xy01):
    c = (2 * xy01 - 1) @ W["tracker.sam_prompt_encoder.pe_layer.positional_encoding_gaussian_matrix"] * (2 * math.pi)
    return torch.cat([c.sin(), c.cos()], -1)


def sam_attn(q, k, v, p, n):
    return lin(attend(*[heads(lin(x, f"{p}.{c}_proj"), n) for x, c in ((q, "q"), (k, "k"), (v, "v"))]), p + ".out_proj")


def interactive(s0, s1, emb, pts, lab, mask=None):
    p, m = "tracker.sam_prompt_encoder.", "tracker.sam_mask_decoder."
    n = K["sam_heads"]
    pts = torch.cat([pts, torch.zeros(1, 1, 2)], 1); lab = torch.cat([lab, -torch.ones(1, 1, dtype=lab.dtype)], 1)
    e = pe_points((pts + 0.5) / K["image"])
    tab = torch.cat([W[p + "not_a_point_embed.weight"]] + [W[f"{p}point_embeddings.{i}.weight"] for i in range(4)], 0)
    sparse = torch.where(lab[..., None] == -1, 0.0, e) + tab[lab + 1]
    if mask is None:
        dense = W[p + "no_mask_embed.weight"].reshape(1, -1, 1, 1)
    else:
        t = gelu(ln2d(conv(mask, p + "mask_downscaling.0", stride=2), p + "mask_downscaling.1"))
        t = gelu(ln2d(conv(t, p + "mask_downscaling.3", stride=2), p + "mask_downscaling.4"))
        dense = conv(t, p + "mask_downscaling.6")
    c = (torch.arange(S, dtype=emb.dtype) + 0.5) / S
    grid = torch.stack([c[None].expand(S, S), c[:, None].expand(S, S)], -1)
    kpe = pe_points(grid).reshape(1, S * S, -1)
    tok = torch.cat([W[m + "obj_score_token.weight"], W[m + "iou_token.weight"], W[m + "mask_tokens.weight"]], 0)[None]
    tok = torch.cat([tok, sparse], 1)
    q, k = tok, (emb + dense).flatten(2).transpose(1, 2)
    for i in range(2):
        l = f"{m}transformer.layers.{i}."
        if i == 0:
            q = sam_attn(q, q, q, l + "self_attn", n)              # replaces, no residual, no positional part
        else:
            q = q + sam_attn(q + tok, q + tok, q, l + "self_attn", n)
        q = ln(q, l + "norm1")
        q = ln(q + sam_attn(q + tok, k + kpe, k, l + "cross_attn_token_to_image", n), l + "norm2")
        q = ln(q + lin(torch.relu(lin(q, l + "mlp.lin1")), l + "mlp.lin2"), l + "norm3")
        k = ln(k + sam_attn(k + kpe, q + tok, q, l + "cross_attn_image_to_token", n), l + "norm4")
    q = ln(q + sam_attn(q + tok, k + kpe, k, m + "transformer.final_attn_token_to_image", n), m + "transformer.norm_final_attn")
    y = k.transpose(1, 2).reshape(1, -1, S, S)
    y = gelu(ln2d(convt(y, m + "output_upscaling.0") + s1, m + "output_upscaling.1"))
    y = gelu(convt(y, m + "output_upscaling.3") + s0)
    hy = torch.stack([mlp(q[:, 2 + i], f"{m}output_hypernetworks_mlps.{i}", 3) for i in range(4)], 1)
    masks = (hy @ y.flatten(2)).reshape(1, 4, 4 * S, 4 * S)
    iou = mlp(q[:, 1], m + "iou_prediction_head", 3, sigmoid=True)
    obj = mlp(q[:, 0], m + "pred_obj_score_head", 3)
    a = (masks[:, 0] > 0.05).float().sum((1, 2)); b = (masks[:, 0] > -0.05).float().sum((1, 2))
    stable = torch.where(b > 0, a / b, torch.ones(1)) >= 0.98
    best = 1 + iou[0, 1:].argmax()
    pick = 0 if bool(stable) else int(best)
    return masks, iou, obj, pick


def show(n, a, b):
    b = torch.from_numpy(b) if isinstance(b, np.ndarray) else b
    a = a.reshape(b.shape)
    print(f"{n:28s} max|d| {(a.float() - b.float()).abs().max().item():.3e}   std {b.float().std().item():.3f}")


def main():
    load(sys.argv[1])
    io = {k: torch.from_numpy(v) for k, v in np.load(f"{D}/io_vision.npz").items()}
    with torch.no_grad():
        if "--skip-vision" in sys.argv:
            fpn = [io[f"fpn_{i}"] for i in range(3)]; pos = sine_map(S, DM)
        else:
            t = vit(io["pixel_values"]); show("trunk", t, io["trunk"])
            fpn, tf = neck(t, "convs"), neck(t, "sam2_convs")
            for i in range(3):
                show(f"fpn_{i}", fpn[i], io[f"fpn_{i}"]); show(f"trk_fpn_{i}", tf[i], io[f"trk_fpn_{i}"])
                show(f"pos_{i}", sine_map(S * 4 // 2 ** i, DM), io[f"pos_{i}"])
            pos = sine_map(S, DM)
            m = "tracker.sam_mask_decoder."
            show("high_res_0", conv(tf[0], m + "conv_s0"), io["trk_high_res_0"]); show("high_res_1", conv(tf[1], m + "conv_s1"), io["trk_high_res_1"])
            show("image_embed", tf[2] + W["tracker.no_mem_embed"].reshape(1, -1, 1, 1), io["trk_image_embed"])
        for c in ("text", "box", "text_2box"):
            it, ip = [{k: torch.from_numpy(v) for k, v in np.load(f"{D}/{n}_{c}.npz").items()} for n in ("io_text", "io_pcs")]
            print("---", c)
            f, v = text(it["input_ids"]); show("text features", f, it["features"])
            b, l = ip["boxes_cxcywh"], ip["box_labels"]
            bv = torch.ones(b.shape[:2], dtype=torch.bool)
            if c == "text":                        # one unused box slot, as a fixed-shape graph would have
                b, l, bv = torch.zeros(1, 1, 4), torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, 1, dtype=torch.bool)
            g, gv = geometry(b, l, bv, fpn[2], pos)
            show("geometry tokens", g[:, -ip["geo.out"].shape[1]:], ip["geo.out"])
            o = detector(fpn, pos, torch.cat([f, g], 1), torch.cat([v, gv], 1))
            for n, k in (("mem", "enc.out"), ("boxes", "pred_boxes_cxcywh"), ("logits", "pred_logits"), ("masks", "pred_masks"), ("semantic", "semantic_seg"), ("scores", "scores")):
                show(n, o[n], ip[k])
            show("presence", o["presence"], ip["presence_logits"][-1])
        for c in ("point", "point_single", "points", "box", "box_point", "mask"):
            ip = {k: torch.from_numpy(v) for k, v in np.load(f"{D}/io_pvs_{c}.npz").items()}
            ms, iou, obj, pick = interactive(io["trk_high_res_0"], io["trk_high_res_1"], io["trk_image_embed"], ip["points"].reshape(1, -1, 2), ip["labels"].reshape(1, -1), ip.get("mask_input"))
            print("---", c, "single-mask pick:", pick)
            show("masks(4)", ms, ip["masks_all4"]); show("iou(4)", iou, ip["iou_all4"]); show("object score", obj, ip["object_score_logits"])
            if not bool(ip["multimask"]):
                show("selected mask", ms[:, pick], ip["masks"])


if __name__ == "__main__":
    main()
