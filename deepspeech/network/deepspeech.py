"""The network of DeepSpeech, with the variable names of DeepSpeech 0.9.

Its layers are: three clipped-ReLU layers on a frame and its neighbours, an LSTM over time, a clipped-ReLU layer and a
linear one (Hannun et al., "Deep Speech", 2014, with an LSTM in place of the bidirectional recurrence).
"""

from functools import partial

from .description import LSTM, ContextWindow, Dense, Layer, Sizes

UNNAMED_NETWORK = "deepspeech"
"""This network's name, which also applies to checkpoints and graphs without a network's name, such as DeepSpeech's."""

LSTM_NAME = "cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell"
"""The scope of the LSTM's `kernel` and `bias` in DeepSpeech 0.9."""


def layers(sizes: Sizes) -> tuple[Layer, ...]:
    """Return the layers; hidden ones have `sizes.n_hidden` units, the last one `sizes.outputs`."""
    rates = sizes.dropout_rates
    hidden = partial(Dense, units=sizes.n_hidden, clip=sizes.relu_clip)
    return (
        ContextWindow("context", frames=sizes.context),
        hidden("layer_1", dropout=rates[0], older_names=("h1", "b1")),
        hidden("layer_2", dropout=rates[1], older_names=("h2", "b2")),
        hidden("layer_3", dropout=rates[2], older_names=("h3", "b3")),
        LSTM(
            LSTM_NAME,
            units=sizes.n_hidden,
            input_dropout=rates[3],
            output_dropout=rates[4],
            older_names=("lstm_fused_cell/kernel", "lstm_fused_cell/bias"),
        ),
        hidden("layer_5", dropout=rates[5], older_names=("h5", "b5")),
        Dense("layer_6", units=sizes.outputs, begins_with_blanks=True, older_names=("h6", "b6")),
    )
