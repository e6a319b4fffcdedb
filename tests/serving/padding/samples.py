"""The bucketed specs of ``tests/cases/samples`` as small models, each with a call that is padded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

LOWEST = torch.finfo(torch.float32).min


@dataclass
class Out:
    last_hidden_state: Any
    pooler_output: Any


@dataclass
class CLIPOutput:
    logits_per_image: Any
    logits_per_text: Any


def ids(*shape: int, high: int = 16) -> Any:
    return torch.randint(0, high, shape)


def attend(q: Any, k: Any, v: Any, visible: Any) -> Any:
    scores = (q @ k.transpose(-1, -2)).masked_fill(~visible, LOWEST)
    return scores.softmax(-1) @ v


class DecoderStep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(16, 8)
        self.qkv = nn.ModuleList(nn.Linear(8, 24) for _ in range(2))

    def forward(self, ids: Any, mask: Any, kvs: Any) -> Any:
        x = self.embed(ids)
        B, C = ids.shape
        after = []
        for layer, (k, v) in zip(self.qkv, kvs, strict=True):
            q, new_k, new_v = layer(x).view(B, C, 3, 2, 4).permute(2, 0, 3, 1, 4)
            k, v = torch.cat([k, new_k], 2), torch.cat([v, new_v], 2)
            x = x + attend(q, k, v, mask).transpose(1, 2).reshape(B, C, 8)
            after.append((k, v))
        return x @ self.embed.weight.T, after


class PrefillChunk(DecoderStep):
    """The same, for several tokens."""


class BertModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(16, 8)
        self.types = nn.Embedding(2, 8)
        self.qkv = nn.Linear(8, 24)

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
        x = self.embed(input_ids)
        if token_type_ids is not None:
            x = x + self.types(token_type_ids)
        q, k, v = self.qkv(x).chunk(3, -1)
        x = x + attend(q, k, v, attention_mask[:, None, :] > 0)
        return Out(x, x[:, 0].tanh())


class Encoder(nn.Module):
    """Every other frame, then attention."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(4, 24)

    def forward(self, feats: Any, enc_mask: Any) -> Any:
        q, k, v = self.qkv(feats[:, ::2]).chunk(3, -1)
        return attend(q, k, v, enc_mask[:, None, :])


class CLIPModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(49_408, 4)
        self.patch = nn.Conv2d(3, 4, 112, stride=112)

    def forward(self, input_ids: Any, pixel_values: Any, attention_mask: Any) -> Any:
        weights = attention_mask[..., None].float()
        texts = (self.embed(input_ids) * weights).sum(1) / weights.sum(1)
        images = self.patch(pixel_values).mean((2, 3))
        logits = images @ texts.T
        return CLIPOutput(logits, logits.T)


