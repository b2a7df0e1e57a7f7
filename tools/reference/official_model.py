"""Meta's own SAM 3 classes at any dims, on a CPU.  Needs the package sam3 (see README.md).

  model, dims = official_model.load("DIR", "sam3.pt")      # DIR made by make_tiny.py (manifest.json holds the dims)
"""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import official_patch; official_patch.install()
import torch, torch.nn as nn
import sam3.model_builder as mb
import sam3.model.sam3_tracker_base as tb
from sam3.model.vitdet import ViT

k = None      # dims in use; set by load()


def mha(bf):
    return mb.MultiheadAttention(num_heads=k["nheads"], dropout=0.1, embed_dim=k["d"], batch_first=bf)

def pe(n=None):
    return mb.PositionEmbeddingSine(num_pos_feats=n or k["d"], normalize=True, scale=None, temperature=10000)

def build():
    d = k["d"]
    vit = ViT(img_size=k["image"], pretrain_img_size=k["pretrain"], patch_size=k["patch"], embed_dim=k["width"],
              depth=k["depth"], num_heads=k["heads"], mlp_ratio=k["mlp"] / k["width"], norm_layer="LayerNorm",
              drop_path_rate=0.1, qkv_bias=True, use_abs_pos=True, tile_abs_pos=True, global_att_blocks=tuple(k["glob"]),
              rel_pos_blocks=(), use_rope=True, use_interp_rope=True, window_size=k["window"],
              pretrain_use_cls_token=True, retain_cls_token=False, ln_pre=True, ln_post=False,
              return_interm_layers=False, bias_patch_embed=False)
    neck = mb.Sam3DualViTDetNeck(position_encoding=pe(), d_model=d, scale_factors=[4.0, 2.0, 1.0, 0.5], trunk=vit,
                                 add_sam2_neck=True)
    text = mb.VETextEncoder(tokenizer=None, d_model=d, width=k["t_width"], heads=k["t_heads"], layers=k["t_layers"],
                            context_length=k["t_ctx"], vocab_size=k["vocab"])
    bb = mb.SAM3VLBackbone(visual=neck, text=text, scalp=1)
    el = mb.TransformerEncoderLayer(activation="relu", d_model=d, dim_feedforward=k["ffn"], dropout=0.1, pos_enc_at_attn=True,
                                    pos_enc_at_cross_attn_keys=False, pos_enc_at_cross_attn_queries=False, pre_norm=True,
                                    self_attention=mha(True), cross_attention=mha(True))
    enc = mb.TransformerEncoderFusion(layer=el, num_layers=k["enc_layers"], d_model=d, num_feature_levels=1, frozen=False,
                                      use_act_checkpoint=True, add_pooled_text_to_img_feat=False, pool_text_with_mask=True)
    dl = mb.TransformerDecoderLayer(activation="relu", d_model=d, dim_feedforward=k["ffn"], dropout=0.1,
                                    cross_attention=mha(False), n_heads=k["nheads"], use_text_cross_attention=True)
    dec = mb.TransformerDecoder(layer=dl, num_layers=k["dec_layers"], num_queries=k["queries"], return_intermediate=True,
                                box_refine=True, num_o2m_queries=0, dac=True, boxRPB="log", d_model=d, frozen=False,
                                interaction_layer=None, dac_use_selfatt_ln=True, resolution=k["image"], stride=k["patch"],
                                use_act_checkpoint=True, presence_token=True)
    tr = mb.TransformerWrapper(encoder=enc, decoder=dec, d_model=d)
    mlp = mb.MLP(input_dim=d, hidden_dim=k["ffn"], output_dim=d, num_layers=2, dropout=0.1, residual=True, out_norm=nn.LayerNorm(d))
    dot = mb.DotProductScoring(d_model=d, d_proj=d, prompt_mlp=mlp)
    seg = mb.UniversalSegmentationHead(hidden_dim=d, upsampling_stages=3, aux_masks=False, presence_head=False,
                                       dot_product_scorer=None, act_ckpt=True, cross_attend_prompt=mha(False),
                                       pixel_decoder=mb.PixelDecoder(num_upsampling_stages=3, interpolation_mode="nearest", hidden_dim=d))
    gl = mb.TransformerEncoderLayer(activation="relu", d_model=d, dim_feedforward=k["ffn"], dropout=0.1, pos_enc_at_attn=False,
                                    pre_norm=True, self_attention=mha(False), pos_enc_at_cross_attn_queries=False,
                                    pos_enc_at_cross_attn_keys=True, cross_attention=mha(False))
    geo = mb.SequenceGeometryEncoder(pos_enc=pe(), encode_boxes_as_points=False, points_direct_project=True, points_pool=True,
                                     points_pos_enc=True, boxes_direct_project=True, boxes_pool=True, boxes_pos_enc=True,
                                     d_model=d, num_layers=k["geo_layers"], layer=gl, use_act_ckpt=True, add_cls=True,
                                     add_post_encode_proj=True)
    # interactive tracker
    ot, om = tb.TwoWayTransformer, tb.MaskDecoder
    tb.TwoWayTransformer = lambda depth, embedding_dim, mlp_dim, num_heads: ot(depth=depth, embedding_dim=embedding_dim,
                                                                             mlp_dim=k["sam_mlp"], num_heads=k["sam_heads"])
    tb.MaskDecoder = lambda **a: om(**{**a, "iou_head_hidden_dim": k["sam_iou_hidden"]})
    cx = mb.CXBlock(dim=d, kernel_size=7, padding=3, layer_scale_init_value=1e-6, use_dwconv=True)
    if k["mem_fuser"] != 4 * d:
        cx.pwconv1, cx.pwconv2 = nn.Linear(d, k["mem_fuser"]), nn.Linear(k["mem_fuser"], d)
    mm = mb.SimpleMaskEncoder(out_dim=k["mem_dim"], in_dim=d, position_encoding=pe(k["mem_dim"]),
                              mask_downsampler=mb.SimpleMaskDownSampler(embed_dim=d, kernel_size=3, stride=2, padding=1),
                              fuser=mb.SimpleFuser(layer=cx, num_layers=2))
    g = k["image"] // k["patch"]
    ra = dict(embedding_dim=d, num_heads=1, downsample_rate=1, dropout=0.1, rope_theta=10000.0, feat_sizes=[g, g])
    tl = mb.TransformerDecoderLayerv2(cross_attention_first=False, activation="relu", dim_feedforward=k["mem_ffn"], dropout=0.1,
                                      pos_enc_at_attn=False, pre_norm=True, self_attention=mb.RoPEAttention(**ra), d_model=d,
                                      pos_enc_at_cross_attn_keys=True, pos_enc_at_cross_attn_queries=False,
                                      cross_attention=mb.RoPEAttention(kv_in_dim=k["mem_dim"], rope_k_repeat=True, **ra))
    te = mb.TransformerEncoderCrossAttention(remove_cross_attention_layers=[], batch_first=True, d_model=d, frozen=False,
                                             pos_enc_at_input=True, layer=tl, num_layers=k["mem_layers"], use_act_checkpoint=False)
    trk = mb.Sam3TrackerPredictor(image_size=k["image"], num_maskmem=7, backbone=None, backbone_stride=k["patch"],
                                  transformer=mb.TransformerWrapper(encoder=te, decoder=None, d_model=d), maskmem_backbone=mm,
                                  multimask_output_in_sam=True, sam_mask_decoder_extra_args={
                                      "dynamic_multimask_via_stability": True, "dynamic_multimask_stability_delta": 0.05,
                                      "dynamic_multimask_stability_thresh": 0.98})
    inst = mb.SAM3InteractiveImagePredictor(trk)
    inst._bb_feat_sizes = [(4 * g, 4 * g), (2 * g, 2 * g), (g, g)]
    m = mb._create_sam3_model(bb, tr, geo, seg, dot, inst, True)
    return m.eval()


