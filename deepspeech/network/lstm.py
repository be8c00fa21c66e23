"""A network for small and large data: convolutions that reduce the frames, then normalized LSTMs.

Two convolutions halve the frequencies each and make one row of 40 ms from as many frames as that takes; LSTMs follow,
each with layer normalization, and a projection if it is wanted (after Graves et al., "Speech recognition with deep
recurrent neural networks", 2013, and Amodei et al., "Deep Speech 2", 2016). One-directional LSTMs stream, with a
look-ahead of a few frames; bidirectional ones need the whole recording and are more accurate. Those that are
bidirectional in chunks stream, too, chunk by chunk, and are nearly as accurate.
"""

from .building import intermediate, subsampling
from .description import LSTM, BidirectionalLSTM, ChunkedLSTM, Dense, Layer, LayerNormalization, Projection, Sizes


def layers(sizes: Sizes) -> tuple[Layer, ...]:
    """Return the layers; each direction of an LSTM has `sizes.n_hidden` units, the last layer `sizes.outputs`.

    Dropout, of the first of the rates, is after each normalization. Raise NetworkError for settings that do not fit.
    """
    options, rate = sizes.settings.lstm, sizes.dropout_rates[0]
    losses = intermediate(sizes, options.layers)
    made: list[Layer] = [*subsampling(sizes), LayerNormalization("normalization_0", dropout=rate)]
    for number in range(1, options.layers + 1):
        made.append(_recurrent(sizes, f"lstm_{number}"))
        if options.projection:
            made.append(Projection(f"projection_{number}", options.projection))
        made.append(LayerNormalization(f"normalization_{number}", dropout=rate))
        made += losses.get(number, ())
    return (*made, Dense("labels", units=sizes.outputs))


def _recurrent(sizes: Sizes, name: str) -> Layer:
    if sizes.settings.bidirectional:
        return BidirectionalLSTM(name, sizes.n_hidden)
    chunk = sizes.settings.lstm.chunk
    return ChunkedLSTM(name, sizes.n_hidden, chunk) if chunk else LSTM(name, sizes.n_hidden)
