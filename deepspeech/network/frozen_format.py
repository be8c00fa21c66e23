"""Which networks the format of exported graphs can hold; checked before training, and so without TensorFlow."""

from ..errors import ExportError
from .description import LSTM, ContextWindow, Dense, Layer, Network


def check_frozen(network: Network) -> None:
    """Raise ExportError, naming the layer, for a network that the format of exported graphs cannot hold."""
    complaints = [complaint for layer in network.layers_after_window if (complaint := _complaint(layer))]
    if not network.recurrent_layers:
        complaints.append("it has no LSTM, but clients need the state of one")
    if complaints:
        raise ExportError(f"network {network.name} cannot be exported as a graph: {complaints[0]}")


def _complaint(layer: Layer) -> str:
    """Return why a layer after the context window is not in the format; empty if it is."""
    if isinstance(layer, ContextWindow):
        return (
            f"its layer {layer.name} is a context window after other layers, but a graph has only the one that comes "
            "first, as its input"
        )
    if not isinstance(layer, Dense | LSTM):
        kind = type(layer).__name__
        return f"its layer {layer.name} is a {kind}, but a graph has only context windows, dense layers and LSTMs"
    return ""
