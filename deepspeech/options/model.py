"""The acoustic model."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from .rows.checks import OneOf, Range, at_least, between, more_than, one_to
from .rows.flag import flag, whether_given

MODEL = "Model"
PROVIDED = ("deepspeech", "lstm", "conformer", "convolutional")
"""The networks of this program, each a module of `deepspeech/network` whose function `layers` returns its records.

The notices say which settings have an effect in them. A user's own network may use any setting."""
_RATE = between(0, 1)
_RATE_OR_FIRST = Range("less than 1, or negative for the value of --dropout_rate", high=1)


@dataclass(frozen=True)
class LSTMOptions:
    """The settings of only the network `lstm`."""

    title: ClassVar[str] = MODEL
    layers: int = flag(4, "LSTM layers of the network lstm", name="lstm_layers", check=at_least(1))
    projection: int = flag(
        0,
        "size that the outputs of each LSTM of the network lstm are projected to; 0: no projection",
        name="lstm_projection",
        check=at_least(0),
    )
    chunk: int = flag(
        0,
        "outputs that the network lstm computes at a time when it streams; each sees all of them; 0: only the past",
        name="lstm_chunk",
        check=at_least(0),
    )
    offset: int = flag(
        0,
        "outputs by which chunks of every second LSTM layer end earlier, so that each output sees some later ones",
        name="lstm_chunk_offset",
        check=at_least(0),
    )
    given: bool = whether_given(
        *("lstm_layers", "lstm_projection", "lstm_chunk", "lstm_chunk_offset"),
        name="lstm_settings_given",
        decides_result=False,
    )
    chunk_given: bool = whether_given("lstm_chunk", "lstm_chunk_offset", name="lstm_chunk_given", decides_result=False)


@dataclass(frozen=True)
class ConformerOptions:
    """The settings of only the network `conformer`."""

    title: ClassVar[str] = MODEL
    layers: int = flag(8, "blocks of the network conformer", name="conformer_layers", check=at_least(1))
    heads: int = flag(4, "heads of each attention of the network conformer", name="attention_heads", check=at_least(1))
    chunk: int = flag(
        16,
        "outputs that the network conformer computes at a time when it streams",
        name="attention_chunk",
        check=at_least(1),
    )
    left: int = flag(
        64, "outputs before a chunk that attention sees in streaming", name="attention_left", check=at_least(0)
    )
    given: bool = whether_given(
        *("conformer_layers", "attention_heads", "attention_chunk", "attention_left"),
        name="conformer_settings_given",
        decides_result=False,
    )
    chunk_given: bool = whether_given(
        "attention_chunk", "attention_left", name="attention_chunk_given", decides_result=False
    )


@dataclass(frozen=True)
class ConvolutionalOptions:
    """The settings of only the network `convolutional`."""

    title: ClassVar[str] = MODEL
    layers: int = flag(4, "blocks of the network convolutional", name="convolutional_layers", check=at_least(1))
    given: bool = whether_given("convolutional_layers", name="convolutional_settings_given", decides_result=False)


