"""Models that see: vision transformers of transformers and timm, torchvision's ResNet, a U-Net, a detector, latents."""

from __future__ import annotations

from typing import Any

import pytest

from tests.models.real.entry import Call, Entry, Sizes

torch = pytest.importorskip("torch", reason="models run through torch")


def _noise(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def _images(B: int, H: int, W: int, C: int = 3) -> Call:
    return (_noise(B, C, H, W),), {}


def _rows(*rows: tuple[int, int, int]) -> tuple[Sizes, ...]:
    """Returns sizes of batches of images."""
    return tuple({"B": batch, "H": height, "W": width} for batch, height, width in rows)


# --- ViT


def _vit() -> Any:
    vit = pytest.importorskip("transformers.models.vit.modeling_vit", reason="it is transformers' model")
    torch.manual_seed(0)
    config = vit.ViTModel.config_class(
        image_size=32,
        patch_size=8,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    return vit.ViTModel(config).eval()


def _vit_call(B: int, H: int, W: int, C: int = 3) -> Call:
    return (), {"pixel_values": _noise(B, C, H, W), "interpolate_pos_encoding": True}


VIT = Entry(
    "ViTModel",
    "vit.shapes",
    _vit,
    _vit_call,
    sizes={
        "icon": _rows((1, 32, 32)),
        "native": _rows((2, 32, 32), (3, 32, 32), (7, 32, 32)),
        "one": _rows((1, 40, 32), (1, 64, 64), (1, 17, 80)),
        "resized": _rows((2, 40, 32), (3, 48, 64), (4, 64, 64), (5, 37, 50), (2, 17, 80), (8, 16, 16)),
    },
    bad=(
        {"B": 0, "H": 40, "W": 32},
        {"B": 2, "H": 15, "W": 32},
        {"B": 2, "H": 40, "W": 5000},
        {"B": 2, "H": 40, "W": 32, "C": 1},
    ),
    consts={"SIDE": 32, "PATCH": 8, "HIDDEN": 16},
    cures=("H // 8 * (W // 8) != 16",),
    lowering="backed",
    narrower="it is backed",
    note="`interpolate_pos_encoding=True`",
)


# --- timm


def _timm_vit() -> Any:
    vision_transformer = pytest.importorskip("timm.models.vision_transformer", reason="it is timm's model")
    torch.manual_seed(0)
    return vision_transformer.VisionTransformer(
        img_size=32,
        patch_size=8,
        embed_dim=16,
        depth=1,
        num_heads=2,
        num_classes=5,
        dynamic_img_size=True,
        dynamic_img_pad=True,
    ).eval()


TIMM_VIT = Entry(
    "VisionTransformer of timm",
    "timm_vit.shapes",
    _timm_vit,
    _images,
    sizes={
        "icon": _rows((1, 32, 32)),
        "native": _rows((2, 32, 32), (3, 32, 32), (7, 32, 32)),
        "one": _rows((1, 40, 32), (1, 64, 64), (1, 16, 72)),
        "resized": _rows((2, 40, 32), (3, 48, 64), (4, 64, 64), (5, 24, 56), (2, 16, 72), (8, 16, 16)),
    },
    bad=(
        {"B": 0, "H": 40, "W": 32},
        {"B": 2, "H": 41, "W": 32},
        {"B": 2, "H": 40, "W": 4096},
        {"B": 2, "H": 40, "W": 32, "C": 1},
    ),
    consts={"SIDE": 32, "PATCH": 8, "CLASSES": 5},
    cured_by=("export",),
    lowering="backed",
)


# --- convolutions


def _resnet() -> Any:
    resnet = pytest.importorskip("torchvision.models.resnet", reason="it is torchvision's model")
    torch.manual_seed(0)
    return resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1], num_classes=5).eval()


