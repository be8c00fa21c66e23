"""The description of a network: records of its layers, from a frame's features to a logit for each label and the blank.

Everything else about a network is derived from its records: names and shapes of variables, graphs, checks, the card of
an exported model. No TensorFlow here.
"""

from .attention import LONGEST_WAVE, ConvolutionModule, FeedForward, SelfAttention
from .convolution import Convolution
from .frames import NORMALIZATION_EPSILON, ContextWindow, Dense, IntermediateCTC, LayerNormalization, Projection
from .layer import (
    BLANK_BIAS,
    GLOROT,
    LIKELY_BLANK,
    ONES,
    OPEN_FORGET_GATE,
    ZEROS,
    Layer,
    Shape,
    Variable,
    may_be_left_out,
    settings_of,
)
from .network import Network, Sizes
from .recurrent import LSTM, BidirectionalLSTM, ChunkedLSTM, TwoLSTMs

__all__ = [
    "BLANK_BIAS",
    "GLOROT",
    "LIKELY_BLANK",
    "LONGEST_WAVE",
    "LSTM",
    "NORMALIZATION_EPSILON",
    "ONES",
    "OPEN_FORGET_GATE",
    "ZEROS",
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
    "Shape",
    "Sizes",
    "TwoLSTMs",
    "Variable",
    "may_be_left_out",
    "settings_of",
]
