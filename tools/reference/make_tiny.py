#!/usr/bin/env python3
"""Builds SAM 3 (micro, tiny, thin or full size) from transformers with deterministic weights, runs the prompts
of cases.py, and stores the inputs and outputs of every stage.

  python make_tiny.py --size tiny --out OUT/tiny            # a few seconds of CPU, ~20 MB
  python make_tiny.py --size thin --out OUT/thin --lean     # 1008 px geometry at tiny widths
  python make_tiny.py --size full --out OUT/full --lean     # ~8 GB RAM, ~3 minutes, 8 GB disk

Written to --out:
  config.json               transformers Sam3VideoConfig
  model.safetensors         Sam3VideoModel layout (detector_model. / tracker_model. / tracker_neck.)
  sam3.pt                   official layout (detector. / tracker.), incl. the complex64 freqs_cis buffers
  io_vision.npz io_text.npz io_pcs_<case>.npz io_pvs_<case>.npz   stage tensors (float32, batch 1)
  manifest.json             dims, case inputs, key -> shape of every npz entry
Weights do not depend on torch's RNG: every tensor comes from numpy Philox keyed by (seed, official-neutral name).
Needs: torch (CPU), transformers >= 5.x, numpy, safetensors. torchvision is replaced by a stub.
"""
import argparse, hashlib, json, os, sys, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tv_stub
tv_stub.install()
import numpy as np
import torch
from transformers import Sam3VideoConfig, Sam3VideoModel, Sam3Model, Sam3TrackerConfig, Sam3TrackerModel
from transformers.models.sam3.modeling_sam3 import box_cxcywh_to_xyxy, inverse_sigmoid
import cases
import keylists
import sam3_keymap as km

# every knob of the architecture; "full" holds the released values
DIMS = {
    "full": dict(image=1008, patch=14, pretrain=336, window=24, width=1024, mlp=4736, depth=32, heads=16,
                 glob=[7, 15, 23, 31], d=256, t_width=1024, t_mlp=4096, t_layers=24, t_heads=16, t_ctx=32,
                 t_proj=512, vocab=49408, geo_layers=3, enc_layers=6, dec_layers=6, nheads=8, ffn=2048,
                 queries=200, roi=7, sam_mlp=2048, sam_iou_hidden=256, sam_heads=8, mem_dim=64, mem_layers=4,
                 mem_ffn=2048, mem_fuser=1024),
    "tiny": dict(image=112, patch=14, pretrain=56, window=4, width=64, mlp=296, depth=4, heads=4,
                 glob=[1, 3], d=32, t_width=32, t_mlp=128, t_layers=2, t_heads=2, t_ctx=32,
                 t_proj=512, vocab=49408, geo_layers=2, enc_layers=2, dec_layers=3, nheads=8, ffn=64,
                 queries=20, roi=7, sam_mlp=64, sam_iou_hidden=32, sam_heads=8, mem_dim=64, mem_layers=1,
                 mem_ffn=64, mem_fuser=64),
    # for files that are committed; all widths differ, so that one taken for another shows
    "micro": dict(image=112, patch=14, pretrain=56, window=4, width=48, mlp=222, depth=4, heads=3,
                  glob=[1, 3], d=32, t_width=40, t_mlp=160, t_layers=2, t_heads=2, t_ctx=32,
                  t_proj=512, vocab=512, geo_layers=2, enc_layers=2, dec_layers=3, nheads=8, ffn=64,
                  queries=20, roi=7, sam_mlp=80, sam_iou_hidden=24, sam_heads=8, mem_dim=64, mem_layers=1,
                  mem_ffn=64, mem_fuser=64),
    # the released geometry (1008 px, 72x72 grid, 24x24 windows, 200 queries) at tiny widths
    "thin": dict(image=1008, patch=14, pretrain=336, window=24, width=64, mlp=296, depth=4, heads=4,
                 glob=[1, 3], d=32, t_width=32, t_mlp=128, t_layers=2, t_heads=2, t_ctx=32,
                 t_proj=512, vocab=49408, geo_layers=2, enc_layers=2, dec_layers=3, nheads=8, ffn=64,
                 queries=200, roi=7, sam_mlp=64, sam_iou_hidden=32, sam_heads=8, mem_dim=64, mem_layers=1,
                 mem_ffn=64, mem_fuser=64),
}


