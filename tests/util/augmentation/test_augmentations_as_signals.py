"""Each kind of augmentation, measured on signals with known results."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from augmenting import RATE, SECONDS, TIME, TONE, WHITE, Array, augmented

from deepspeech.util.augmentation.kinds.noise import pink
from deepspeech.util.augmentation.spectrogram import samples_of, spectrogram

FEATURES = np.random.default_rng(2).normal(3, 1, (150, 26)).astype(np.float32)


def frequency(samples: Array) -> float:
    """Return the frequency of a tone in Hz."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 1 << 18))
    return float(spectrum.argmax()) * RATE / (1 << 18)


def power(samples: Array) -> float:
    return float(np.mean(samples.astype(np.float64) ** 2))


def band_power(samples: Array, low: float, high: float) -> float:
    spectrum = np.abs(np.fft.rfft(samples)) ** 2
    return float(spectrum[int(low * len(samples) / RATE) : int(high * len(samples) / RATE)].mean())


@pytest.mark.parametrize(
    ("written", "length", "pitch"),
    [
        ("speed[factor=1.1]", 1 / 1.1, 1.1),
        ("speed[factor=0.9]", 1 / 0.9, 0.9),
        ("tempo[factor=1.25]", 1 / 1.25, 1),
        ("tempo[factor=0.8]", 1 / 0.8, 1),
        ("tempo[factor=0.5,max_time=4000]", 4 / SECONDS, 1),
        ("pitch[pitch=1.2]", 1, 1.2),
        ("pitch[pitch=0.85]", 1, 0.85),
    ],
)
def test_a_tone_has_the_length_and_pitch_that_were_asked_for(written: str, length: float, pitch: float) -> None:
    changed = augmented(written)
    assert len(changed) == pytest.approx(length * len(TONE), abs=2)
    assert frequency(changed) == pytest.approx(pitch * 440, rel=0.002)
    assert power(changed) == pytest.approx(power(TONE), rel=0.25)
    assert np.isfinite(changed).all()


def test_a_change_of_tempo_moves_what_is_said_in_proportion() -> None:
    burst = np.where(abs(TIME - 2) < 0.1, WHITE, 0).astype(np.float32)
    for factor in (0.8, 1.25):
        changed = augmented(f"tempo[factor={factor}]", burst)
        centre = np.average(np.arange(len(changed)), weights=changed.astype(np.float64) ** 2) / RATE
        assert centre == pytest.approx(2 / factor, abs=0.02)


def test_values_go_from_start_to_end_while_training_goes_on() -> None:
    lengths = [len(augmented("speed[factor=1:2]", clock=clock)) / len(TONE) for clock in (0, 0.5, 1)]
    assert lengths == pytest.approx([1, 1 / 1.5, 1 / 2], abs=1e-4)


@pytest.mark.parametrize("snr", [-5, 0, 10, 20])
@pytest.mark.parametrize("color", ["pink", "white", "babble"])
def test_noise_is_as_far_below_the_speech_as_was_asked_for(color: str, snr: int) -> None:
    changed = augmented(f"noise[color={color},snr={snr}]", TONE).astype(np.float64)
    tone = TONE * (changed @ TONE) / (TONE.astype(np.float64) @ TONE)
    assert 10 * np.log10(power(tone) / power(changed - tone)) == pytest.approx(snr, abs=0.4)
    assert abs(changed).max() <= 1


def test_silence_gets_no_noise_and_any_noise_is_one_of_them() -> None:
    silence = np.zeros(1000, np.float32)
    np.testing.assert_array_equal(augmented("noise[snr=0]", silence), silence)
    assert len({augmented("noise[snr=0]", TONE, seed).tobytes() for seed in range(8)}) == 8


def test_pink_noise_falls_by_3_decibels_an_octave() -> None:
    noise = pink(np.random.default_rng(3).standard_normal(1 << 18).astype(np.float32))
    octaves = [band_power(noise, low, 2 * low) for low in (250, 500, 1000, 2000, 4000)]
    steps = 10 * np.log10(np.array(octaves[1:]) / octaves[:-1])
    np.testing.assert_allclose(steps, -3, atol=0.5)


