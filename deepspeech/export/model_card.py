"""The card of an exported model: what a person who is handed the graph needs to know about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from .. import __version__
from ..checkpoints.model_figures import Findings
from ..network.variable_names import LSTM_SCOPE
from ..schedule.state import TrainingState
from ..serving.frozen.metadata import GRAPH_VERSION
from ..util.features import FeatureOptions
from ..util.text import Alphabet
from .frozen_graph import InferenceOptions


@dataclass(frozen=True)
class Card:
    """What a card tells."""

    version: int
    checkpoint: str
    state: TrainingState | None
    findings: Findings
    alphabet: Alphabet
    features: FeatureOptions
    inference: InferenceOptions
    shapes: Mapping[str, tuple[int, ...]]


def model_card(card: Card) -> str:
    """Return the card as Markdown."""
    sections = (
        ("", _headline(card)),
        ("Model", _geometry(card)),
        ("Features", _features(card.features)),
        ("Alphabet", _alphabet(card.alphabet)),
        ("Training", _training(card)),
        ("Test", _test(card)),
    )
    return "\n\n".join((f"## {title}\n\n" if title else "") + "\n".join(lines) for title, lines in sections) + "\n"


def _headline(card: Card) -> list[str]:
    language = f", language {card.inference.language}" if card.inference.language else ""
    return [
        f"# Speech recognition model, version {card.version}",
        "",
        f"Graph version {GRAPH_VERSION}{language}, exported by deepspeech {__version__} from checkpoint "
        f"`{card.checkpoint}`.",
    ]


def _geometry(card: Card) -> list[str]:
    inference = card.inference
    n_hidden = card.shapes[f"{LSTM_SCOPE}/bias"][0] // 4
    parameters = sum(prod(shape) for shape in card.shapes.values())
    return [
        f"- {n_hidden} units in each hidden layer (`--n_hidden`), {parameters:,} parameters",
        f"- rectified linear units clipped at {inference.relu_clip:g} (`--relu_clip`)",
        f"- {inference.n_steps} time steps of {inference.batch_size} utterances a run (`--n_steps`, "
        "`--export_batch_size`)",
        f"- beam width {inference.beam_width} unless a client asks for another",
    ]


def _features(features: FeatureOptions) -> list[str]:
    return [
        f"- audio at {features.sample_rate} Hz, 16 bits, mono",
        f"- {features.coefficients} MFCCs (`{features.feature_type}`) of windows of {features.window_ms} ms "
        f"every {features.step_ms} ms, with {features.context} frames of context on either side",
    ]


def _alphabet(alphabet: Alphabet) -> list[str]:
    return [f"{alphabet.size} labels and the blank: " + " ".join(f"`{label}`" for label in alphabet.labels)]


def _training(card: Card) -> list[str]:
    found, state = card.findings, card.state
    lines = []
    if found.train_utterances:
        lines.append(f"- {found.train_utterances:,} utterances, {found.train_hours:.2f} hours")
    if state is not None:
        lines.append(f"- {state.epoch} epochs")
        if state.dev_losses:
            lines.append(f"- lowest validation loss {state.best_dev_loss:.4f}")
    return lines or ["Nothing is known about it."]


def _test(card: Card) -> list[str]:
    found = card.findings
    if not found.test_utterances or found.test_checkpoint != card.checkpoint:
        return ["This checkpoint was not tested."]
    return [
        f"- word error rate {found.wer:.2%}, character error rate {found.cer:.2%}, loss {found.test_loss:.4f}",
        f"- {found.test_utterances:,} utterances of {', '.join(found.test_files)}",
    ]
