"""The building blocks that several networks share."""

from collections.abc import Callable

from ..errors import NetworkError
from .description import Convolution, Dense, IntermediateCTC, Layer, Projection, Sizes


def of_blocks(sizes: Sizes, count: int, block: Callable[[Sizes, int], tuple[Layer, ...]]) -> tuple[Layer, ...]:
    """Return subsampling, a projection to `sizes.n_hidden` numbers, blocks 1 to `count`, inner losses, and the labels.

    Raise NetworkError for settings that do not fit.
    """
    losses = intermediate(sizes, count)
    blocks = [layer for number in range(1, count + 1) for layer in (*block(sizes, number), *losses.get(number, ()))]
    return (
        *subsampling(sizes),
        Projection("projection", sizes.n_hidden),
        *blocks,
        Dense("labels", units=sizes.outputs),
    )


def subsampling(sizes: Sizes) -> tuple[Convolution, ...]:
    """Return convolutions that reduce the frames to one row for each `output_step` milliseconds.

    With two, each halves the frequencies, and both reduce the frames. With four, the first and the third halve the
    frequencies, the second and the fourth reduce the frames, and the last two have twice the channels (after Simonyan
    and Zisserman, "Very deep convolutional networks", 2015). Raise NetworkError if a row is not a whole number of
    frames.
    """
    options = sizes.settings
    frames, rest = divmod(options.output_step, sizes.step_ms)
    if rest or not frames:
        raise NetworkError(
            f"--output_step={options.output_step}: must be a multiple of the {sizes.step_ms} ms from one frame to the "
            "next (--feature_win_step, --skip_frames)"
        )
    first = 2 if frames % 2 == 0 else frames
    second, channels, more = frames // first, options.channels, 2 * options.channels
    shapes = [(1, channels, first, 2), (channels, channels, second, 2)]
    if options.convolutions == 4:
        shapes = [(1, channels, 1, 2), (channels, channels, first, 1), (channels, more, 1, 2), (more, more, second, 1)]
    return tuple(
        Convolution(
            f"convolution_{number}",
            channels=made,
            input_channels=taken,
            time=max(3, time_stride),
            time_stride=time_stride,
            frequency_stride=frequency_stride,
            clip=sizes.relu_clip,
        )
        for number, (taken, made, time_stride, frequency_stride) in enumerate(shapes, start=1)
    )


def intermediate(sizes: Sizes, count: int) -> dict[int, tuple[IntermediateCTC]]:
    """Return the losses of inner layers or blocks, which have numbers from 1 to `count`, by the number before the loss.

    A single layer has no inner layers, so by default there is no such loss.
    Raise NetworkError for numbers that are not those of layers before the last.
    """
    options = sizes.settings
    if not options.intermediate_ctc_weight or (count == 1 and not options.intermediate_ctc_layers):
        return {}
    wanted = options.intermediate_ctc_layers or (str((count + 1) // 2),)
    if any(not number.isdecimal() or not 1 <= int(number) < count for number in wanted):
        several = f"numbers from 1 to {count - 1}, of layers before the last"
        allowed = {1: "left out for one layer", 2: "1, the number of the layer before the last"}.get(count, several)
        raise NetworkError(f"--intermediate_ctc_layers={','.join(wanted)}: must be {allowed}")
    numbers = set(map(int, wanted))
    weight = options.intermediate_ctc_weight / len(numbers)
    return {number: (IntermediateCTC(f"intermediate_{number}", weight),) for number in numbers}