def load(folder, checkpoint="sam3.pt", image=None):
    """image: another side of the picture than the one that the checkpoint's rotary tables are for."""
    global k
    k = json.load(open(f"{folder}/manifest.json"))["dims"]
    torch.manual_seed(0)
    if image:
        k = dict(k, image=image)
    big = k["depth"] == 32
    sd = torch.load(f"{folder}/{checkpoint}", map_location="cpu", weights_only=True, mmap=big)
    if big:                                   # no second copy of the weights
        linspace = torch.linspace
        with torch.device("meta"):
            torch.linspace = lambda *a, **q: linspace(*a, **{**q, "device": "cpu"})
            model = build()
        torch.linspace = linspace
    else:
        model = build()
        if image:
            sd = {n: v for n, v in sd.items() if not n.endswith("freqs_cis")}
        for name, v in model.state_dict().items():
            if name.endswith("freqs_cis") and not image:
                assert torch.equal(v, sd["detector." + name]), name
    renamed = {n.replace("detector.", ""): v for n, v in sd.items() if "detector" in n}
    renamed.update({n.replace("tracker.", "inst_interactive_predictor.model."): v for n, v in sd.items() if "tracker" in n})
    missing, unexpected = model.load_state_dict(renamed, strict=False, assign=big)
    if big:
        model.transformer.decoder.compilable_cord_cache = None
        model.backbone.language_backbone.encoder.attn_mask = torch.full((k["t_ctx"],) * 2, float("-inf")).triu_(1)
    missing = [n for n in missing if not (image and n.endswith("freqs_cis"))]
    unexpected = [n for n in unexpected if "maskmem_backbone.out_proj" not in n]     # Meta's class has none where d is 64
    assert not missing and not unexpected, (missing, unexpected)
    return model, k
