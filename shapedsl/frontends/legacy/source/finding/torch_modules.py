"""What the forwards of torch's own modules take: nobody defines them in a file, and a spec in their order needs them."""

from __future__ import annotations

from typing import Final

from .....ir import AnyType, Param
from ..values import Signature

_ONE_INPUT: Final = (
    "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
    "AvgPool1d AvgPool2d AvgPool3d BatchNorm1d BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d Dropout Dropout2d ELU "
    "Embedding Flatten GELU GLU GroupNorm Hardsigmoid Hardswish Hardtanh Identity InstanceNorm1d InstanceNorm2d "
    "InstanceNorm3d LayerNorm LeakyReLU Linear LogSoftmax MaxPool1d MaxPool2d MaxPool3d Mish PReLU PixelShuffle "
    "PixelUnshuffle ReLU ReLU6 SELU Sequential SiLU Sigmoid Softmax Softplus Tanh Unflatten Unfold Upsample"
)
_PARAMS: Final = {  # with a question mark: optional
    **dict.fromkeys(_ONE_INPUT.split(), "input"),
    **dict.fromkeys(("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"), "input output_size?"),
    **dict.fromkeys(("GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNCell"), "input hx?"),
    **dict.fromkeys(("BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "L1Loss", "MSELoss"), "input target"),
    **dict.fromkeys(("CosineSimilarity", "PairwiseDistance"), "x1 x2"),
    "Bilinear": "input1 input2",
    "EmbeddingBag": "input offsets? per_sample_weights?",
    "MultiheadAttention": (
        "query key value key_padding_mask? need_weights? attn_mask? average_attn_weights? is_causal?"
    ),
    "RMSNorm": "x",
    "TransformerDecoder": (
        "tgt memory tgt_mask? memory_mask? tgt_key_padding_mask? memory_key_padding_mask? tgt_is_causal? "
        "memory_is_causal?"
    ),
    "TransformerDecoderLayer": (
        "tgt memory tgt_mask? memory_mask? tgt_key_padding_mask? memory_key_padding_mask? tgt_is_causal? "
        "memory_is_causal?"
    ),
    "TransformerEncoder": "src mask? src_key_padding_mask? is_causal?",
    "TransformerEncoderLayer": "src src_mask? src_key_padding_mask? is_causal?",
}


def signature_in_torch(name: str) -> Signature | None:
    """Returns the signature of an object of one of torch's modules, by its qualified name; None for another class."""
    package, _, short = name.rpartition(".")
    said = _PARAMS.get(short) if package == "torch.nn" or package.startswith("torch.nn.modules") else None
    if said is None:
        return None
    params = [Param(each.rstrip("?"), AnyType(), default=each.endswith("?")) for each in said.split()]
    return Signature(f"{short}.forward", tuple(params), "self")


__all__ = ["signature_in_torch"]