def make_config(k, vit_eps=1e-5):
    g = k["image"] // k["patch"]
    sizes = [[4 * g, 4 * g], [2 * g, 2 * g], [g, g]]
    # official ViT LayerNorm eps is 1e-5 (transformers' default for the ViT is 1e-6)
    bb = dict(model_type="sam3_vit_model", hidden_size=k["width"], intermediate_size=k["mlp"],
              num_hidden_layers=k["depth"], num_attention_heads=k["heads"], image_size=k["image"],
              patch_size=k["patch"], window_size=k["window"], global_attn_indexes=list(k["glob"]),
              pretrain_image_size=k["pretrain"], layer_norm_eps=vit_eps)
    vis = dict(model_type="sam3_vision_model", backbone_config=bb, fpn_hidden_size=k["d"],
               backbone_feature_sizes=sizes)
    txt = dict(model_type="clip_text_model", vocab_size=k["vocab"], hidden_size=k["t_width"],
               intermediate_size=k["t_mlp"], projection_dim=k["t_proj"], num_hidden_layers=k["t_layers"],
               num_attention_heads=k["t_heads"], max_position_embeddings=k["t_ctx"], hidden_act="gelu",
               eos_token_id=k["vocab"] - 1, bos_token_id=k["vocab"] - 2)
    base = dict(hidden_size=k["d"], num_attention_heads=k["nheads"], intermediate_size=k["ffn"])
    det = dict(model_type="sam3", vision_config=vis, text_config=txt,
               geometry_encoder_config=dict(num_layers=k["geo_layers"], roi_size=k["roi"], **base),
               detr_encoder_config=dict(num_layers=k["enc_layers"], **base),
               detr_decoder_config=dict(num_layers=k["dec_layers"], num_queries=k["queries"], **base),
               mask_decoder_config=dict(hidden_size=k["d"], num_attention_heads=k["nheads"]))
    pe = dict(hidden_size=k["d"], image_size=k["image"], patch_size=k["patch"])
    md = dict(hidden_size=k["d"], mlp_dim=k["sam_mlp"], num_attention_heads=k["sam_heads"],
              iou_head_hidden_dim=k["sam_iou_hidden"])
    trk = dict(model_type="sam3_tracker_video", vision_config=vis, prompt_encoder_config=pe,
               mask_decoder_config=md, image_size=k["image"], memory_attention_hidden_size=k["d"],
               memory_attention_num_layers=k["mem_layers"], memory_attention_feed_forward_hidden_size=k["mem_ffn"],
               memory_encoder_hidden_size=k["d"], memory_encoder_output_channels=k["mem_dim"],
               mask_downsampler_embed_dim=k["d"], memory_fuser_embed_dim=k["d"],
               memory_fuser_intermediate_dim=k["mem_fuser"])
    cfg = Sam3VideoConfig(detector_config=det, tracker_config=trk, low_res_mask_size=4 * g)
    tcfg = Sam3TrackerConfig(vision_config=vis, prompt_encoder_config=pe, mask_decoder_config=md)
    return cfg, tcfg


def rng_for(seed, key):
    h = hashlib.sha256(f"{seed}:{key}".encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(h[:8], "little")))


