"""Name mapping between the official sam3.pt layout and transformers' Sam3VideoModel layout.

RULES: (official regex, HF template, op). Ops:
  copy      same tensor
  qkv3      split dim 0 in three equal parts -> {q,k,v}_proj (template has %s)
  t         transpose (2-D)
  dropcls   drop row 0 of dim 1 (position embedding of the class token)
  row       one row of a stacked HF tensor (template names the stacked tensor)
  dup       same tensor stored under two HF names
  none      no HF counterpart (unused there)
"""
import re

D, T = "detector_model.", "tracker_model."
V = r"detector\.backbone\.vision_backbone\."
L = r"detector\.backbone\.language_backbone\."
G = r"detector\.geometry_encoder\."
E = r"detector\.transformer\.encoder\.layers\.(\d+)\."
X = r"detector\.transformer\.decoder\."
S = r"detector\.segmentation_head\."
P = r"detector\.dot_prod_scoring\."
K = r"tracker\."
PE = r"tracker\.sam_prompt_encoder\."
MD = r"tracker\.sam_mask_decoder\."
MB = r"tracker\.maskmem_backbone\."
WB = r"(weight|bias)"


def _mha(off, hf, out="o_proj"):
    return [(off + r"in_proj_" + WB, hf + r"%s_proj.\g<wb>", "qkv3"),
            (off + r"out_proj\." + WB, hf + out + r".\g<wb>", "copy")]


def _lin(off, hf):
    return [(off + r"\." + WB, hf + r".\g<wb>", "copy")]


RULES = []
b, hb = V + r"trunk\.", D + "vision_encoder.backbone."
RULES += [(b + r"pos_embed", hb + "embeddings.position_embeddings", "dropcls"),
          (b + r"patch_embed\.proj\.weight", hb + "embeddings.patch_embeddings.projection.weight", "copy"),
          (b + r"blocks\.(\d+)\.attn\.freqs_cis", "", "none"),
          (b + r"blocks\.(\d+)\.attn\.qkv\." + WB, hb + r"layers.\1.attention.%s_proj.\g<wb>", "qkv3")]
RULES += _lin(b + "ln_pre", hb + "layer_norm")
for o, h in [("norm1", "layer_norm1"), ("norm2", "layer_norm2"), (r"attn\.proj", "attention.o_proj"),
             (r"mlp\.fc1", "mlp.fc1"), (r"mlp\.fc2", "mlp.fc2")]:
    RULES += _lin(b + r"blocks\.(\d+)\." + o, hb + r"layers.\1." + h)
for o, h in [("convs", D + "vision_encoder.neck."), ("sam2_convs", "tracker_neck.")]:
    for oo, hh in [("dconv_2x2_0", "scale_layers.0"), ("dconv_2x2_1", "scale_layers.2"), ("dconv_2x2", "scale_layers.0"),
                   ("conv_1x1", "proj1"), ("conv_3x3", "proj2")]:
        RULES += _lin(V + o + r"\.(\d+)\." + oo, h + r"fpn_layers.\1." + hh)
te = D + "text_encoder.text_model."
RULES += [(L + r"encoder\.token_embedding\.weight", te + "embeddings.token_embedding.weight", "copy"),
          (L + r"encoder\.positional_embedding", te + "embeddings.position_embedding.weight", "copy"),
          (L + r"encoder\.text_projection", D + "text_encoder.text_projection.weight", "t")]
RULES += _lin(L + r"encoder\.ln_final", te + "final_layer_norm")
RULES += _lin(L + "resizer", D + "text_projection")
rb = L + r"encoder\.transformer\.resblocks\.(\d+)\."
RULES += _mha(rb + r"attn\.", te + r"encoder.layers.\1.self_attn.", "out_proj")
for o, h in [("ln_1", "layer_norm1"), ("ln_2", "layer_norm2"), (r"mlp\.c_fc", "mlp.fc1"), (r"mlp\.c_proj", "mlp.fc2")]:
    RULES += _lin(rb + o, te + r"encoder.layers.\1." + h)