@dataclass(frozen=True)
class NetworkOptions:
    """The settings of the networks `lstm`, `conformer` and `convolutional`."""

    title: ClassVar[str] = MODEL
    bidirectional: bool = flag(
        False, "let the network lstm or conformer see the whole recording: more accurate, but it cannot stream"
    )
    convolutions: int = flag(
        2,
        "first convolutions of lstm, conformer and convolutional: 2, or 4, the last two of which have twice the "
        "channels",
        check=OneOf((2, 4)),
    )
    channels: int = flag(
        32,
        "channels of these convolutions",
        name="convolution_channels",
        check=at_least(1),
    )
    output_step: int = flag(
        40, "milliseconds from one output of lstm, conformer or convolutional to the next", check=at_least(1)
    )
    intermediate_ctc_weight: float = flag(
        0.0,
        "share of the CTC losses of inner layers in the training loss of lstm, conformer or convolutional",
        check=between(0, 1),
    )
    intermediate_ctc_layers: tuple[str, ...] = flag(
        (), "layers, counted from 1, that have such a loss; default: the middle one"
    )
    kernel: int = flag(
        15,
        "outputs that a convolution of a block of conformer or convolutional sees",
        name="convolution_kernel",
        check=at_least(1),
    )
    lstm: LSTMOptions = field(default_factory=LSTMOptions)
    conformer: ConformerOptions = field(default_factory=ConformerOptions)
    convolutional: ConvolutionalOptions = field(default_factory=ConvolutionalOptions)
    shared_given: bool = whether_given(
        *("convolutions", "convolution_channels", "output_step"),
        *("intermediate_ctc_weight", "intermediate_ctc_layers"),
        name="network_settings_given",
        decides_result=False,
    )
    bidirectional_given: bool = whether_given("bidirectional", name="bidirectional_given", decides_result=False)
    kernel_given: bool = whether_given("convolution_kernel", name="convolution_kernel_given", decides_result=False)

    def notices(self, network: str) -> Iterator[str]:
        """Yield a line for each kind of flag that is given, but has no effect in this network."""
        of_others = {
            "lstm": (self.lstm.given, "--lstm_layers, --lstm_projection and --lstm_chunk…"),
            "conformer": (self.conformer.given, "--conformer_layers and --attention_…"),
            "convolutional": (self.convolutional.given, "--convolutional_layers"),
            "conformer or convolutional": (self.kernel_given, "--convolution_kernel"),
            "lstm or conformer": (self.bidirectional_given and self.bidirectional, "--bidirectional"),
            "lstm, conformer or convolutional": (
                self.shared_given,
                "--convolutions, --convolution_channels, --output_step and --intermediate_ctc_…",
            ),
        }
        for owners, (given, flags) in of_others.items():
            if given and network in PROVIDED and network not in owners.replace(",", "").split():
                yield f"{flags}: for the network {owners} only, without effect in the network {network}"
        in_chunks = {"lstm": (self.lstm.chunk_given, "--lstm_chunk and --lstm_chunk_offset")}
        in_chunks["conformer"] = (self.conformer.chunk_given, "--attention_chunk and --attention_left")
        given, flags = in_chunks.get(network, (False, ""))
        if given and self.bidirectional:
            yield f"{flags}: without effect beside --bidirectional; --nobidirectional makes a network that streams"
        layers = {"lstm": self.lstm.layers, "conformer": self.conformer.layers}
        layers["convolutional"] = self.convolutional.layers
        if layers.get(network) == 1 and self.intermediate_ctc_weight and not self.intermediate_ctc_layers:
            yield "--intermediate_ctc_weight: without effect in a network of one layer, which has no inner layer"
        if network in PROVIDED[1:] and self.intermediate_ctc_layers and not self.intermediate_ctc_weight:
            yield "--intermediate_ctc_layers: without effect, as --intermediate_ctc_weight is 0; set it to 0.3 or so"


@dataclass(frozen=True)
class ModelOptions:
    """The acoustic model: its network, sizes and dropout."""

    title: ClassVar[str] = MODEL
    n_hidden: int = flag(2048, "units of each hidden layer", check=one_to(65_536))
    relu_clip: float = flag(20.0, "upper limit of the clipped ReLU", check=more_than(0))
    dropout_rate: float = flag(0.05, "dropout of layer 1, and of layers 2, 3 and 5 unless given", check=_RATE)
    dropout_rate2: float = flag(-1.0, "dropout of layer 2; negative: dropout_rate", check=_RATE_OR_FIRST)
    dropout_rate3: float = flag(-1.0, "dropout of layer 3; negative: dropout_rate", check=_RATE_OR_FIRST)
    dropout_rate4: float = flag(0.0, "dropout of the LSTM's input", check=_RATE)
    dropout_rate5: float = flag(0.0, "dropout of the LSTM's output (formerly, of the backward LSTM)", check=_RATE)
    dropout_rate6: float = flag(-1.0, "dropout of layer 5; negative: dropout_rate", check=_RATE_OR_FIRST)
    network: str = flag("deepspeech", "registered name of the network, or FILE.py:NAME")
    settings: NetworkOptions = field(default_factory=NetworkOptions)
    context: int = flag(
        9, "frames that the network sees on either side of each frame", check=at_least(0), on_command_line=False
    )

    @property
    def notices(self) -> Iterator[str]:
        """A line for each kind of flag that is given, but has no effect in the network."""
        of_layers = [f"dropout_rate{number}" for number in range(2, 7)]
        given = [f"--{name}" for name in of_layers if getattr(self, name) != getattr(ModelOptions, name)]
        if given and self.network in PROVIDED[1:]:
            yield f"{', '.join(given)}: without effect in the network {self.network}, which has --dropout_rate alone"
        yield from self.settings.notices(self.network)

    @property
    def dropout_rates(self) -> tuple[float, float, float, float, float, float]:
        """The rates of layers 1, 2, 3, the LSTM's input, the LSTM's output, and layer 5."""
        return (
            self.dropout_rate,
            self._or_first(self.dropout_rate2),
            self._or_first(self.dropout_rate3),
            self.dropout_rate4,
            self.dropout_rate5,
            self._or_first(self.dropout_rate6),
        )

    def _or_first(self, rate: float) -> float:
        return self.dropout_rate if rate < 0 else rate
