from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util.batching.lengths import few_lengths


@given(st.integers(1, 10_000))
def test_few_lengths_are_16_an_octave_with_at_most_a_sixteenth_of_padding(frames: int) -> None:
    length = few_lengths(frames)
    assert few_lengths(length) == length
    assert frames <= length <= frames + frames / 16
    octave = {few_lengths(each) for each in range(frames + 1, 2 * frames + 1)}
    assert len(octave) <= 17
