"""Which entry of the stub library describes an object, and what of the object goes into its spec."""

from __future__ import annotations

import functools
import re
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

import shapedsl as sd
from shapedsl.api.library import listed_text, listing
from shapedsl.api.objects import attribute
from shapedsl.assets import asset
from shapedsl.ir import VariableKind

torch = pytest.importorskip("torch", reason="the library describes modules of torch")
nn = torch.nn
Linear: Any = nn.Linear
Conv1d: Any = nn.Conv1d


def text(target: Any, *args: Any, **kwargs: Any) -> str:
    spec = sd.stub_for(target, *args, **kwargs)
    assert spec is not None
    return str(spec)


# ------------------------------------------------------------------------------------ attributes


def test_an_attribute_is_found_by_its_name_or_by_its_path() -> None:
    layer = SimpleNamespace(size=4, on=True, deep=SimpleNamespace(inner_size=5, kernel=(3, 7)), deep_size=6, name="x")
    found = {
        path: attribute(layer, path)
        for path in (
            "size",
            "on",
            "deep_size",
            "deep_inner_size",
            "deep_kernel_1",
            "deep_kernel_len",
            "deep_kernel_2",
            "name",
            "name_is_x",
            "name_is_y",
            "size_is_x",
        )
    }
    assert found == {
        "size": 4,
        "on": 1,
        "deep_size": 6,
        "deep_inner_size": 5,
        "deep_kernel_1": 7,
        "deep_kernel_len": 2,
        "deep_kernel_2": None,
        "name": None,
        "name_is_x": 1,
        "name_is_y": 0,
        "size_is_x": None,
    }


def test_an_attribute_that_fails_is_none() -> None:
    class Broken:
        @property
        def size(self) -> int:
            raise RuntimeError

    assert attribute(Broken(), "size") is None
    assert attribute(None, "size") is None


def test_the_config_has_what_the_module_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = nn.Linear(6, 5)
    del layer.in_features
    layer.config = SimpleNamespace(in_features=7, out_features=8)
    assert text(layer) == (
        "class torch.nn.modules.linear.Linear:\n"
        "    def forward(self, input: Tensor[*batch, 7]) -> Tensor[*batch, 5]: ..."
    )


# --------------------------------------------------------------------------------------- finding


def test_sizes_are_those_of_the_object() -> None:
    assert text(nn.Conv2d(4, 6, (3, 5), padding=(1, 2), stride=(2, 1))) == (
        "class torch.nn.modules.conv.Conv2d:\n"
        "    def forward(self, input: Tensor[B, 4, H, W]) -> Tensor[B, 6, (H + 1) // 2, W]:\n"
        "        where H >= 1, W >= 1"
    )


def test_a_class_leaves_its_sizes_open() -> None:
    assert text(nn.Linear) == (
        "class torch.nn.modules.linear.Linear:\n"
        "    def forward(\n"
        "        self,\n"
        "        input: Tensor[*batch, in_features],\n"
        "    ) -> Tensor[*batch, out_features]:\n"
        "        const in_features = _\n"
        "        const out_features = _"
    )


def test_what_the_library_does_not_know_has_none() -> None:
    assert sd.stub_for(nn.ReLU()) is None
    assert sd.stub_for(object()) is None
    assert sd.stub_for(len) is None
    assert sd.stub_for(nn.functional.linear) is None


def test_a_subclass_has_the_entry_of_its_base() -> None:
    class Own(Linear):  # type: ignore[misc]
        pass

    class Same(Linear):  # type: ignore[misc]
        def forward(self, input: Any) -> Any:
            return super().forward(input)

    assert text(Own(6, 5)) == text(Same(6, 5)) == text(nn.Linear(6, 5))


def test_a_subclass_with_other_parameters_has_none_and_it_is_said_why() -> None:
    class Other(Linear):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return super().forward(x)

    with pytest.warns(sd.ShapeWarning, match=r"Other\.forward` has no parameter `input`"):
        assert sd.stub_for(Other(6, 5)) is None


class Scaled(Linear):  # type: ignore[misc]
    def forward(self, input: Any, scale: float) -> Any:
        return super().forward(input) * scale


class Swapped(Linear):  # type: ignore[misc]
    def forward(self, scale: float = 1.0, input: Any = None) -> Any:
        return super().forward(input) * scale


class Keywords(Linear):  # type: ignore[misc]
    def forward(self, **named: Any) -> Any:
        return super().forward(**named)


class Nothing(Linear):  # type: ignore[misc]
    forward = None


class Handed(Linear):  # type: ignore[misc]
    def forward(self, *args: Any, **named: Any) -> Any:
        return super().forward(*args, **named)


