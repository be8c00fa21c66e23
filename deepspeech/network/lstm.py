"""A network for small and large data: convolutions that reduce the frames, then normalized LSTMs.

Two convolutions halve the frequencies each and make one row of 40 ms from as many frames as that takes; LSTMs follow,
each with layer normalization, and a projection if it is wanted (after Graves et al., "Speech recognition with deep
recurrent neural networks", 2013, and Amodei et al., "Deep Speech 2", 2016). One-directional LSTMs stream, with a
look-ahead of a few frames; bidirectional ones need the whole recording and are more accurate.
"""

from ..errors import NetworkError
from .description import (
    LSTM,
    BidirectionalLSTM,
    Convolution,
    Dense,
    IntermediateCTC,
    Layer,
    LayerNormalization,
    Projection,
    Sizes,
)


def layers(sizes: Sizes) -> tuple[Layer, ...]:
    """Return the layers; each direction of an LSTM has `sizes.n_hidden` units, the last layer `sizes.outputs`.

    Dropout, of the first of the rates, is after each normalization. Raise NetworkError for settings that do not fit.
    """
    options = sizes.lstm
    rate = sizes.dropout_rates[0]
    recurrent = BidirectionalLSTM if options.bidirectional else LSTM
    with_loss = _layers_with_loss(sizes)
    weight = options.intermediate_ctc_weight / max(len(with_loss), 1)
    made: list[Layer] = [*subsampling(sizes), LayerNormalization("normalization_0", dropout=rate)]
    for number in range(1, options.layers + 1):
        made.append(recurrent(f"lstm_{number}", sizes.n_hidden))
        if options.projection:
            made.append(Projection(f"projection_{number}", options.projection))
        made.append(LayerNormalization(f"normalization_{number}", dropout=rate))
        if number in with_loss:
            made.append(IntermediateCTC(f"intermediate_{number}", weight))
    return (*made, Dense("labels", units=sizes.outputs))


def subsampling(sizes: Sizes) -> tuple[Layer, Layer]:
    """Return two convolutions that make one row of `output_step` milliseconds from as many frames as that takes.

    Raise NetworkError if these frames are not whole ones.
    """
    options = sizes.lstm
    frames, rest = divmod(options.output_step, sizes.step_ms)
    if rest or not frames:
        raise NetworkError(
            f"--output_step={options.output_step}: must be a multiple of the {sizes.step_ms} ms from one frame to the "
            "next (--feature_win_step)"
        )
    first = 2 if frames % 2 == 0 else frames
    return (
        Convolution(
            "convolution_1",
            channels=options.channels,
            time=max(3, first),
            time_stride=first,
            frequency_stride=2,
            clip=sizes.relu_clip,
        ),
        Convolution(
            "convolution_2",
            channels=options.channels,
            input_channels=options.channels,
            time=max(3, frames // first),
            time_stride=frames // first,
            frequency_stride=2,
            clip=sizes.relu_clip,
        ),
    )


def _layers_with_loss(sizes: Sizes) -> set[int]:
    """Return the numbers of the LSTMs that have a loss of their own."""
    options = sizes.lstm
    if not options.intermediate_ctc_weight:
        return set()
    wanted = options.intermediate_ctc_layers or (str((options.layers + 1) // 2),)
    if any(not number.isdecimal() or not 1 <= int(number) < options.layers for number in wanted):
        raise NetworkError(
            f"--intermediate_ctc_layers={','.join(wanted)}: must be numbers from 1 to {options.layers - 1}, of LSTM "
            "layers before the last"
        )
    return set(map(int, wanted))
