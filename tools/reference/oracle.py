"""What the graphs of a model folder must give, computed by Meta's own classes on a CPU in float32.

  from oracle import Oracle
  o = Oracle("DIR")                    # made by make_tiny.py
  features = o.image(image)            # u8 [3,S,S]
  lf, lm = o.language(tokens)          # i64 [B,32]
  o.concept(features, lf[:1], lm[:1], [[.5, .5, .2, .2]], [1])
  o.point(features, [[40, 50]], [1])

Names, shapes and meanings of what comes back are those of models/sam3/contract.h with B = 1; `scores`, `boxes` and
`mask_logits` of a concept hold all queries, as the static form of the decoder does.
"""
import os, sys, warnings
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
warnings.filterwarnings("ignore", message="CUDA is not available")
import official_model
import numpy as np
import torch
from sam3.model.data_misc import FindStage

_STAGE = FindStage(img_ids=torch.tensor([0]), text_ids=torch.tensor([0]), input_boxes=None, input_boxes_mask=None,
                   input_boxes_label=None, input_points=None, input_points_mask=None)


def _numpy(d):
    return {k: v.detach().contiguous().numpy().copy() for k, v in d.items()}


def _tensor(a, dtype):
    return torch.from_numpy(np.ascontiguousarray(np.asarray(a, dtype)))


class Oracle:
    def __init__(self, folder, checkpoint="sam3.pt", iou_sigmoid=True, image=None):
        self.model, self.dims = official_model.load(folder, checkpoint, image)
        self.grid = self.dims["image"] // self.dims["patch"]
        self.points = self.model.inst_interactive_predictor.model
        self.points.sam_mask_decoder.iou_prediction_head.sigmoid_output = iou_sigmoid       # SAM 3.1 has none

    @torch.no_grad()
    def image(self, image):
        """The contract's seven tensors and those they come from: trunk, fpn_0, fpn_1, pos_2."""
        m, caught = self.model, {}
        hook = m.backbone.vision_backbone.trunk.register_forward_hook(
            lambda mod, a, o: caught.__setitem__("trunk", o[-1] if isinstance(o, (list, tuple)) else o))
        out = m.backbone.forward_image((_tensor(image, np.uint8)[None].float() / 255 - 0.5) / 0.5)
        hook.remove()
        fpn, pos = out["backbone_fpn"], out["vision_pos_enc"]
        trk, decoder = out["sam2_backbone_out"]["backbone_fpn"], self.points.sam_mask_decoder
        first, pixel = m.transformer.encoder.layers[0], m.segmentation_head.pixel_decoder
        memory, where = fpn[2].flatten(2).transpose(1, 2), pos[2].flatten(2).transpose(1, 2)
        h = first.norm1(memory)
        fused = memory + first.self_attn(query=h + where, key=h + where, value=h)[0]
        return _numpy({
            "backbone_fpn_2": fpn[2], "fusion_embed": fused,
            "mask_fpn_0": pixel.conv_layers[1](fpn[0]), "mask_fpn_1": pixel.conv_layers[0](fpn[1]),
            "point_fpn_0": decoder.conv_s0(trk[0]), "point_fpn_1": decoder.conv_s1(trk[1]),
            "point_embed": trk[2] + self.points.no_mem_embed.reshape(1, -1, 1, 1),
            "trunk": caught["trunk"], "fpn_0": fpn[0], "fpn_1": fpn[1], "pos_2": pos[2]})

    @torch.no_grad()
    def language(self, tokens):
        """language_features f32 [B,32,D], language_mask bool [B,32] (True = padding)."""
        tower = self.model.backbone.language_backbone
        tower.tokenizer = lambda text, context_length: _tensor(tokens, np.int64)
        out = self.model.backbone.forward_text(["?"] * len(tokens), device="cpu")
        return out["language_features"].transpose(0, 1).contiguous().numpy().copy(), out["language_mask"].numpy().copy()

    @torch.no_grad()
    def concept(self, features, language_features, language_mask, boxes=(), labels=()):
        """One prompt: language_features [1,32,D]; boxes [n,4] (cx, cy, w, h in 0..1), labels [n], n may be 0."""
        prompt = self.model._get_dummy_prompt()
        for b, l in zip(boxes, labels):
            prompt.append_boxes(_tensor(b, np.float32)[None, None], _tensor([[bool(l)]], bool))
        seen, hooks = {}, []
        first = self.model.transformer.encoder.layers[0]
        hooks.append(first.norm2.register_forward_pre_hook(lambda mod, a: seen.__setitem__("fusion_embed", a[0])))
        out = self.model.forward_grounding(
            backbone_out={"vision_pos_enc": [_tensor(features["pos_2"], np.float32)] * 3,
                          "backbone_fpn": [_tensor(features[n], np.float32) for n in ("fpn_0", "fpn_1", "backbone_fpn_2")],
                          "language_mask": _tensor(language_mask, bool),
                          "language_features": _tensor(language_features, np.float32).transpose(0, 1)},
            find_input=_STAGE, geometric_prompt=prompt, find_target=None)
        for h in hooks:
            h.remove()
        # what image() computes apart is what the model really passes on
        assert np.abs(seen["fusion_embed"].numpy() - features["fusion_embed"]).max() < 1e-4
        presence = out["presence_logit_dec"].sigmoid().reshape(1)
        return _numpy({"scores": out["pred_logits"].sigmoid()[..., 0] * presence, "boxes": out["pred_boxes_xyxy"],
                       "mask_logits": out["pred_masks"], "presence": presence})

    @torch.no_grad()
    def point(self, features, coords, labels, mask_input=None):
        """One object: coords [n,2] in pixels of the model's picture, labels [n]; mask_input [4g,4g] or None."""
        encoder, decoder = self.points.sam_prompt_encoder, self.points.sam_mask_decoder
        c, l = _tensor(coords, np.float32).reshape(1, -1, 2), _tensor(labels, np.int64).reshape(1, -1)
        mask = None if mask_input is None else _tensor(mask_input, np.float32)[None, None]
        sparse, dense = encoder(points=(c, l), boxes=None, masks=mask)
        f = {n: _tensor(features[n], np.float32) for n in ("point_fpn_0", "point_fpn_1", "point_embed")}
        masks, iou, _, score = decoder.predict_masks(
            image_embeddings=f["point_embed"], image_pe=encoder.get_dense_pe(), sparse_prompt_embeddings=sparse,
            dense_prompt_embeddings=dense, repeat_image=False, high_res_features=[f["point_fpn_0"], f["point_fpn_1"]])
        return _numpy({"mask_logits": masks, "iou": iou, "object_score": score[:, 0]})