class More(Linear):  # type: ignore[misc]
    def forward(self, input: Any, scale: float = 1.0) -> Any:
        return super().forward(input) * scale


@pytest.mark.parametrize(
    ("cls", "why"),
    [
        (Scaled, "`Scaled.forward` needs a parameter `scale`"),
        (Swapped, "`Swapped.forward` takes `scale` in the place of `input`"),
        (Keywords, "`Keywords.forward` has no parameter `input`"),
        (Nothing, "`Nothing.forward` is no method"),
    ],
)
def test_a_subclass_that_takes_other_calls_has_none_and_it_is_said_why(cls: Any, why: str) -> None:
    with pytest.warns(sd.ShapeWarning, match=re.escape(why)):
        assert sd.stub_for(cls(6, 5)) is None


@pytest.mark.parametrize("cls", [Handed, More])
def test_a_subclass_that_takes_the_same_calls_has_the_entry(cls: Any) -> None:
    assert text(cls(6, 5)) == text(nn.Linear(6, 5))


def test_a_forward_of_the_object_itself_is_looked_at() -> None:
    other, hooked = nn.Linear(6, 5), nn.Linear(6, 5)
    other.forward = lambda x: x
    with pytest.warns(sd.ShapeWarning, match="its own `forward` has no parameter `input`"):
        assert sd.stub_for(other) is None
    original = hooked.forward

    @functools.wraps(original)
    def forward(*args: Any, **named: Any) -> Any:
        return original(*args, **named)

    hooked.forward = forward
    assert text(hooked) == text(nn.Linear(6, 5))


def test_a_lazy_module_has_sizes_once_it_ran() -> None:
    layer = nn.LazyConv1d(5, 3)
    with pytest.warns(sd.ShapeWarning, match="it is lazy: run it once"):
        assert sd.stub_for(layer) is None
    layer(torch.ones(2, 4, 9))
    assert "input: Tensor[B, 4, T]" in text(layer)


def test_who_answers_nothing_has_none() -> None:
    class Silent:
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert sd.stub_for(Silent()) is None
    assert sd.stub_for(None) is None
    assert sd.stub_for(iter(())) is None

    class Secret(Conv1d):  # type: ignore[misc]
        @property
        def padding_mode(self) -> str:
            raise RuntimeError

        @padding_mode.setter
        def padding_mode(self, value: str) -> None: ...

    with pytest.warns(sd.ShapeWarning, match="its `padding_mode` is None"):
        assert sd.stub_for(Secret(4, 6, 3)) is None


def test_what_is_no_name_and_no_call_is_refused() -> None:
    with pytest.raises(TypeError, match="name is a str"):
        sd.stub_for(nn.Linear(6, 5), 2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"write `args=\(x,\)`"):
        sd.stub_for(nn.Linear(6, 5), args=torch.ones(2, 6))


def test_an_object_that_the_entry_is_not_about_has_none_and_it_is_said_why() -> None:
    with pytest.warns(sd.ShapeWarning, match="its `padding_mode` is 'reflect', not 'zeros'"):
        assert sd.stub_for(nn.Conv1d(4, 6, 3, padding=1, padding_mode="reflect")) is None


def test_an_object_that_no_spec_is_about_has_none_and_it_is_said_why() -> None:
    with pytest.warns(sd.ShapeWarning, match="none of its 3 specs is about one with such attributes"):
        assert sd.stub_for(nn.LayerNorm((2, 3, 4, 5))) is None


def test_a_method_has_the_spec_of_its_object() -> None:
    assert text(nn.Linear(6, 5).forward) == text(nn.Linear(6, 5))


def test_who_has_no_spec_is_told_of_the_library() -> None:
    with pytest.raises(sd.ShapeError, match="the library has one"):
        sd.compile(nn.Linear(6, 5))
    with pytest.raises(sd.ShapeError) as caught:
        sd.compile(nn.ReLU())
    assert "library" not in str(caught.value)


# ------------------------------------------------------------------- what torch refuses is refused


def refused(module: Any, *args: Any) -> bool:
    """Returns whether no spec of ``module`` takes the call, as torch does not."""
    with pytest.raises((RuntimeError, NotImplementedError)):
        module(*args)
    try:
        sd.stub_for(module, args=args)
    except sd.ShapeError:
        return True
    return False


def test_an_empty_signal_is_refused_however_padded() -> None:
    assert refused(nn.Conv1d(4, 6, 2, padding=2), torch.ones(4, 0))
    assert refused(nn.Conv2d(4, 6, 2, padding=2), torch.ones(4, 0, 2))
    assert refused(nn.Conv2d(4, 6, 2, padding=2), torch.ones(4, 2, 0))


