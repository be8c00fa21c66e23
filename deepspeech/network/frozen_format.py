"""Which networks the format of exported graphs can hold; checked before training, and so without TensorFlow."""

from ..errors import ExportError
from .description import LSTM, ContextWindow, Dense, Network


def check_frozen(network: Network) -> None:
    """Raise ExportError, naming the layer, for a network that the format of exported graphs cannot hold."""
    for layer in network.layers_after_window:
        if isinstance(layer, ContextWindow):
            reason = f"{layer.name} is a context window after other layers, but a graph has only the one "
            reason += "that comes first, as its input"
        elif not isinstance(layer, Dense | LSTM):
            reason = (
                f"{layer.name} is a {type(layer).__name__}, but a graph has only context windows, dense layers and "
            )
            reason += "LSTMs"
        else:
            continue
        raise ExportError(f"network {network.name} cannot be exported as a graph: its layer {reason}")
    if not network.recurrent_layers:
        raise ExportError(
            f"network {network.name} cannot be exported as a graph: it has no LSTM, but clients need the state of one"
        )