class UNet(nn.Module):
    """Channels are mixed, neighbors too, and the mean of all patches is added.

    No convolution: on the CPU torch chooses one by the batch, which a size that it may look at does not survive.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(3, 1)

    def forward(self, x: Any) -> Any:
        near = nn.functional.avg_pool2d(x, 3, stride=1, padding=1)
        far = nn.functional.avg_pool2d(x, 8).mean((2, 3), keepdim=True)
        return self.mix((near + far).movedim(1, -1)).movedim(-1, 1)


class RoIHead(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.classes = nn.Linear(7, 5)
        self.boxes = nn.Linear(7, 20)

    def forward(self, img: Any, boxes: Any, bidx: Any) -> Any:
        found = torch.cat([img.mean((2, 3))[bidx], boxes], 1)
        return self.classes(found), self.boxes(found)


class GnnNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.send = nn.Linear(5, 8)

    def forward(self, x: Any, edge_index: Any, edge_attr: Any, batch: Any, num_graphs_like: Any) -> Any:
        sent = self.send(torch.cat([x[edge_index[0]], edge_attr], 1)).relu()
        nodes = torch.zeros(x.shape[0], 8).index_add(0, edge_index[1], sent)
        return torch.zeros(num_graphs_like.shape[0], 8).index_add(0, batch, nodes)


class PackedEncoder(nn.Module):
    def forward(self, values: Any, offsets: Any, max_seqlen: int) -> Any:
        lengths = offsets[1:] - offsets[:-1]
        inside = torch.arange(max_seqlen) < lengths[:, None]
        at = (offsets[:-1, None] + torch.arange(max_seqlen)).clamp(max=values.shape[0] - 1)
        sums = (values[at] * inside[..., None]).sum(1)
        return sums / lengths.clamp(min=1)[:, None], values.tanh()


class MoeLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(1024, 8, dtype=torch.bfloat16)
        self.experts = nn.ModuleList(nn.Linear(1024, 1024, dtype=torch.bfloat16) for _ in range(8))

    def forward(self, x: Any) -> Any:
        gates = self.gate(x).float().softmax(-1)
        best, which = gates.topk(2, -1)
        weights = torch.zeros_like(gates).scatter(1, which, best).to(x.dtype)
        out = sum(expert(x) * weights[:, at, None] for at, expert in enumerate(self.experts))
        return out, gates


class LoraLinear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 5)

    def forward(self, x: Any, A: Any, Bm: Any, scale: Any) -> Any:
        return self.linear(x) + (x @ A.T @ Bm.T) * scale


class Vocoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.ConvTranspose1d(4, 1, 256, stride=256)

    def forward(self, mel: Any, wav: Any) -> Any:
        made = self.up(mel) + wav
        return made, made.mean((1, 2))


class DLRMList(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ParameterList(torch.randn(16, 4) for _ in range(2))
        self.top = nn.Linear(11, 1)

    def forward(self, dense: Any, bags: Any) -> Any:
        pooled = [
            nn.functional.embedding_bag(values, table, offsets, mode="sum", include_last_offset=True)
            for table, (values, offsets) in zip(self.tables, bags, strict=True)
        ]
        return self.top(torch.cat([dense, *pooled], 1))


class AsrChunk(nn.Module):
    """A causal convolution over the chunk and what went before, then attention likewise."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(8, 8, 3)
        self.qkv = nn.Linear(8, 24)

    def forward(self, chunk: Any, caches: Any, conv: Any) -> Any:
        B, C, _ = chunk.shape
        whole = torch.cat([conv, chunk.transpose(1, 2)], 2)
        x = self.conv(whole).transpose(1, 2)
        after = []
        for k, v in caches:
            LC = k.shape[2]
            q, new_k, new_v = self.qkv(x).view(B, C, 3, 2, 4).permute(2, 0, 3, 1, 4)
            k, v = torch.cat([k, new_k], 2), torch.cat([v, new_v], 2)
            visible = torch.arange(LC + C) <= LC + torch.arange(C)[:, None]
            x = x + attend(q, k, v, visible).transpose(1, 2).reshape(B, C, 8)
            after.append((k[:, :, C:], v[:, :, C:]))
        return x, after, whole[:, :, -2:]


class T5Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(16, 8)
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 512)

    def forward(self, input_ids: Any, attention_mask: Any, decoder_input_ids: Any) -> Any:
        q, k, v = self.qkv(self.embed(input_ids)).chunk(3, -1)
        visible = attention_mask[:, None, :] > 0
        encoded = attend(q, k, v, visible)
        q, k, v = self.qkv(self.embed(decoder_input_ids)).chunk(3, -1)
        decoded = attend(q, k, v, torch.ones(q.shape[1], q.shape[1], dtype=torch.bool).tril())
        return self.out(decoded + attend(q, encoded, encoded, visible))


class LSTMTagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 8, batch_first=True)

    def forward(self, x: Any) -> Any:
        out, (last, _) = self.lstm(x)
        return out, last


