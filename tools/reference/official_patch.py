"""Makes the official `sam3` package importable and constructible on a CPU-only machine."""
import importlib.machinery, os, sys, types
import torch
import tv_stub

SRC = os.environ.get("SAM3_OFFICIAL")   # a folder that holds the package; empty: it is installed


class _Meta(type):
    def __getattr__(cls, k):
        if k.startswith("__"):
            raise AttributeError(k)
        return _Dummy


class _Dummy(metaclass=_Meta):
    def __init__(self, *a, **k):
        pass

    def __call__(self, *a, **k):
        return a[0] if a and callable(a[0]) else _Dummy()

    def __getattr__(self, k):
        if k.startswith("__"):
            raise AttributeError(k)
        return _Dummy()


def _stub(name, **kw):
    m = types.ModuleType(name)
    m.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    m.__path__ = []
    m.__file__ = __file__

    def ga(k):
        if k.startswith("__"):
            raise AttributeError(k)
        return _Dummy
    m.__getattr__ = ga
    for k, v in kw.items():
        setattr(m, k, v)
    sys.modules[name] = m
    return m


def install():
    tv_stub.install()
    # the module that needs triton (distance transform, only used to sample training clicks)
    _stub("sam3.model.edt", edt_triton=None)
    for n in ["pycocotools", "pycocotools.mask", "decord", "cv2", "skimage", "scipy", "scipy.optimize", "scipy.ndimage",
              "pandas", "matplotlib", "matplotlib.pyplot"]:
        if n not in sys.modules:
            try:
                __import__(n)
            except Exception:
                _stub(n)
    if SRC and SRC not in sys.path:
        sys.path.insert(0, SRC)
    torch.Tensor.pin_memory = lambda self, *a, **k: self
    import sam3.model.position_encoding as pe
    oi = pe.PositionEmbeddingSine.__init__

    def ni(self, num_pos_feats, temperature=10000, normalize=True, scale=None, precompute_resolution=None):
        oi(self, num_pos_feats, temperature, normalize, scale, None)
    pe.PositionEmbeddingSine.__init__ = ni
    import sam3.model.decoder as dec
    og = dec.TransformerDecoder._get_coords
    dec.TransformerDecoder._get_coords = staticmethod(
        lambda H, W, device: og(H, W, "cpu" if device == "cuda" else device))
    import sam3.model.utils.sam1_utils as s1
    s1.Resize = s1.Normalize = lambda *a, **k: torch.nn.Identity()
