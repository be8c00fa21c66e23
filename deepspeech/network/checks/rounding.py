"""The layers that can be trained for 8-bit inference; see `deepspeech.network.rounding`."""

from ...errors import NetworkError
from ..description import (
    LSTM,
    ContextWindow,
    Convolution,
    ConvolutionModule,
    Dense,
    FeedForward,
    IntermediateCTC,
    LayerNormalization,
    Network,
    Projection,
    SelfAttention,
    TwoLSTMs,
)
from ..layers.compute import Compute

ROUNDED = Dense | LSTM | TwoLSTMs | Projection | Convolution | FeedForward | SelfAttention | ConvolutionModule
"""Layers whose products can be trained with 8-bit factors."""

WITHOUT_PRODUCTS = LayerNormalization | IntermediateCTC | ContextWindow


def check_rounding(network: Network, compute: Compute) -> None:
    """Raise NetworkError if factors must be rounded, but those of a layer of the network cannot be."""
    if compute.quantize_after is None:
        return
    for layer in network.layers_after_window[1:-1]:
        if not isinstance(layer, ROUNDED | WITHOUT_PRODUCTS):
            raise NetworkError(
                f"--quantize_aware: layer {layer.name} is a {type(layer).__name__}, which cannot be trained for int8; "
                "use one of this program's networks, or omit the flag"
            )