def test_recordings_are_overlaid_at_a_ratio_however_long_they_are(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "short.wav", WHITE[:4000], 8000)
    for layers in (1, 3):
        noise = augmented(f"overlay[source={tmp_path},snr=6,layers={layers}]") - TONE
        assert 10 * np.log10(power(TONE) / power(noise)) == pytest.approx(6, abs=0.1)
        assert power(noise[-1000:]) == pytest.approx(power(noise), rel=0.5)


def test_volume_is_that_of_the_loudest_sample() -> None:
    for dbfs, peak in ((3.0103, 1), (3.0103 - 20, 0.1)):
        assert abs(augmented(f"volume[dbfs={dbfs}]")).max() == pytest.approx(peak, rel=1e-3)
    np.testing.assert_array_equal(augmented("volume", np.zeros(9, np.float32)), np.zeros(9))


def test_a_shift_moves_samples_and_lets_silence_in() -> None:
    late, early = augmented("shift[time=100]"), augmented("shift[time=-100]")
    by = RATE // 10
    np.testing.assert_array_equal(late, np.concatenate([np.zeros(by), TONE[:-by]]))
    np.testing.assert_array_equal(early, np.concatenate([TONE[by:], np.zeros(by)]))


def test_silence_of_a_level_is_added_before_and_after() -> None:
    changed = augmented("silence[before=500,after=1000,dbfs=-50]")
    assert len(changed) == len(TONE) + int(1.5 * RATE)
    before, inside, after = np.split(changed, [RATE // 2, RATE // 2 + len(TONE)])
    np.testing.assert_array_equal(inside, TONE)
    of_a_sine = 0.5  # the power of a sine with a full-scale peak, which is 0 dBFS
    assert 10 * np.log10(power(np.concatenate([before, after])) / of_a_sine) == pytest.approx(-50, abs=0.3)
    assert not augmented("silence[dbfs=-120]", np.zeros(RATE, np.float32)).any()
    assert len({len(augmented("silence", seed=seed)) for seed in range(9)}) == 9


def test_ends_are_trimmed_where_they_are_quieter_than_a_level() -> None:
    said = np.full(RATE, 0.5, np.float32)
    levels = [-26, -15]  # decibels below the speech
    steps = [np.full(RATE // 10, 0.5 * 10 ** (level / 20), np.float32) for level in levels]
    word = np.concatenate([*steps, -said, *reversed(steps)])
    for below, cut in ((40, 0), (20, 1), (10, 2)):
        expected = word[cut * RATE // 10 : len(word) - cut * RATE // 10]
        np.testing.assert_array_equal(augmented(f"trim[below={below}]", word), expected)
    assert len({len(augmented("trim[below=20~10]", word, seed)) for seed in range(30)}) > 3
    np.testing.assert_array_equal(augmented("trim", np.zeros(9, np.float32)), np.zeros(9))


def test_dropped_samples_are_cut_out() -> None:
    lengths = {len(augmented("drop_samples[n=4,size=10]", WHITE, seed)) for seed in range(20)}
    assert len(WHITE) - 4 * RATE // 100 in lengths
    assert all(len(WHITE) - 4 * RATE // 100 <= length < len(WHITE) for length in lengths)
    kept = augmented("drop_samples[n=1,size=10]", WHITE)
    cut = int(np.argmax(kept != WHITE[: len(kept)]))
    np.testing.assert_array_equal(kept[cut:], WHITE[cut + len(WHITE) - len(kept) :])


def test_the_telephone_band_is_what_is_left() -> None:
    heard = augmented("band", WHITE)
    inside = band_power(heard, 500, 3000)
    assert 10 * np.log10(inside / band_power(WHITE, 500, 3000)) == pytest.approx(0, abs=0.3)
    assert 10 * np.log10(inside / band_power(heard, 0, 100)) > 30
    assert 10 * np.log10(inside / band_power(heard, 6000, 8000)) > 20


def test_an_equalizer_raises_octaves_by_gains_of_their_own_and_what_is_between_them_smoothly() -> None:
    def gains(heard: Array, *frequencies: float) -> list[float]:
        powers = [[band_power(each, 0.99 * f, 1.01 * f) for f in frequencies] for each in (heard, WHITE)]
        return [10 * float(np.log10(after / before)) for after, before in zip(*powers, strict=True)]

    octaves = [62.5 * 2**number for number in range(1, 7)]
    drawn = [gains(augmented("equalizer[gain=0~9]", WHITE, seed), *octaves) for seed in range(20)]
    spread = np.ptp(drawn, axis=1)
    assert 9 < spread.mean() < spread.max() < 18.5
    assert np.abs(np.corrcoef(np.transpose(drawn))[np.triu_indices(6, 1)]).mean() < 0.5  # each octave has its own gain
    below, between, above = gains(augmented("equalizer[gain=0~9]", WHITE), 1000, 1000 * 2**0.5, 2000)
    assert between == pytest.approx((below + above) / 2, abs=0.3)
    np.testing.assert_allclose(augmented("equalizer[gain=6]", WHITE), WHITE, atol=1e-6)  # it is as loud as before


def test_resampling_takes_away_what_is_above_half_the_rate() -> None:
    heard = augmented("resample[rate=8000]", WHITE)
    assert len(heard) == len(WHITE)
    assert 10 * np.log10(band_power(heard, 500, 3000) / band_power(heard, 4500, 8000)) > 50


@pytest.mark.parametrize(
    ("encoding", "bitrate", "likeness"),
    [
        ("opus", 64_000, 0.95),
        ("opus", 6_000, 0.1),
        ("mp3", 64_000, 0.9),
        ("mp3", 8_000, 0.3),
        ("ulaw", 3_200, 0.95),
        ("gsm", 3_200, 0.5),
    ],
)
def test_a_codec_delays_nothing_and_keeps_what_its_bitrate_allows(encoding: str, bitrate: int, likeness: float) -> None:
    sent = augmented("band", WHITE)
    received = augmented(f"codec[encoding={encoding},bitrate={bitrate}]", sent)
    assert len(received) == len(sent)
    correlation = np.fft.irfft(np.fft.rfft(received, 1 << 17) * np.conj(np.fft.rfft(sent, 1 << 17)))
    assert correlation.argmax() == 0
    like = float(correlation[0]) / np.sqrt(power(received) * power(sent)) / len(sent)
    assert likeness < like < 0.9999


def test_reverberation_repeats_what_was_said_and_keeps_the_level() -> None:
    click = np.zeros(RATE, np.float32)
    click[1000] = 0.5
    echoes = augmented("reverb[delay=50,decay=6]", click)
    assert echoes.argmax() == 1000
    assert echoes.max() == pytest.approx(0.5)
    assert np.flatnonzero(echoes)[1] == 1000 + RATE // 20
    assert 20 * np.log10(echoes[1000 + RATE // 10] / echoes[1000 + RATE // 20]) == pytest.approx(-6, abs=0.1)


def test_a_simulated_room_dies_away_by_60_decibels_in_its_time() -> None:
    click = np.zeros(RATE, np.float32)
    click[0] = 1
    heard = augmented("room[rt60=0.5,direct=3]", click).astype(np.float64)
    assert heard.argmax() == 0
    assert 10 * np.log10(heard[0] ** 2 / np.sum(heard[1:] ** 2)) == pytest.approx(3, abs=0.1)
    early, late = heard[100:900], heard[100 + RATE // 4 : 900 + RATE // 4]
    assert 10 * np.log10(power(early) / power(late)) == pytest.approx(30, abs=2)


def test_a_recorded_room_is_that_of_its_impulse_response(tmp_path: Path) -> None:
    response = np.zeros(4000, np.float32)
    response[[100, 1100]] = 0.8, 0.4
    soundfile.write(tmp_path / "room.wav", response, RATE, subtype="FLOAT")
    click = np.zeros(RATE, np.float32)
    click[500] = 0.5
    heard = augmented(f"room[source={tmp_path}]", click)
    np.testing.assert_allclose(heard[[500, 1500]], [0.5, 0.25], atol=1e-5)


def test_a_spectrogram_becomes_the_same_samples_again() -> None:
    for length in (1, 100, 511, 512, 5000):
        again = samples_of(spectrogram(WHITE[:length], RATE), length, RATE)
        np.testing.assert_allclose(again, WHITE[:length], atol=1e-5)


def test_masks_of_a_spectrogram_silence_a_band_and_a_piece_of_time() -> None:
    heard = augmented("frequency_mask[n=1,size=40]", spectrogram(WHITE, RATE))
    masked = np.flatnonzero(~heard.any(axis=0))
    assert len(masked) == 40
    samples = samples_of(heard, len(WHITE), RATE)
    low, high = masked[0] * RATE / 512, masked[-1] * RATE / 512
    assert band_power(samples, low + 100, high - 100) < 1e-4 * band_power(WHITE, low + 100, high - 100)
    assert band_power(samples, high + 100, 8000) == pytest.approx(band_power(WHITE, high + 100, 8000), rel=0.05)

    heard = augmented("time_mask[n=1,size=400]", spectrogram(WHITE, RATE))
    masked = np.flatnonzero(~heard.any(axis=1))
    assert len(masked) == 50
    samples = samples_of(heard, len(WHITE), RATE)
    begin, end = masked[0] * 128 + 300, masked[-1] * 128 - 300
    assert power(samples[begin:end]) < 1e-3 * power(WHITE[begin:end])


def test_masked_features_are_as_they_are_on_average() -> None:
    heard = augmented("time_mask[domain=features,n=1,size=200]", FEATURES)
    changed = np.flatnonzero((heard != FEATURES).any(axis=1))
    assert len(changed) == 10
    np.testing.assert_array_equal(np.diff(changed), 1)
    np.testing.assert_allclose(heard[changed], np.broadcast_to(FEATURES.mean(axis=0), (10, 26)))
    heard = augmented("frequency_mask[domain=features,n=1,size=5]", FEATURES)
    changed = np.flatnonzero((heard != FEATURES).any(axis=0))
    assert len(changed) == 5
    np.testing.assert_allclose(heard[:, changed], np.broadcast_to(FEATURES.mean(axis=0)[changed], (150, 5)))


def test_time_masks_cover_no_more_than_their_share() -> None:
    heard = augmented("time_mask[domain=signal,n=1,size=2500,most=0.1]", WHITE)
    assert (heard == 0).mean() == pytest.approx(0.1, abs=1e-3)


def test_dropout_masks_its_share_of_values() -> None:
    assert (augmented("dropout[domain=signal,rate=0.2]", WHITE) == 0).mean() == pytest.approx(0.2, abs=0.01)
    assert (augmented("dropout[rate=0.1]", spectrogram(WHITE, RATE)) == 0).mean() == pytest.approx(0.1, abs=0.01)


def test_additive_and_multiplicative_noise_have_their_deviation() -> None:
    assert np.std(augmented("add[stddev=2]", FEATURES) - FEATURES) == pytest.approx(2, rel=0.05)
    ones = np.ones_like(FEATURES)
    assert np.std(augmented("multiply[stddev=0.3]", ones)) == pytest.approx(0.3, rel=0.05)
    transformed = spectrogram(WHITE, RATE)[5:-5]
    heard = augmented("add[domain=spectrogram,stddev=0.01]", transformed)
    np.testing.assert_allclose(np.angle(heard[heard != 0] / transformed[heard != 0]), 0, atol=1e-3)


def test_mixed_channels_take_from_their_neighbours() -> None:
    one = np.zeros((2, 7), np.float32)
    one[:, 3] = 1
    np.testing.assert_allclose(augmented("mix_channels[weight=0.4]", one)[0], [0, 0, 0.2, 0.6, 0.2, 0, 0], atol=1e-6)
    np.testing.assert_allclose(augmented("mix_channels[weight=0.4]", one + 1).sum(), one.sum() + one.size, rtol=1e-6)


def test_a_warp_bends_time_and_keeps_the_ends() -> None:
    ramp = np.repeat(np.arange(150, dtype=np.float32)[:, None], 26, axis=1)
    bent = augmented("warp[nt=2,nf=2,wt=0.5]", ramp)
    np.testing.assert_allclose(bent[[0, -1]], ramp[[0, -1]], atol=1e-3)
    assert 2 < abs(bent - ramp).max() < 60
    across = augmented("warp[nt=2,nf=2,wt=0,wf=0.5]", ramp)
    np.testing.assert_allclose(across, ramp, atol=1e-3)  # a move in frequency alone changes no time