RESNET = Entry(
    "ResNet of torchvision",
    "resnet.shapes",
    _resnet,
    _images,
    sizes={
        "one": _rows((1, 224, 224), (1, 231, 300)),
        "few": _rows((2, 224, 256), (3, 256, 224), (4, 224, 224), (5, 225, 239), (2, 288, 320), (3, 320, 230)),
        "otherwise": _rows((16, 224, 256), (17, 231, 224)),
    },
    bad=({"B": 0, "H": 224, "W": 224}, {"B": 2, "H": 223, "W": 224}, {"B": 2, "H": 224, "W": 224, "C": 1}),
    consts={"CLASSES": 5},
    cures=("B >= 1",),
    lowering="backed",
    narrower="it is backed",
)


def _own(name: str) -> Any:
    from tests.models.real import vision_nets

    torch.manual_seed(0)
    return getattr(vision_nets, name)().eval()


UNET = Entry(
    "U-Net",
    "unet.shapes",
    lambda: _own("UNet"),
    _images,
    sizes={
        "square": _rows((1, 288, 288)),
        "one": _rows((1, 256, 272), (1, 320, 264), (1, 304, 304)),
        "few": _rows((2, 16, 24), (3, 32, 16), (4, 48, 48), (5, 24, 40), (2, 64, 64), (15, 16, 16)),
        "otherwise": _rows((16, 16, 24), (17, 32, 16), (20, 24, 24)),
    },
    bad=(
        {"B": 2, "H": 20, "W": 16},
        {"B": 2, "H": 16, "W": 20},
        {"B": 0, "H": 16, "W": 16},
        {"B": 2, "H": 16, "W": 16, "C": 4},
    ),
    consts={"SIDE": 288},
    lowering="backed",
)

DETECTOR = Entry(
    "detector",
    "detector.shapes",
    lambda: _own("Detector"),
    _images,
    sizes={
        "one": _rows((1, 320, 328), (1, 400, 320), (1, 360, 360)),
        "otherwise": _rows((2, 320, 328), (3, 400, 320), (4, 360, 360), (5, 336, 320), (2, 320, 320), (8, 328, 344)),
    },
    bad=({"B": 2, "H": 324, "W": 320}, {"B": 2, "H": 312, "W": 320}, {"B": 2, "H": 320, "W": 320, "C": 1}),
    lowering="backed",
)


def _latents(B: int, H: int, W: int, T: int, off: int = 0) -> Call:
    return (_noise(B, 4, H, W), torch.arange(B + off) * 50, _noise(B, T, 12)), {}


DENOISER = Entry(
    "latent diffusion",
    "latents.shapes",
    lambda: _own("Denoiser"),
    _latents,
    sizes={
        "one": (
            {"B": 1, "H": 8, "W": 6, "T": 5},
            {"B": 1, "H": 2, "W": 2, "T": 1},
            {"B": 1, "H": 10, "W": 4, "T": 9},
        ),
        "portrait": (
            {"B": 2, "H": 12, "W": 8, "T": 7},
            {"B": 3, "H": 12, "W": 8, "T": 5},
            {"B": 7, "H": 12, "W": 8, "T": 3},
        ),
        "otherwise": (
            {"B": 2, "H": 8, "W": 6, "T": 5},
            {"B": 2, "H": 2, "W": 2, "T": 1},
            {"B": 3, "H": 10, "W": 8, "T": 2},
            {"B": 4, "H": 4, "W": 16, "T": 77},
            {"B": 5, "H": 8, "W": 12, "T": 9},
            {"B": 16, "H": 2, "W": 8, "T": 16},
        ),
    },
    bad=(
        {"B": 2, "H": 9, "W": 6, "T": 5},
        {"B": 2, "H": 8, "W": 6, "T": 0},
        {"B": 2, "H": 8, "W": 6, "T": 5, "off": 1},
    ),
    consts={"TALL": 12, "WIDE": 8},
    cures=("T >= 1", "H >= 2", "W >= 2"),
    narrower="inductor wants `B >= 2`",
)

ENTRIES: tuple[Entry, ...] = (VIT, TIMM_VIT, RESNET, UNET, DETECTOR, DENOISER)