hg = D + "geometry_encoder."
RULES += [(G + r"points_(direct_project|pool_project|pos_enc_project)\." + WB, "", "none"),
          (G + r"(label_embed|cls_embed)\.weight", hg + r"\1.weight", "copy"),
          (G + r"(boxes_direct_project|boxes_pool_project|boxes_pos_enc_project|final_proj)\." + WB,
           hg + r"\1.\g<wb>", "copy")]
for o, h in [("norm", "prompt_layer_norm"), ("img_pre_norm", "vision_layer_norm"), ("encode_norm", "output_layer_norm")]:
    RULES += _lin(G + o, hg + h)
for off, hf in [(G + r"encode\.(\d+)\.", hg + r"layers.\1."), (E, D + r"detr_encoder.layers.\1.")]:
    RULES += _mha(off + r"self_attn\.", hf + "self_attn.") + _mha(off + r"cross_attn_image\.", hf + "cross_attn.")
    for o, h in [("linear1", "mlp.fc1"), ("linear2", "mlp.fc2"), ("norm1", "layer_norm1"), ("norm2", "layer_norm2"),
                 ("norm3", "layer_norm3")]:
        RULES += _lin(off + o, hf + h)
hx = D + "detr_decoder."
xl, hxl = X + r"layers\.(\d+)\.", hx + r"layers.\1."
RULES += _mha(xl + r"self_attn\.", hxl + "self_attn.") + _mha(xl + r"ca_text\.", hxl + "text_cross_attn.")
RULES += _mha(xl + r"cross_attn\.", hxl + "vision_cross_attn.")
for o, h in [("norm1", "vision_cross_attn_layer_norm"), ("catext_norm", "text_cross_attn_layer_norm"),
             ("norm2", "self_attn_layer_norm"), ("norm3", "mlp_layer_norm"), ("linear1", "mlp.fc1"), ("linear2", "mlp.fc2")]:
    RULES += _lin(xl + o, hxl + h)
RULES += [(X + r"(query_embed|reference_points|presence_token)\.weight", hx + r"\1.weight", "copy")]
RULES += _lin(X + "norm", hx + "output_layer_norm") + _lin(X + "presence_token_out_norm", hx + "presence_layer_norm")
for o, h, n in [("bbox_embed", "box_head", 3), ("presence_token_head", "presence_head", 3), ("ref_point_head", "ref_point_head", 2),
                ("boxRPB_embed_x", "box_rpb_embed_x", 2), ("boxRPB_embed_y", "box_rpb_embed_y", 2)]:
    for i in range(n):
        RULES += _lin(X + o + r"\.layers\.%d" % i, hx + h + ".layer%d" % (i + 1))
hs = D + "mask_decoder."
RULES += [(S + r"pixel_decoder\.(conv_layers|norms)\.(\d+)\." + WB, hs + r"pixel_decoder.\1.\2.\g<wb>", "copy"),
          (S + r"mask_predictor\.mask_embed\.layers\.(\d+)\." + WB, hs + r"mask_embedder.layers.\1.\g<wb>", "copy")]
RULES += _mha(S + r"cross_attend_prompt\.", hs + "prompt_cross_attn.")
for o, h in [("cross_attn_norm", "prompt_cross_attn_norm"), ("semantic_seg_head", "semantic_projection"),
             ("instance_seg_head", "instance_projection")]:
    RULES += _lin(S + o, hs + h)
hp = D + "dot_product_scoring."
for o, h in [(r"prompt_mlp\.layers\.0", "text_mlp.layer1"), (r"prompt_mlp\.layers\.1", "text_mlp.layer2"),
             (r"prompt_mlp\.out_norm", "text_mlp_out_norm"), ("prompt_proj", "text_proj"), ("hs_proj", "query_proj")]:
    RULES += _lin(P + o, hp + h)
