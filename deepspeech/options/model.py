"""The acoustic model."""

from dataclasses import dataclass
from typing import ClassVar

from .rows.checks import Range, at_least, between, more_than
from .rows.flag import flag

_RATE = between(0, 1)
_RATE_OR_FIRST = Range("less than 1, or negative for the value of --dropout_rate", high=1)


@dataclass(frozen=True)
class ModelOptions:
    """The acoustic model: its network, sizes and dropout."""

    title: ClassVar[str] = "Model"
    n_hidden: int = flag(2048, "units of each hidden layer", check=at_least(1))
    relu_clip: float = flag(20.0, "upper limit of the clipped ReLU", check=more_than(0))
    dropout_rate: float = flag(0.05, "dropout of layer 1, and of layers 2, 3 and 5 unless given", check=_RATE)
    dropout_rate2: float = flag(-1.0, "dropout of layer 2; negative: dropout_rate", check=_RATE_OR_FIRST)
    dropout_rate3: float = flag(-1.0, "dropout of layer 3; negative: dropout_rate", check=_RATE_OR_FIRST)
    dropout_rate4: float = flag(0.0, "dropout of the LSTM's input", check=_RATE)
    dropout_rate5: float = flag(0.0, "dropout of the LSTM's output (formerly, of the backward LSTM)", check=_RATE)
    dropout_rate6: float = flag(-1.0, "dropout of layer 5; negative: dropout_rate", check=_RATE_OR_FIRST)
    network: str = flag("deepspeech", "the network, by its registered name, or FILE.py:NAME")
    context: int = flag(
        9, "frames on either side that the network sees beside each one", check=at_least(0), on_command_line=False
    )

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