class LeftPadded(nn.Module):
    """Positions are counted over what the mask shows."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(16, 8)
        self.position = nn.Embedding(40, 8)

    def forward(self, ids: Any, mask: Any) -> Any:
        x = self.embed(ids) + self.position((mask.cumsum(1) - 1).clamp(min=0))
        earlier = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        return attend(x, x, x, earlier & (mask[:, None, :] > 0))


def caches(count: int, *shape: int) -> list[tuple[Any, Any]]:
    return [(torch.randn(*shape), torch.randn(*shape)) for _ in range(count)]


def prefix(*shape: int, past: int) -> Any:
    """A causal mask over a past that is visible."""
    B, C = shape
    earlier = torch.arange(past + C) <= past + torch.arange(C)[:, None]
    return earlier.expand(B, 1, C, past + C).clone()


@dataclass(frozen=True)
class Sample:
    """One spec, and a call of it.

    Attributes:
        file: Of ``tests/cases/samples``, with the spec's name.
        make: The model.
        call: Its arguments.
        seen: The padded shape of the first tensor.
    """

    file: str
    make: Callable[[], Any]
    call: Callable[[], tuple[Any, ...]]
    seen: tuple[int, ...]


def _one_hot_graph() -> tuple[Any, ...]:
    batch = torch.tensor([0] * 5 + [1] * 10 + [2] * 5)
    return torch.randn(20, 3), ids(2, 50, high=20), torch.randn(50, 2), batch, torch.zeros(3)


SAMPLES: dict[str, Sample] = {
    "decode": Sample(
        "01_llm_decode_kv.shapes:serve.llm.DecoderStep.forward",
        DecoderStep,
        lambda: (ids(3, 1), torch.ones(3, 1, 1, 11, dtype=torch.bool), caches(2, 3, 2, 10, 4)),
        (16, 1),
    ),
    "prefill": Sample(
        "02_llm_prefill_chunk.shapes:serve.llm.PrefillChunk.forward",
        PrefillChunk,
        lambda: (ids(2, 5), prefix(2, 5, past=7), caches(2, 2, 2, 7, 4)),
        (2, 64),
    ),
    "bert": Sample(
        "03_bert_masks.shapes:transformers.BertModel.forward",
        BertModel,
        lambda: (ids(5, 20), (torch.arange(20) < torch.tensor([[20], [3], [9], [20], [1]])).long(), ids(5, 20, high=2)),
        (8, 32),
    ),
    "bert, no types": Sample(
        "03_bert_masks.shapes:transformers.BertModel.forward",
        BertModel,
        lambda: (ids(9, 33), torch.ones(9, 33, dtype=torch.long)),
        (32, 64),
    ),
    "whisper": Sample(
        "04_whisper_encdec.shapes:speech.encoder.encode",
        Encoder,
        lambda: (torch.randn(2, 301, 4), torch.arange(151) < torch.tensor([[151], [20]])),
        (2, 500, 4),
    ),
    "clip": Sample(
        "05_clip_two_towers.shapes:transformers.CLIPModel.forward",
        CLIPModel,
        lambda: (ids(3, 20, high=49_408), torch.randn(2, 3, 224, 224), torch.ones(3, 20, dtype=torch.long)),
        (16, 77),
    ),
    "detection": Sample(
        "09_detection_boxes.shapes:detect.RoIHead.forward",
        RoIHead,
        lambda: (torch.randn(2, 3, 256, 256), torch.rand(150, 4), ids(150, high=2)),
        (2, 3, 256, 256),
    ),
    "graph": Sample("10_gnn_edge_index.shapes:gnn.Net.forward", GnnNet, _one_hot_graph, (1024, 3)),
    "jagged": Sample(
        "11_jagged_offsets.shapes:packed.Encoder.forward",
        PackedEncoder,
        lambda: (torch.randn(40, 4), torch.tensor([0, 7, 7, 19, 30, 40]), 12),
        (512, 4),
    ),
    "experts": Sample(
        "12_moe_topk.shapes:moe.Layer.forward",
        MoeLayer,
        lambda: (torch.randn(70, 1024, dtype=torch.bfloat16),),
        (128, 1024),
    ),
    "lora": Sample(
        "13_lora_rank.shapes:lora.Linear.forward",
        LoraLinear,
        lambda: (torch.randn(2, 3, 6), torch.randn(100, 6), torch.randn(5, 100), torch.tensor(0.5)),
        (2, 3, 6),
    ),
    "vocoder": Sample(
        "14_tts_vocoder_hop.shapes:tts.Vocoder.forward",
        Vocoder,
        lambda: (torch.randn(2, 4, 20), torch.randn(2, 1, 20 * 256)),
        (2, 4, 64),
    ),
    "bags": Sample(
        "15_recsys_bags.shapes:recsys.DLRMList.forward",
        DLRMList,
        lambda: (
            torch.randn(5, 3),
            [(ids(9), torch.tensor([0, 2, 2, 5, 8, 9])), (ids(4), torch.tensor([0, 1, 2, 3, 4, 4]))],
        ),
        (64, 3),
    ),
    "speech chunk": Sample(
        "16_speech_stream_chunk.shapes:asr.Chunk.forward",
        AsrChunk,
        lambda: (torch.randn(2, 5, 8), caches(1, 2, 2, 6, 4), torch.randn(2, 8, 2)),
        (2, 16, 8),
    ),
    "t5": Sample(
        "17_t5_seq2seq.shapes:transformers.T5Model.forward",
        T5Model,
        lambda: (ids(2, 20), (torch.arange(20) < torch.tensor([[20], [6]])).long(), ids(2, 5)),
        (2, 32),
    ),
    "lstm": Sample(
        "18_lstm_tagger.shapes:tag.LSTMTagger.forward", LSTMTagger, lambda: (torch.randn(3, 10, 4),), (3, 16, 4)
    ),
    "left": Sample(
        "18_lstm_tagger.shapes:gen.left_padded",
        LeftPadded,
        lambda: (ids(2, 10), torch.ones(2, 10, dtype=torch.long)),
        (2, 16),
    ),
}

__all__ = ["SAMPLES", "Sample", "UNet"]