# ---- tracker ----
for o, h in [("maskmem_tpos_enc", "memory_temporal_positional_encoding"), ("no_mem_embed", "no_memory_embedding"),
             ("no_mem_pos_enc", "no_memory_positional_encoding"), ("no_obj_ptr", "no_object_pointer"),
             ("no_obj_embed_spatial", "occlusion_spatial_embedding_parameter")]:
    RULES += [(K + o, T + h, "copy")]
RULES += _lin(K + "mask_downsample", T + "mask_downsample")
RULES += _lin(K + "obj_ptr_tpos_proj", T + "temporal_positional_encoding_projection_layer")


def _mlp3(off, hf):
    r = []
    for i, n in enumerate(["proj_in", "layers.0", "proj_out"]):
        r += _lin(off + r"\.layers\.%d" % i, hf + "." + n)
    return r


RULES += _mlp3(K + "obj_ptr_proj", T + "object_pointer_proj")
ma, hma = K + r"transformer\.encoder\.layers\.(\d+)\.", T + r"memory_attention.layers.\1."
for at in ("self_attn", "cross_attn_image"):
    RULES += [(ma + at + r"\.(q|k|v)_proj\." + WB, hma + at + r".\2_proj.\g<wb>", "copy")]
    RULES += _lin(ma + at + r"\.out_proj", hma + at + ".o_proj")
RULES += [(ma + r"(linear1|linear2)\." + WB, hma + r"\2.\g<wb>", "copy"),
          (ma + r"norm(\d)\." + WB, hma + r"layer_norm\2.\g<wb>", "copy")]
RULES += _lin(K + r"transformer\.encoder\.norm", T + "memory_attention.layer_norm")
hmb = T + "memory_encoder."
for i in range(4):
    RULES += _lin(MB + r"mask_downsampler\.encoder\.%d" % (3 * i), hmb + "mask_downsampler.layers.%d.conv" % i)
    RULES += _lin(MB + r"mask_downsampler\.encoder\.%d" % (3 * i + 1), hmb + "mask_downsampler.layers.%d.layer_norm" % i)
RULES += _lin(MB + r"mask_downsampler\.encoder\.12", hmb + "mask_downsampler.final_conv")
RULES += _lin(MB + "pix_feat_proj", hmb + "feature_projection") + _lin(MB + "out_proj", hmb + "projection")
fu, hfu = MB + r"fuser\.layers\.(\d+)\.", hmb + r"memory_fuser.layers.\1."
RULES += [(fu + "gamma", hfu + "scale", "copy")] + _lin(fu + "dwconv", hfu + "depthwise_conv")
RULES += _lin(fu + "norm", hfu + "layer_norm") + _lin(fu + "pwconv1", hfu + "pointwise_conv1")
RULES += _lin(fu + "pwconv2", hfu + "pointwise_conv2")
hpe = T + "prompt_encoder."
RULES += [(PE + r"pe_layer\.positional_encoding_gaussian_matrix", T + "shared_image_embedding.positional_embedding|" +
           hpe + "shared_embedding.positional_embedding", "dup"),
          (PE + r"point_embeddings\.(\d)\.weight", hpe + "point_embed.weight", "row"),
          (PE + r"(not_a_point_embed|no_mask_embed)\.weight", hpe + r"\1.weight", "copy")]
for i, n in [(0, "conv1"), (1, "layer_norm1"), (3, "conv2"), (4, "layer_norm2"), (6, "conv3")]:
    RULES += _lin(PE + r"mask_downscaling\.%d" % i, hpe + "mask_embed." + n)
hmd = T + "mask_decoder."
RULES += [(MD + r"(iou_token|mask_tokens|obj_score_token)\.weight", hmd + r"\1.weight", "copy"),
          (MD + r"(conv_s0|conv_s1)\." + WB, hmd + r"\1.\g<wb>", "copy")]
for i, n in [(0, "upscale_conv1"), (1, "upscale_layer_norm"), (3, "upscale_conv2")]:
    RULES += _lin(MD + r"output_upscaling\.%d" % i, hmd + n)
