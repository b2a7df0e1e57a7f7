"""The plain formulas of tools/reference/ref_from_spec.py as an engine: how far a second PyTorch implementation is from
Meta's classes, and proof that these checks can fail (FAULT).  Needs torch."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
import numpy as np
import ref_from_spec as spec
import torch
import torch.nn.functional as F
from engines import select

FAULTS = ("no-class-token", "labels-swapped", "mask-bias", "unused-points", "has-mask", "threshold", "position")


class StandIn:
    dynamic = True

    def __init__(self, folder, fault=None):
        spec.load(folder)
        torch.set_num_threads(1)
        self.fault = fault
        self.pos = spec.sine_map(spec.S, spec.DM)

    @torch.no_grad()
    def image(self, image):
        x = (torch.from_numpy(image)[None].float() / 255 - 0.5) / 0.5
        trunk = spec.vit(x)
        fpn, trk = spec.neck(trunk, "convs"), spec.neck(trunk, "sam2_convs")
        m = "tracker.sam_mask_decoder."
        head = "detector.segmentation_head.pixel_decoder.conv_layers."
        memory, where = fpn[2].flatten(2).transpose(1, 2), self.pos.flatten(2).transpose(1, 2)
        if self.fault == "position":
            where = where.flip(-1)
        h = spec.ln(memory, "detector.transformer.encoder.layers.0.norm1")
        fused = memory + spec.mha(h + where, h + where, h, "detector.transformer.encoder.layers.0.self_attn.", spec.NH)
        d = {"backbone_fpn_2": fpn[2], "fusion_embed": fused, "mask_fpn_0": spec.conv(fpn[0], head + "1", padding=1),
             "mask_fpn_1": spec.conv(fpn[1], head + "0", padding=1), "point_fpn_0": spec.conv(trk[0], m + "conv_s0"),
             "point_fpn_1": spec.conv(trk[1], m + "conv_s1"),
             "point_embed": trk[2] + spec.W["tracker.no_mem_embed"].reshape(1, -1, 1, 1)}
        return {n: v.numpy() for n, v in d.items()}

    @torch.no_grad()
    def language(self, tokens, stem="language_encoder"):
        f, valid = spec.text(torch.from_numpy(tokens))
        return f.numpy(), ~valid.numpy()

    @torch.no_grad()
    def concept(self, features, inputs, threshold):
        t = {n: torch.from_numpy(np.ascontiguousarray(v)) for n, v in {**features, **inputs}.items()}
        rows = []
        for i in range(len(t["language_mask"])):
            one = {n: v[i:i + 1] for n, v in t.items() if n in inputs}
            labels = 1 - one["box_labels"] if self.fault == "labels-swapped" else one["box_labels"]
            g, gv = spec.geometry(one["box_coords"], labels, ~one["box_masks"], t["backbone_fpn_2"], self.pos)
            if self.fault == "no-class-token":
                gv = gv.clone()
                gv[:, -1] = one["box_masks"].logical_not().any()
            rows.append(self.detector(t, torch.cat([one["language_features"], g], 1), torch.cat([~one["language_mask"], gv], 1)))
        s, b, m, p = (np.concatenate([r[j].numpy() for r in rows]) for j in range(4))
        return select(s, b, m, p, np.float32(threshold) + (1e-3 if self.fault == "threshold" else 0))

    def detector(self, t, prompt, valid):
        """spec.detector from the features of the contract: layer 0 after its self-attention, convolved mask features."""
        kb = spec.neg(valid)
        mem, pp = t["fusion_embed"], self.pos.flatten(2).transpose(1, 2)
        for i in range(spec.K["enc_layers"]):
            q = f"detector.transformer.encoder.layers.{i}."
            if i:
                h = spec.ln(mem, q + "norm1")
                mem = mem + spec.mha(h + pp, h + pp, h, q + "self_attn.", spec.NH)
            mem = mem + spec.mha(spec.ln(mem, q + "norm2"), prompt, prompt, q + "cross_attn_image.", spec.NH, kb)
            mem = mem + spec.lin(torch.relu(spec.lin(spec.ln(mem, q + "norm3"), q + "linear1")), q + "linear2")
        # the decoder itself, with the fusion encoder taken out and the masks made from the convolved features
        layers, spec.K["enc_layers"] = spec.K["enc_layers"], 0
        empty = torch.zeros(1, spec.DM, 2 * spec.S, 2 * spec.S)
        o = spec.detector([F.interpolate(empty, scale_factor=2.0), empty, mem.transpose(1, 2).reshape(1, -1, spec.S, spec.S)],
                          self.pos, prompt, valid)
        spec.K["enc_layers"] = layers
        g = "detector.segmentation_head."
        m = mem + spec.mha(spec.ln(mem, g + "cross_attn_norm"), prompt, prompt, g + "cross_attend_prompt.", spec.NH, kb)
        y = m.transpose(1, 2).reshape(1, spec.DM, spec.S, spec.S)
        for i, name in enumerate(("mask_fpn_1", "mask_fpn_0")):
            p = f"{g}pixel_decoder."
            y = t[name] + F.conv2d(F.interpolate(y, scale_factor=2, mode="nearest"), spec.W[f"{p}conv_layers.{i}.weight"],
                                   spec.W[f"{p}conv_layers.{i}.bias"] if self.fault == "mask-bias" else None, padding=1)
            y = torch.relu(F.group_norm(y, 8, spec.W[f"{p}norms.{i}.weight"], spec.W[f"{p}norms.{i}.bias"], 1e-5))
        inst = spec.conv(y, g + "instance_seg_head")
        masks = (spec.mlp(o["hs"], g + "mask_predictor.mask_embed", 3) @ inst.flatten(2)).reshape(1, -1, 4 * spec.S, 4 * spec.S)
        centre, size = o["boxes"].split(2, -1)
        return o["scores"], torch.cat([centre - size / 2, centre + size / 2], -1), masks, torch.sigmoid(o["presence"]).reshape(1)

    @torch.no_grad()
    def point(self, features, inputs):
        f = [torch.from_numpy(features[n]) for n in ("point_fpn_0", "point_fpn_1", "point_embed")]
        t = {n: torch.from_numpy(np.ascontiguousarray(v)) for n, v in inputs.items()}
        rows = []
        for i in range(len(t["has_mask"])):
            used = slice(None) if self.fault == "unused-points" else t["point_labels"][i] >= 0
            masked = bool(t["has_mask"][i] > 0) or self.fault == "has-mask"
            rows.append(spec.interactive(*f, t["point_coords"][i, used][None], t["point_labels"][i, used][None],
                                         t["mask_input"][i:i + 1] if masked else None))
        m, u, s = (np.concatenate([r[j].numpy() for r in rows]) for j in range(3))
        return {"mask_logits": m, "iou": u, "object_score": s[:, 0]}