# scales chosen so that scores land on both sides of 0.5 and the single-mask stability test takes both branches (tiny)
GAINS = [("box_head.layer3", 0.3), ("dot_product_scoring.text_proj", 3.0), ("neck.fpn_layers", 0.6),
         ("dot_product_scoring.query_proj", 8.0), ("output_hypernetworks_mlps.0.proj_out", 40.0),
         ("detr_decoder.layers.0.mlp.fc2", 0.5), ("detr_decoder.layers.1.mlp.fc2", 0.5), ("detr_decoder.layers.2.mlp.fc2", 0.5)]


def fill(seed, key, shape):
    """A value for every parameter so that each one visibly moves the outputs."""
    r = rng_for(seed, key)
    n = lambda std, mean=0.0: (r.standard_normal(shape, dtype=np.float32) * std + mean).astype(np.float32)
    leaf = key.split(".")[-1]
    if "norm" in key:
        return n(0.1, 1.0) if leaf == "weight" else n(0.05)
    if "presence_head.layer3.bias" in key:
        return n(0.05, 3.0)
    if leaf == "bias":
        return n(0.05)
    if leaf == "scale":                                     # layer scale of the memory fuser
        return n(0.02, 0.1)
    if key.endswith("positional_embedding") and len(shape) == 2 and shape[0] == 2:
        return n(1.0)                                       # random Fourier matrix of the point encoder
    if "reference_points" in key:
        return n(1.0)
    if "query_embed" in key:
        return n(3.0)                                       # keeps the queries, hence their scores, apart
    if "_token" in key and "embedding" not in key:
        return n(1.0)
    if "token_embedding" in key or "position_embedding" in key:
        return n(0.3)
    if any(s in key for s in ("label_embed", "cls_embed", "point_embed", "no_mask_embed", "no_mem", "no_object",
                              "occlusion", "temporal_positional_encoding", "memory_embedding")) and "layer" not in leaf \
            and "projection" not in key:
        return n(0.5)
    if len(shape) >= 2:
        transposed = ("scale_layers" in key) or ("upscale_conv" in key)
        fan = shape[0] if transposed else int(np.prod(shape[1:]))
        gain = next((g for p, g in GAINS if p in key), 1.0)
        return n(gain / np.sqrt(fan))
    return n(0.3)


def randomise(model, seed):
    with torch.no_grad():
        done = {}
        for k, v in model.state_dict().items():
            key = k.replace("prompt_encoder.shared_embedding", "shared_image_embedding")   # one tensor, two names
            if key not in done:
                done[key] = torch.from_numpy(fill(seed, key, tuple(v.shape)))
            v.copy_(done[key])