def test_indices_are_int32_or_int64() -> None:
    for dtype in (torch.int8, torch.int16, torch.uint8):
        ids = torch.zeros(2, 3, dtype=dtype)
        assert refused(nn.Embedding(5, 2), ids)
        assert refused(nn.EmbeddingBag(5, 2), ids)
        assert refused(nn.EmbeddingBag(5, 2), ids[0], torch.zeros(1, dtype=dtype))


def test_only_a_sum_has_weights() -> None:
    ids, weights = torch.zeros(2, 3, dtype=torch.int64), torch.ones(2, 3)
    for mode in ("mean", "max"):
        assert refused(nn.EmbeddingBag(5, 2, mode=mode), ids, None, weights)
    summed = sd.stub_for(nn.EmbeddingBag(5, 2, mode="sum"), args=(ids, None, weights))
    assert summed is not None
    assert summed.signature.key == "torch.nn.modules.sparse.EmbeddingBag.forward@3"


def test_a_layer_that_takes_no_call_has_none() -> None:
    layer = nn.ConvTranspose2d(4, 6, 3, stride=(3, 2), output_padding=(2, 2))
    with pytest.raises(RuntimeError, match="output padding must be smaller"):
        layer(torch.ones(1, 4, 5, 5))
    with pytest.warns(sd.ShapeWarning, match="none of its 2 specs"):
        assert sd.stub_for(layer) is None
    assert sd.stub_for(nn.ConvTranspose2d(4, 6, 3, stride=(3, 2), output_padding=(2, 1))) is not None


@pytest.mark.parametrize("heads", [1, 2])
def test_a_mask_for_each_head_is_one_mask_where_there_is_one_head(heads: int) -> None:
    layer = nn.TransformerEncoderLayer(8, heads, 16, batch_first=True, dropout=0.0)
    attention = nn.MultiheadAttention(8, heads, batch_first=True)
    assert "dim B in [2, inf]" in str(sd.stub_for(attention, "forward@3").normalize())  # type: ignore[union-attr]
    spec = sd.stub_for(layer, "forward@4")
    fast = sd.compile(layer, spec, backend="eager")
    for batch in (3, 2):
        call = torch.ones(batch, 3, 8), torch.zeros(batch * heads, 3, 3)
        assert torch.allclose(fast(*call), layer(*call), atol=1e-5)
    with pytest.raises(sd.ShapeError):
        fast(torch.ones(1, 3, 8), torch.zeros(heads, 3, 3))


def test_a_batch_of_one_has_a_spec_of_its_own() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    for batch, key in ((2, "forward"), (1, "forward@10")):
        x, y = torch.ones(batch, 3, 8), torch.ones(batch, 5, 8)
        for found in (sd.stub_for(layer, args=(x,)), sd.stub_for(attention, args=(x, y, y))):
            assert found is not None
            assert found.signature.key.rpartition(".")[2] == key


