"""The networks that exported graphs support; checked before training, so without TensorFlow.

Graphs of networks that have only DeepSpeech's layers are in the format of its published clients. Other graphs compute
whole utterances, and are for TensorFlow and this program's engine.
"""

from math import prod

from ...errors import ExportError
from ..description import LSTM, ContextWindow, Dense, IntermediateCTC, Layer, Network
from ..serialization import LARGEST_SIZE, LAYERS, unreadable_setting

OF_CLIENTS = (Dense, LSTM, IntermediateCTC)
"""The layers after the context window that published clients of DeepSpeech support, or that have no effect there."""

LARGEST_WEIGHTS = 2**31 - 2**20
"""The most bytes of all weights. Protocol buffers and flatbuffers, and so all formats, end at 2 GiB."""


def is_for_clients(network: Network) -> bool:
    """Return whether the graph of a network is in the format of published clients of DeepSpeech."""
    return all(isinstance(layer, OF_CLIENTS) for layer in network.layers_after_window)


def check_frozen(network: Network) -> None:
    """Raise ExportError for a network that no exported graph supports: for a layer, which it names, or for its size."""
    complaints = [complaint for layer in network.layers_after_window if (complaint := _complaint(layer))]
    if is_for_clients(network) and not network.recurrent_layers:
        complaints.append("it has no LSTM, but clients need the state of one")
    if complaints:
        raise ExportError(f"network {network.name} cannot be exported as a graph: {complaints[0]}")
    size = 4 * sum(prod(shape) for shape in network.shapes.values())
    if size > LARGEST_WEIGHTS:
        raise ExportError(
            f"the weights of network {network.name} take {size:,} bytes, but an exported model holds "
            f"{LARGEST_WEIGHTS:,} at most; train with a lower --n_hidden, or without --export_dir"
        )


def _complaint(layer: Layer) -> str:
    """Return why the format does not support a layer after the context window; empty if it does."""
    if isinstance(layer, ContextWindow):
        return (
            f"its layer {layer.name} is a context window after other layers, but a graph has only the one that comes "
            "first, as its input"
        )
    if type(layer) not in (*LAYERS.values(), IntermediateCTC):
        return f"its layer {layer.name} is a {type(layer).__name__}, but a graph has only {', '.join(LAYERS)}"
    if wrong := unreadable_setting(layer):
        return f"its layer {layer.name} has {wrong}, but a graph has only numbers from 0 to {LARGEST_SIZE:,}"
    return ""
