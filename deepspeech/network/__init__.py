"""Networks: one description of each, and its computation.

A network is a tuple of records (`description`), made by a function that is registered under a name (`registry`):

    from deepspeech.network import LSTM, ContextWindow, Dense, Sizes, register

    @register("two_lstms")
    def two_lstms(sizes: Sizes) -> tuple[Layer, ...]:
        return (
            ContextWindow("context", frames=5),
            Dense("projection", units=128, clip=20.0, dropout=0.1),
            LSTM("first_lstm", units=sizes.n_hidden),
            LSTM("second_lstm", units=sizes.n_hidden),
            Dense("labels", units=sizes.outputs),
        )

The variables, the training graph, the exported graph, the engine that serves it, and every text about them are derived
from the records. This module needs no TensorFlow; `training` and `frozen` do.
"""

from .description import (
    LSTM,
    BidirectionalLSTM,
    ChunkedLSTM,
    ContextWindow,
    Convolution,
    ConvolutionModule,
    Dense,
    FeedForward,
    IntermediateCTC,
    Layer,
    LayerNormalization,
    Network,
    Projection,
    SelfAttention,
    Sizes,
    Variable,
)
from .registry import network, register

__all__ = [
    "LSTM",
    "BidirectionalLSTM",
    "ChunkedLSTM",
    "ContextWindow",
    "Convolution",
    "ConvolutionModule",
    "Dense",
    "FeedForward",
    "IntermediateCTC",
    "Layer",
    "LayerNormalization",
    "Network",
    "Projection",
    "SelfAttention",
    "Sizes",
    "Variable",
    "network",
    "register",
]
