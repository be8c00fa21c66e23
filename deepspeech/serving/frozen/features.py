"""The features of an exported graph."""

from ...errors import FeatureError, GraphError
from ...util.audio import HIGHEST_RATE, LOWEST_RATE
from ...util.features import FeatureOptions
from ...util.frames.normalization import FeatureStatistics
from .metadata import parse_features
from .nodes import Constants, input_shape, integer_of, text_of

LARGEST_WINDOW = 1 << 15
"""The most samples of a window; 32 ms have fewer at any rate that can be read."""

MOST_COEFFICIENTS = 1 << 10
"""The most features of a frame."""


def describes_features(graph: Constants) -> bool:
    """Return whether a graph describes its features, because they are not those of DeepSpeech's clients."""
    return "metadata_features" in graph.nodes


def read_features(graph: Constants) -> tuple[FeatureOptions, FeatureStatistics | None]:
    """Return the features of a graph, and their normalization statistics; raise GraphError if they cannot be computed.

    A graph that does not describe its features has those of DeepSpeech's clients.
    """
    if describes_features(graph):
        options, statistics = parse_features(text_of(graph, "metadata_features"))
        check_sizes(options)
        return options, statistics
    window_ms = integer_of(graph, "metadata_feature_win_len", 32)
    step_ms = integer_of(graph, "metadata_feature_win_step", 20)
    if min(window_ms, step_ms) < 1:
        raise GraphError(f"its features have windows of {window_ms} ms every {step_ms} ms")
    try:
        options = FeatureOptions(
            sample_rate=integer_of(graph, "metadata_sample_rate", 16_000),
            window_ms=window_ms,
            step_ms=step_ms,
            coefficients=input_shape(graph)[3],
        )
    except FeatureError as error:
        raise GraphError(str(error)) from None
    check_sizes(options)
    return options, None


def check_sizes(options: FeatureOptions) -> None:
    """Raise GraphError for settings that no trained model has, and that would take much memory."""
    if not LOWEST_RATE <= options.sample_rate <= HIGHEST_RATE:
        raise GraphError(f"its sample rate is {options.sample_rate} Hz, not one from {LOWEST_RATE} to {HIGHEST_RATE}")
    if options.window > LARGEST_WINDOW:
        raise GraphError(f"its features have windows of {options.window_ms} ms every {options.step_ms} ms")
    if options.coefficients > MOST_COEFFICIENTS:
        raise GraphError(f"its features have {options.coefficients} coefficients, more than {MOST_COEFFICIENTS}")
