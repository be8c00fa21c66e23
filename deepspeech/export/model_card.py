"""The model card of an exported model: what its users need to know about it."""

from dataclasses import dataclass

from .. import __version__
from ..checkpoints.identity import ModelIdentity
from ..checkpoints.model_figures import ModelFigures
from ..network import Network
from ..network.deepspeech import UNNAMED_NETWORK
from ..network.frozen.supported import is_for_clients
from ..network.registry import flag_of
from ..options import ExportOptions
from ..options.export import GRAPH, TFLITE
from ..options.training.epochs import LOSS, in_words
from ..schedule.state import TrainingState
from ..serving.frozen.metadata import GRAPH_VERSION
from ..util.features import GLOBAL, RUNNING, UTTERANCE, FeatureOptions, front_end
from ..util.figures.counted import counted
from ..util.figures.markdown import in_code
from ..util.output_units import ByteAlphabet
from ..util.text import Alphabet

SHOWN_LABELS = 100
"""The number of labels that a card lists."""

OF_GRAPH_VERSION = (GRAPH, TFLITE)
"""The formats whose files contain the version of DeepSpeech's graphs for clients."""

NORMALIZED_BY = {
    GLOBAL: "the training set",
    RUNNING: "the recording so far, which start from those of the training set",
    UTTERANCE: "the whole recording",
}
"""The source of the statistics that normalize features."""


@dataclass(frozen=True)
class Card:
    """The content of a card: a checkpoint, its progress, figures and identity, and the options of the export."""

    checkpoints: tuple[str, ...]
    """The name of the checkpoint, or of those that are averaged."""
    state: TrainingState | None
    figures: ModelFigures
    identity: ModelIdentity
    export: ExportOptions


def model_card(card: Card) -> str:
    """Return the card as Markdown."""
    sections = (
        ("", _headline(card)),
        *((("", about),) if (about := _about(card.export)) else ()),
        ("Model", _geometry(card)),
        ("Network", _network(card.identity.network)),
        ("Features", _features(card.identity)),
        ("Alphabet", _alphabet(card.identity.alphabet)),
        ("Training", _training(card)),
        ("Test", _test(card)),
    )
    return "\n\n".join((f"## {title}\n\n" if title else "") + "\n".join(lines) for title, lines in sections) + "\n"


def _headline(card: Card) -> list[str]:
    export = card.export
    told = [
        *([f"graph version {GRAPH_VERSION}"] if export.format in OF_GRAPH_VERSION else []),
        *([f"language {export.language}"] if export.language else []),
        f"exported by deepspeech {__version__} from {_source(card)}.",
    ]
    sentence = ", ".join(told)
    return [
        f"# {export.model_name or 'Speech recognition model'}, version {export.version}",
        "",
        sentence[0].upper() + sentence[1:],
    ]


def _source(card: Card) -> str:
    *others, last = (f"`{name}`" for name in card.checkpoints)
    names = f"{', '.join(others)} and {last}" if others else last
    return f"checkpoint {names}" if len(card.checkpoints) == 1 else f"the mean of the checkpoints {names}"


def _about(export: ExportOptions) -> list[str]:
    entries = {"author": export.author, "contact": export.contact, "license": export.license}
    listed = [f"- {name}: {text}" for name, text in entries.items() if text]
    return listed + [""] * bool(listed and export.description) + [export.description] * bool(export.description)


def _geometry(card: Card) -> list[str]:
    network, model, export = card.identity.network, card.identity.model, card.export
    parameters = sum(variable.size for variable in network.variables)
    utterances = "one utterance" if export.batch_size == 1 else f"{export.batch_size} utterances"
    runs = f"- {export.n_steps} time steps of {utterances} in a run of the graph (`--n_steps`, `--export_batch_size`)"
    of_flags = [
        f"- {model.n_hidden} units in each hidden layer (`--n_hidden`)",
        f"- rectified linear units clipped at {model.relu_clip:g} (`--relu_clip`)",
    ]
    flag = flag_of(network.name)
    of_file = "- `FILE.py` is its author's, and is needed only to train it further"
    return [
        f"- network `{network.name}` (`--network={flag}`), {parameters:,} parameters",
        *([of_file] if flag != network.name else []),
        *(of_flags if network.name == UNNAMED_NETWORK else []),
        *([runs] if is_for_clients(network) and export.format in OF_GRAPH_VERSION else _of_any_size(card)),
        f"- beam width {export.beam_width} unless a client asks for another",
    ]