def axial_cis(head_dim, n, scale):
    """[n*n, head_dim/2] complex64: first half rotates with x, second half with y."""
    f = 1.0 / (10000.0 ** (torch.arange(0, head_dim, 4)[: head_dim // 4].float() / head_dim))
    t = torch.arange(n * n, dtype=torch.float32)
    x, y = (t % n) * scale, torch.div(t, n, rounding_mode="floor") * scale
    ax, ay = torch.outer(x, f), torch.outer(y, f)
    return torch.cat([torch.polar(torch.ones_like(ax), ax), torch.polar(torch.ones_like(ay), ay)], -1)


def video_to_official(sd, k, seed):
    """Inverse of sam3_keymap for any depth (the official key list of the full model is the template)."""
    full = keylists.load("official")
    g, hd = k["image"] // k["patch"], k["width"] // k["heads"]
    out = {}
    for key, shape in full.items():
        op, hk, row = km.map_key(key)
        if op == "none":
            if key.endswith("freqs_cis"):
                b = int(key.split("blocks.")[1].split(".")[0])
                if b < k["depth"]:
                    out[key] = axial_cis(hd, g, k["window"] / g) if b in k["glob"] else axial_cis(hd, k["window"], 1.0)
            else:                                            # geometry_encoder.points_*: absent from transformers
                s = tuple(k["d"] if x == 256 else x for x in shape)
                out[key] = torch.from_numpy(fill(seed, key, s))
            continue
        if not all(h in sd for h in hk):
            continue
        t = [sd[h] for h in hk]
        if op in ("copy", "dup"):
            out[key] = t[0]
        elif op == "t":
            out[key] = t[0].t().contiguous()
        elif op == "qkv3":
            out[key] = torch.cat(t, 0)
        elif op == "row":
            out[key] = t[0][row:row + 1].clone()
        elif op == "dropcls":
            c = torch.from_numpy(fill(seed, key + ".cls", (1, 1, t[0].shape[2])))
            out[key] = torch.cat([c, t[0]], 1)
    return out


class Rec:
    """Collects named tensors; hook() stores a module's output (and input when asked)."""

    def __init__(self, every=True):
        self.d, self.h = {}, []

    def add(self, name, t):
        if isinstance(t, (tuple, list)):
            t = t[0]
        if t is None:
            return
        a = t.detach().cpu()
        self.d[name] = (a.float() if a.is_floating_point() else a).numpy().copy()

    def hook(self, mod, name, kw=(), inp=False):
        def pre(m, args, kwargs):
            if inp and args:
                self.add(name + "/in", args[0])
            for x in kw:
                if kwargs.get(x) is not None:
                    self.add(f"{name}/in_{x}", kwargs[x])
        self.h.append(mod.register_forward_pre_hook(pre, with_kwargs=True))
        self.h.append(mod.register_forward_hook(lambda m, a, o: self.add(name, o)))

    def close(self):
        for h in self.h:
            h.remove()
        return self.d


def test_image(k, seed):
    """uint8 [3,H,W]: gradients plus filled shapes plus noise."""
    n = k["image"]
    r = rng_for(seed, "image")
    y, x = np.mgrid[0:n, 0:n] / n
    img = np.stack([x, y, 0.5 + 0.5 * np.sin(9 * x + 5 * y)])
    for _ in range(6):
        cx, cy, rad = r.random(3) * [1, 1, 0.2] + [0, 0, 0.05]
        img[:, (x - cx) ** 2 + (y - cy) ** 2 < rad ** 2] = r.random(3)[:, None]
    return (np.clip(img + r.standard_normal(img.shape) * 0.04, 0, 1) * 255).round().astype(np.uint8)


def run_vision(det, neck, trk, img, k, lean):
    rec = Rec()
    x = (torch.from_numpy(img)[None].float() / 255 - 0.5) / 0.5
    rec.add("pixel_values", x)
    bb = det.vision_encoder.backbone
    rec.hook(bb.embeddings.patch_embeddings, "patch_embed")
    rec.hook(bb.embeddings, "after_pos")
    rec.hook(bb.layer_norm, "ln_pre")
    for i, l in enumerate(bb.layers):
        if not lean or i in (0, k["glob"][0], k["depth"] - 1):
            rec.hook(l, f"block_{i:02d}")
            if not lean:
                rec.hook(l.layer_norm1, f"block_{i:02d}/norm1")
                rec.hook(l.rotary_emb, f"block_{i:02d}/rope_cos")
                rec.hook(l.attention, f"block_{i:02d}/attn")
                rec.hook(l.mlp, f"block_{i:02d}/mlp")
    with torch.no_grad():
        v = det.vision_encoder(x)
        h = v.last_hidden_state
        s = k["image"] // k["patch"]
        tf, _ = neck(h.view(1, s, s, -1).permute(0, 3, 1, 2))
    rec.add("trunk", h)
    for i in range(4):
        rec.add(f"fpn_{i}", v.fpn_hidden_states[i])
        rec.add(f"pos_{i}", v.fpn_position_encoding[i])
        rec.add(f"trk_fpn_{i}", tf[i])
    md = trk.mask_decoder
    with torch.no_grad():
        s0, s1 = md.conv_s0(tf[0]), md.conv_s1(tf[1])
        emb = tf[2] + trk.no_memory_embedding.view(1, -1, 1, 1)
    rec.add("trk_high_res_0", s0)
    rec.add("trk_high_res_1", s1)
    rec.add("trk_image_embed", emb)
    return v, [s0, s1, emb], rec.close()


def run_text(det, ids):
    rec = Rec()
    ids = torch.tensor([ids])
    te = det.text_encoder.text_model
    rec.add("input_ids", ids)
    rec.hook(te.embeddings, "embed")
    for i, l in enumerate(te.encoder.layers):
        rec.hook(l, f"layer_{i:02d}")
    rec.hook(te.final_layer_norm, "ln_final")
    with torch.no_grad():
        f = det.get_text_features(input_ids=ids).pooler_output          # causal mask only, like the official code
    rec.add("features", f)
    mask = ids != 0                                                     # official rule: id 0 is padding
    rec.add("valid", mask)
    return f, mask, rec.close()


def run_pcs(det, v, text, valid, boxes, labels, k, lean, with_cls=True):
    """Promptable concept segmentation. boxes: [n,4] cxcywh in 0..1. with_cls=True follows the official code
    (geometry encoder always runs, so a text-only prompt also carries its class token)."""
    rec = Rec()
    fpn, pos = list(v.fpn_hidden_states[:3]), list(v.fpn_position_encoding[:3])
    b = torch.tensor(np.array(boxes, np.float32).reshape(1, -1, 4))
    lb = torch.tensor(np.array(labels, np.int64).reshape(1, -1))
    rec.add("boxes_cxcywh", b); rec.add("box_labels", lb)
    rec.add("text_features", text); rec.add("text_valid", valid)
    with torch.no_grad():
        prompt, pmask = text, valid
        if with_cls or b.shape[1]:
            ge = det.geometry_encoder
            for m, n in [(ge.vision_layer_norm, "geo/img_norm"), (ge.boxes_direct_project, "geo/direct"),
                         (ge.boxes_pool_project, "geo/pool"), (ge.boxes_pos_enc_project, "geo/posproj"),
                         (ge.label_embed, "geo/label"), (ge.final_proj, "geo/final_proj"),
                         (ge.prompt_layer_norm, "geo/tokens")]:
                rec.hook(m, n, inp=n in ("geo/pool", "geo/posproj", "geo/final_proj"))
            for i, l in enumerate(ge.layers):
                rec.hook(l, f"geo/layer_{i}")
            go = ge(box_embeddings=b, box_mask=torch.ones_like(lb, dtype=torch.bool), box_labels=lb,
                    img_feats=fpn, img_pos_embeds=pos)
            rec.add("geo/out", go.last_hidden_state); rec.add("geo/valid", go.attention_mask)
            prompt = torch.cat([text, go.last_hidden_state], 1)
            pmask = torch.cat([valid, go.attention_mask], 1)
        rec.add("prompt", prompt); rec.add("prompt_valid", pmask)
        for i, l in enumerate(det.detr_encoder.layers):
            if not lean or i in (0, k["enc_layers"] - 1):
                rec.hook(l, f"enc/layer_{i}")
        eo = det.detr_encoder(vision_features=[fpn[-1]], text_features=prompt, vision_pos_embeds=[pos[-1]],
                              text_mask=pmask)
        rec.add("enc/out", eo.last_hidden_state)
        dd = det.detr_decoder
        for i, l in enumerate(dd.layers):
            kw = ("query_pos", "vision_cross_attn_mask") if (not lean) else ("query_pos",)
            rec.hook(l, f"dec/layer_{i}", kw=kw)
            if not lean:
                rec.hook(l.self_attn_layer_norm, f"dec/layer_{i}/after_self")
                rec.hook(l.text_cross_attn_layer_norm, f"dec/layer_{i}/after_text")
                rec.hook(l.vision_cross_attn_layer_norm, f"dec/layer_{i}/after_image")
        do = dd(vision_features=eo.last_hidden_state, text_features=eo.text_features,
                vision_pos_encoding=eo.pos_embeds_flattened, text_mask=pmask, spatial_shapes=eo.spatial_shapes)
        rec.add("dec/hs", do.intermediate_hidden_states)          # [layers,1,Q,D], after the output LayerNorm
        rec.add("dec/ref_boxes", do.reference_boxes)              # [layers,1,Q,4], the boxes each layer started from
        rec.add("presence_logits", do.presence_logits)            # [layers,1,1]
        off = dd.box_head(do.intermediate_hidden_states)
        cx = (inverse_sigmoid(do.reference_boxes) + off).sigmoid()
        rec.add("pred_boxes_cxcywh", cx[-1])
        boxes_xyxy = box_cxcywh_to_xyxy(cx[-1])
        rec.add("pred_boxes_xyxy", boxes_xyxy)
        sc = det.dot_product_scoring
        rec.hook(sc.text_mlp_out_norm, "score/prompt_mlp")
        logits = sc(decoder_hidden_states=do.intermediate_hidden_states, text_features=eo.text_features,
                    text_mask=pmask).squeeze(-1)[-1]
        rec.add("pred_logits", logits)
        ms = det.mask_decoder
        rec.hook(ms.prompt_cross_attn, "seg/prompt_attn")
        for i, n in enumerate(ms.pixel_decoder.norms):
            if not lean:
                rec.hook(n, f"seg/gn_{i}")
        rec.hook(ms.pixel_decoder, "seg/pixel")
        rec.hook(ms.mask_embedder, "seg/mask_embed")
        mo = ms(decoder_queries=do.intermediate_hidden_states[-1], backbone_features=fpn,
                encoder_hidden_states=eo.last_hidden_state, prompt_features=prompt, prompt_mask=pmask)
        rec.add("pred_masks", mo.pred_masks)
        rec.add("semantic_seg", mo.semantic_seg)
        rec.add("scores", logits.sigmoid() * do.presence_logits[-1].sigmoid())
    return rec.close()


def run_pvs(trk, feats, points, labels, multimask, mask_in=None):
    """Interactive decoder. points in pixels of the model's input (0..image), labels 1/0, box corners 2/3."""
    rec = Rec()
    p = torch.tensor(np.array(points, np.float32)).reshape(1, 1, -1, 2)
    l = torch.tensor(np.array(labels, np.int64)).reshape(1, 1, -1)
    rec.add("points", p); rec.add("labels", l); rec.add("multimask", torch.tensor(bool(multimask)))
    pe, md = trk.prompt_encoder, trk.mask_decoder
    with torch.no_grad():
        mi = None
        if mask_in is not None:
            mi = torch.from_numpy(mask_in)
            rec.add("mask_input", mi)
        sp, de = pe(input_points=p, input_labels=l, input_boxes=None, input_masks=mi)
        rec.add("sparse", sp); rec.add("dense", de)
        ipe = trk.get_image_wide_positional_embeddings()
        rec.add("image_pe", ipe)
        for i, ly in enumerate(md.transformer.layers):
            rec.hook(ly, f"twoway_{i}")
        rec.hook(md.transformer, "tokens_out")
        rec.hook(md.upscale_conv1, "up1"); rec.hook(md.upscale_conv2, "up2")
        m, iou, tok, obj = md(image_embeddings=feats[2], image_positional_embeddings=ipe,
                              sparse_prompt_embeddings=sp, dense_prompt_embeddings=de, multimask_output=multimask,
                              high_resolution_features=feats[:2])
        rec.add("masks", m); rec.add("iou", iou); rec.add("object_score_logits", obj)
        # all four raw candidates, before any selection
        md.dynamic_multimask_via_stability, keep = False, md.dynamic_multimask_via_stability
        a = md(image_embeddings=feats[2], image_positional_embeddings=ipe, sparse_prompt_embeddings=sp,
               dense_prompt_embeddings=de, multimask_output=False, high_resolution_features=feats[:2])
        b = md(image_embeddings=feats[2], image_positional_embeddings=ipe, sparse_prompt_embeddings=sp,
               dense_prompt_embeddings=de, multimask_output=True, high_resolution_features=feats[:2])
        md.dynamic_multimask_via_stability = keep
        rec.add("masks_all4", torch.cat([a[0], b[0]], 2)); rec.add("iou_all4", torch.cat([a[1], b[1]], 2))
        rec.add("stability", md._get_stability_scores(a[0]))
    return rec.close()


def centre_scores(m, k, seed):
    """A random model gives all queries nearly the same score, and that far from 0.5. Shift the query projection so
    that the scores of every case straddle 0.5: prompt_c . (bias + W mean_hs_c) = 0 for each case c, solved for the
    bias by least squares with a little ridge. The shift is rounded to 1/64, so it is the same on every machine."""
    if k["depth"] > 8:
        return                                              # full size: costs forward passes, and is not needed
    det = m.detector_model
    v, _, _ = run_vision(det, m.tracker_neck, m.tracker_model, test_image(k, seed), k, True)
    s = det.dot_product_scoring
    w = s.query_proj.weight.detach().double()
    means, prompts = [], []
    for word, boxes, labels in cases.concepts(k["image"] // k["patch"]).values():
        f, valid, _ = run_text(det, cases.tokens(word, k))
        r = {n: torch.from_numpy(t) for n, t in run_pcs(det, v, f, valid, boxes, labels, k, True).items()}
        keep = r["prompt_valid"][0][:, None]
        pooled = (r["score/prompt_mlp"][0] * keep).sum(0) / keep.sum()
        with torch.no_grad():
            prompts.append(s.text_proj(pooled).double())
        means.append(w @ r["dec/hs"][-1, 0].double().mean(0))
    means, prompts = torch.stack(means), torch.stack(prompts)
    base = means.mean(0)
    wanted = -(prompts * (means - base)).sum(1)
    gram = prompts @ prompts.t()
    gram += 1e-3 * gram.diagonal().mean() * torch.eye(len(gram), dtype=torch.float64)
    shift = prompts.t() @ torch.linalg.solve(gram, wanted) - base
    with torch.no_grad():
        s.query_proj.bias.copy_((shift * 64).round() / 64)


def build(size="tiny", seed=0, vit_eps=1e-5, dtype="float32", **over):
    """dtype: the weights are rounded to it, so that a checkpoint stored in it holds exactly what is computed with."""
    k = dict(DIMS[size], **over)
    cfg, tcfg = make_config(k, vit_eps)
    with torch.device("meta"):
        m = Sam3VideoModel(cfg)
    m = m.to_empty(device="cpu")
    randomise(m, seed)
    # non-persistent buffers (positions, inverse frequencies) are lost on meta; rebuild them
    for mod in m.modules():
        if type(mod).__name__ == "Sam3ViTLayer":
            mod.position_ids.copy_(mod.precompute_positions(mod.config, mod.window_size))
        if type(mod).__name__ == "Sam3ViTRotaryEmbedding":
            inv, _ = mod.compute_axial_rope_parameters(mod.config)
            mod.inv_freq.copy_(inv); mod.original_inv_freq.copy_(inv)
        if type(mod).__name__ == "CLIPTextEmbeddings":
            mod.position_ids.copy_(torch.arange(mod.position_ids.shape[-1]).expand((1, -1)))
    m.eval()
    centre_scores(m, k, seed)
    if dtype != "float32":
        with torch.no_grad():
            for p in m.state_dict().values():
                if p.is_floating_point():
                    p.copy_(p.to(getattr(torch, dtype)))
    # image-only view of the tracker (shares no code with the video model beyond weights)
    with torch.device("meta"):
        t = Sam3TrackerModel(tcfg)
    sd = m.state_dict()
    t.prompt_encoder.to_empty(device="cpu"); t.mask_decoder.to_empty(device="cpu")
    t.shared_image_embedding.to_empty(device="cpu")
    for sub in ("prompt_encoder", "mask_decoder", "shared_image_embedding"):
        part = {x[len("tracker_model." + sub) + 1:]: v for x, v in sd.items() if x.startswith("tracker_model." + sub + ".")}
        getattr(t, sub).load_state_dict(part, strict=True, assign=True)
    t.no_memory_embedding = torch.nn.Parameter(sd["tracker_model.no_memory_embedding"].clone())
    t.eval()
    return k, cfg, m, t


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--size", default="tiny", choices=list(DIMS))
    ap.add_argument("--out", required=True)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--vit-eps", type=float, default=1e-5)
    ap.add_argument("--vocab", type=int, default=None, help="size of the token table (released: 49408)")
    ap.add_argument("--lean", action="store_true", help="fewer inner tensors (for the full size)")
    ap.add_argument("--no-weights", action="store_true")
    ap.add_argument("--no-io", action="store_true", help="weights, config.json and manifest.json only")
    ap.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"],
                    help="dtype of the stored checkpoints; what is stored beside them is computed with the rounded weights")
    a = ap.parse_args()
    torch.manual_seed(0)
    os.makedirs(a.out, exist_ok=True)
    t0 = time.time()
    over = {"vocab": a.vocab} if a.vocab else {}
    k, cfg, m, trk = build(a.size, a.seed, a.vit_eps, a.dtype, **over)
    det, neck = m.detector_model, m.tracker_neck
    print(f"built in {time.time()-t0:.1f}s, {sum(p.numel() for p in m.parameters())/1e6:.2f} M parameters")
    if not a.no_weights:
        from safetensors.torch import save_file
        dt = getattr(torch, a.dtype)
        sd = {x: v.to(dt).contiguous().clone() for x, v in m.state_dict().items()}
        save_file(sd, os.path.join(a.out, "model.safetensors"), metadata={"format": "pt"})
        cfg.save_pretrained(a.out)
        off = video_to_official(sd, k, a.seed)
        torch.save(off, os.path.join(a.out, "sam3.pt"))
        print("official keys", len(off), "hf keys", len(sd))
        del sd, off
    man = {"dims": k, "seed": a.seed, "vit_eps": a.vit_eps, "files": {}}

    def save(name, d):
        np.savez(os.path.join(a.out, name + ".npz"), **{x.replace("/", "."): y for x, y in d.items()})
        man["files"][name] = {x.replace("/", "."): list(y.shape) for x, y in d.items()}
        print(f"{time.time()-t0:6.1f}s {name}: {len(d)} tensors")

    if a.no_io:
        json.dump(man, open(os.path.join(a.out, "manifest.json"), "w"), indent=1)
        return
    img = test_image(k, a.seed)
    v, feats, d = run_vision(det, neck, trk, img, k, a.lean)
    d["image_u8"] = img
    save("io_vision", d)
    for case, (word, boxes, labels) in cases.concepts(k["image"] // k["patch"]).items():
        f, valid, dt = run_text(det, cases.tokens(word, k))
        save("io_text_" + case, dt)
        save("io_pcs_" + case, run_pcs(det, v, f, valid, boxes, labels, k, a.lean))
        if case == "text":
            save("io_pcs_text_nocls", run_pcs(det, v, f, valid, [], [], k, a.lean, with_cls=False))
    clicks = cases.points(k["image"])
    clicks["point_single"] = clicks["point"]
    for case, (p, l, masked) in clicks.items():
        if p:
            mask = cases.previous_mask(4 * k["image"] // k["patch"])[None, None] if masked else None
            save("io_pvs_" + case, run_pvs(trk, feats, p, l, case in ("point", "box"), mask))
    json.dump(man, open(os.path.join(a.out, "manifest.json"), "w"), indent=1)
    print(f"done in {time.time()-t0:.1f}s")


if __name__ == "__main__":
    main()