def test_inductor_computes_what_an_encoder_does() -> None:
    """It does not, where there are gradients, if the batch may be 1."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    fast = sd.compile(layer, sd.stub_for(layer))
    for batch, length in ((2, 5), (4, 1), (3, 7), (2, 1)):
        x = torch.randn(batch, length, 16)
        torch.testing.assert_close(fast(x), layer(x), rtol=1e-4, atol=1e-5)


# ------------------------------------------------------------------------------------- choosing


@pytest.mark.parametrize(("first", "layout"), [(True, "Tensor[B, S, 8]"), (False, "Tensor[S, B, 8]")])
def test_overloads_for_other_objects_are_left_out(first: bool, layout: str) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=first)
    assert f"src: {layout}" in text(layer)


def test_training_chooses() -> None:
    resnet = pytest.importorskip("torchvision.models.resnet", reason="ResNet is torchvision's")
    net = resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1], num_classes=5)
    assert "B >= 2" in text(net.train())
    assert "B >= 2" not in text(net.eval())


def test_an_example_chooses() -> None:
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    x, y, mask = torch.ones(2, 3, 8), torch.ones(2, 5, 8), torch.zeros(3, 5, dtype=torch.bool)
    keys = [
        None if spec is None else spec.signature.key.rpartition(".")[2]
        for spec in (
            sd.stub_for(attention, args=(x, y, y)),
            sd.stub_for(attention, args=(x, y, y), kwargs={"attn_mask": mask}),
            sd.stub_for(attention, args=(x, x, x), kwargs={"attn_mask": torch.zeros(3, 3, dtype=torch.bool)}),
            sd.stub_for(attention, args=(x[0], y[0], y[0])),
        )
    ]
    assert keys == ["forward", "forward@2", "forward@4", "forward@9"]


def test_an_example_that_fits_none_says_why() -> None:
    with pytest.raises(sd.ShapeError) as caught:
        sd.stub_for(nn.Conv1d(4, 6, 3), args=(torch.ones(2, 3, 8),))
    assert caught.value.code == "shape-violation"
    assert "`input.shape[1]` is 3, expected 4" in str(caught.value)


def test_a_spec_is_chosen_by_name() -> None:
    layer = nn.Conv1d(4, 6, 3)
    assert "def forward@2(self, input: Tensor[4, T])" in text(layer, "forward@2")
    with pytest.raises(sd.ShapeError, match="`Linear` has no method `nope`"):
        sd.stub_for(torch.nn.Linear(2, 3), "nope")
    with pytest.raises(sd.ShapeError, match=r"has no `forward@3`"):
        sd.stub_for(layer, "forward@3")
    assert sd.stub_for(layer, "extra_repr") is None


def test_the_spec_is_obeyed() -> None:
    fast = sd.compile(nn.Linear(6, 5), sd.stub_for(nn.Linear(6, 5)), backend="eager")
    assert fast(torch.ones(2, 6)).shape == (2, 5)
    with pytest.raises(sd.ShapeError):
        fast(torch.ones(2, 7))


def test_questions_may_use_the_names_of_attributes() -> None:
    spec = sd.stub_for(nn.Conv1d(4, 6, 3))
    assert spec is not None
    assert spec.ask("T >= kernel_size_0").verdict == "proved"


# ---------------------------------------------------------------------------------- the library


def test_every_file_of_the_library_is_read_without_a_finding() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entries = listing()
    names = [entry.name for entry in entries]
    assert names == sorted(set(names))
    assert {
        "torch.nn.modules.linear.Linear",
        "torch.nn.modules.conv.Conv1d",
        "torch.nn.modules.conv.Conv2d",
        "torch.nn.modules.conv.ConvTranspose2d",
        "torch.nn.modules.sparse.Embedding",
        "torch.nn.modules.sparse.EmbeddingBag",
        "torch.nn.modules.normalization.LayerNorm",
        "torch.nn.modules.normalization.GroupNorm",
        "torch.nn.modules.activation.MultiheadAttention",
        "torch.nn.modules.transformer.TransformerEncoderLayer",
        "torch.nn.modules.transformer.TransformerDecoderLayer",
        "torch.nn.modules.rnn.LSTM",
        "torch.nn.modules.rnn.GRU",
        "torchvision.models.resnet.ResNet",
        "transformers.models.bert.modeling_bert.BertModel",
        "transformers.models.llama.modeling_llama.LlamaForCausalLM",
        "transformers.models.whisper.modeling_whisper.WhisperModel",
        "transformers.models.t5.modeling_t5.T5Model",
        "transformers.models.vit.modeling_vit.ViTModel",
        "transformers.models.clip.modeling_clip.CLIPModel",
    } <= set(names)


def test_a_file_of_the_library_is_a_stub_as_any_other() -> None:
    specs = sd.from_stub(asset("stubs/torch/nn/modules/conv.pyi"))
    assert list(specs) == [
        f"{name}.forward{again}" for name in ("Conv1d", "Conv2d", "ConvTranspose2d") for again in ("", "@2")
    ]


def test_every_entry_names_parameters_that_the_class_has() -> None:
    import importlib
    import inspect

    for entry in listing():
        module, _, name = entry.name.rpartition(".")
        cls = getattr(pytest.importorskip(module, reason=f"{module} is not installed"), name)
        assert importlib.import_module(cls.__module__).__name__ == module  # where an object's class says it is
        for spec in entry.specs:
            method = getattr(cls, spec.name.rpartition(".")[2])
            parameters = list(inspect.signature(inspect.unwrap(method)).parameters)
            given = [param.name for param in spec.params]
            assert set(given) <= set(parameters), entry.name


def test_consts_of_the_library_are_attributes() -> None:
    # a name that no object has would stay open, and nobody would be told
    for layer in (nn.Linear(6, 5), nn.Conv2d(4, 6, 3), nn.MultiheadAttention(8, 2), nn.LSTM(4, 3), nn.GroupNorm(2, 6)):
        spec = sd.stub_for(layer)
        assert spec is not None
        open_ = {v.name for v in spec.signature.variables if v.kind is VariableKind.CONST}
        assert open_ <= {"T"}, spec.name


def test_the_listing_has_a_line_for_each_spec() -> None:
    lines = listed_text().splitlines()
    at = lines.index("torch.nn.modules.linear.Linear")
    assert lines[at + 1] == "    forward(input: Tensor[*batch, in_features]) -> Tensor[*batch, out_features]"
    assert listed_text("Linear") == listed_text("torch.nn.modules.linear.Linear") == text(nn.Linear)
    with pytest.raises(sd.ShapeError, match="no entry `Nothing`"):
        listed_text("Nothing")