def _of_any_size(card: Card) -> list[str]:
    """Return what there is to know of a model whose runs take as many steps as there are."""
    network, features = card.identity.network, card.identity.features
    step_ms, is_live = features.network_step_ms, network.streams and not features.of_whole_recordings
    streams = f"streams, with a look-ahead of {network.look_ahead * step_ms} ms"
    clients = "for this program and TensorFlow: DeepSpeech's published clients lack its layers"
    return [
        *([f"- {clients}"] if card.export.format == GRAPH else []),
        f"- an output every {network.time_reduction * step_ms} ms",
        f"- {streams if is_live else 'needs the whole recording: it does not stream'}",
    ]


def _network(network: Network) -> list[str]:
    lines = ["| layer | kind | inputs | outputs | parameters |", "| --- | --- | ---: | ---: | ---: |"]
    for layer, inputs in network.layers_with_inputs:
        parameters = sum(variable.size for variable in layer.variables(inputs))
        name = layer.name.rpartition("/")[2]
        lines.append(f"| {name} | {type(layer).__name__} | {inputs} | {layer.width(inputs)} | {parameters:,} |")
    return lines


def _features(identity: ModelIdentity) -> list[str]:
    features = identity.features
    contents = front_end(features).contents
    return [
        f"- audio at {features.sample_rate} Hz, 16 bits, mono",
        f"- {features.coefficients} {contents} (`{features.feature_type}`) of windows of {features.window_ms} ms "
        f"every {features.step_ms} ms, with {identity.network.context} frames of context on either side",
        *_treatment(features),
    ]


def _treatment(features: FeatureOptions) -> list[str]:
    lines = []
    if features.stacked:
        lines.append(f"- {features.stack_frames} frames in one of the network's, every {features.network_step_ms} ms")
    if features.normalized:
        by = NORMALIZED_BY[features.normalization]
        lines.append(f"- normalized by the statistics of {by} (`--normalize_features={features.normalization}`)")
    return lines


def _alphabet(alphabet: Alphabet) -> list[str]:
    if alphabet.unit == ByteAlphabet.unit:
        return [f"{alphabet.size} labels, which are bytes of UTF-8, and the blank"]
    kind = "" if alphabet.unit == Alphabet.unit else f" ({alphabet.unit})"
    more = " …" if alphabet.size > SHOWN_LABELS else ""
    shown = " ".join(map(in_code, alphabet.labels[:SHOWN_LABELS]))
    return [f"{alphabet.size} labels{kind} and the blank: {shown}{more}"]


def _training(card: Card) -> list[str]:
    figures, state = card.figures, card.state
    lines = []
    if figures.train_utterances:
        heard = counted(figures.train_utterances, "utterance", thousands=",")
        lines.append(f"- {heard}, {figures.train_hours:.2f} hours")
    if state is not None:
        lines.append(f"- {counted(state.epoch, 'epoch')}")
        if state.dev_figures:
            best = min(state.dev_figures)
            figure = f"{best:.4f}" if state.best_by == LOSS else f"{best:.2%} without a language model"
            lines.append(f"- lowest validation {in_words(state.best_by)} {figure}")
    return lines or ["The checkpoint does not record how it was trained."]


def _test(card: Card) -> list[str]:
    figures = card.figures
    if not figures.test_utterances or figures.test_checkpoint != ", ".join(card.checkpoints):
        return ["These weights were not tested."]
    which = "shortest utterance" if figures.test_limit else "utterance"
    tested = counted(figures.test_utterances, which, thousands=",")
    limit = f" (`--limit_test={figures.test_limit}`)" if figures.test_limit else ""
    return [
        f"- word error rate {figures.wer:.2%}, character error rate {figures.cer:.2%}, loss {figures.test_loss:.4f}",
        f"- {_source(card)}",
        f"- the {tested} of {', '.join(figures.test_files)}{limit}",
        *([f"- decoded {figures.language_model}"] if figures.language_model else []),
    ]