RULES += _mlp3(MD + r"output_hypernetworks_mlps\.(\d+)", hmd + r"output_hypernetworks_mlps.\1")
RULES += _mlp3(MD + "iou_prediction_head", hmd + "iou_prediction_head")
RULES += _mlp3(MD + "pred_obj_score_head", hmd + "pred_obj_score_head")
tw, htw = MD + r"transformer\.layers\.(\d+)\.", hmd + r"transformer.layers.\1."
RULES += [(tw + r"(self_attn|cross_attn_token_to_image|cross_attn_image_to_token)\.(q|k|v)_proj\." + WB,
           htw + r"\2.\3_proj.\g<wb>", "copy"),
          (tw + r"(self_attn|cross_attn_token_to_image|cross_attn_image_to_token)\.out_proj\." + WB,
           htw + r"\2.o_proj.\g<wb>", "copy"),
          (tw + r"norm(\d)\." + WB, htw + r"layer_norm\2.\g<wb>", "copy")]
RULES += _lin(tw + r"mlp\.lin1", htw + "mlp.proj_in") + _lin(tw + r"mlp\.lin2", htw + "mlp.proj_out")
fa, hfa = MD + r"transformer\.final_attn_token_to_image\.", hmd + "transformer.final_attn_token_to_image."
RULES += [(fa + r"(q|k|v)_proj\." + WB, hfa + r"\1_proj.\g<wb>", "copy")] + _lin(fa + "out_proj", hfa + "o_proj")
RULES += _lin(MD + r"transformer\.norm_final_attn", hmd + "transformer.layer_norm_final_attn")

_COMPILED = [(re.compile("^" + p.replace(WB, r"(?P<wb>weight|bias)") + "$"), t, op) for p, t, op in RULES]


def map_key(k):
    """official key -> (op, [hf keys], row index or None)"""
    hits = [(m, t, op) for r, t, op in _COMPILED for m in [r.match(k)] if m]
    assert len(hits) == 1, (k, len(hits))
    m, t, op = hits[0]
    if op == "none":
        return op, [], None
    if op == "dup":
        return op, t.split("|"), None
    s = m.expand(t.replace("%s", "@")) if t else ""
    if op == "qkv3":
        return op, [s.replace("@", c) for c in "qkv"], None
    if op == "row":
        return op, [s], int(m.group(1))
    return op, [s], None


def official_to_video(sd):
    import torch
    out, rows = {}, {}
    for k, v in sd.items():
        op, hk, r = map_key(k)
        if op == "copy":
            out[hk[0]] = v
        elif op == "t":
            out[hk[0]] = v.t().contiguous()
        elif op == "dropcls":
            out[hk[0]] = v[:, 1:]
        elif op == "dup":
            for h in hk:
                out[h] = v
        elif op == "qkv3":
            for h, c in zip(hk, v.chunk(3, 0)):
                out[h] = c
        elif op == "row":
            rows.setdefault(hk[0], {})[r] = v
    for h, d in rows.items():
        out[h] = torch.cat([d[i] for i in sorted(d)], 0)
    return out


if __name__ == "__main__":
    import keylists
    off, vid = keylists.load("official"), keylists.load("transformers")
    seen, table = {}, {}
    for k, s in off.items():
        op, hk, r = map_key(k)
        table[k] = {"shape": s, "op": op, "hf": hk, **({"row": r} if r is not None else {})}
        for h in hk:
            exp = {"copy": lambda: s, "dup": lambda: s, "t": lambda: s[::-1],
                   "dropcls": lambda: [s[0], s[1] - 1, *s[2:]], "qkv3": lambda: [s[0] // 3, *s[1:]],
                   "row": lambda: [4, *s[1:]]}[op]()
            assert vid[h] == exp, (k, h, vid.get(h), exp)
            seen[h] = seen.get(h, 0) + 1
    missing = set(vid) - set(seen)
    assert not missing, missing
    print("official keys", len(off), "-> video keys", len(seen), "all covered; unmapped official:",
          len([1 for v in table.values() if v["op"] == "none"]))
