"""Which networks the exported graph's format can say; needs no TensorFlow, so that it is known before training."""

from ..errors import ExportError
from .description import LSTM, ContextWindow, Dense, Network


def check_frozen(network: Network) -> None:
    """Raise ExportError, naming the layer, for a network that the format of exported graphs cannot say."""
    for layer in network.layers_after_window:
        if isinstance(layer, ContextWindow):
            reason = f"{layer.name} puts frames between their neighbours after other layers, but a graph gets only the "
            reason += "windows that go into the first layer"
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
            f"network {network.name} cannot be exported as a graph: it has no LSTM, but clients pass its state"
        )
