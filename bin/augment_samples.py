#!/usr/bin/env python3
"""Write audible examples of augmentation, and a picture of each recording before and after.

    augment_samples.py SOURCE --augment speed[factor=1~0.1] --augment noise[snr=10] [--to examples] [--count 4]

SOURCE is an audio file, a folder of them, or a CSV with a column wav_filename. The augmentations are written as
deepspeech-train takes them; see docs/augmentation.md. The recording NAME becomes NAME-0.wav, as it is, NAME-1.wav and
so on, as in the epochs of a training with the same --random_seed, and NAME.png with their spectrograms and features.
Needs matplotlib: `pip install '.[augmentation]'` in the checkout installs it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from deepspeech.cli.arguments import ArgumentParser, run_script
from deepspeech.errors import FlagError
from deepspeech.options import AugmentationOptions, Options, check_values
from deepspeech.util.audio import Samples, inspect_audio, resampled_length
from deepspeech.util.augmentation.recordings import recordings_of
from deepspeech.util.augmentation.source import AugmentationPlan, Augmented
from deepspeech.util.augmentation.spectrogram import spectrogram
from deepspeech.util.corpus import Corpus, Utterance
from deepspeech.util.features import FRONT_ENDS, FeatureOptions, Features, FrontEnd, front_end
from deepspeech.util.feeding import OnTheFly
from deepspeech.util.progress import report

DYNAMIC_RANGE = 80
"""Decibels below the loudest that a spectrogram shows."""


def main() -> None:
    """Read the arguments and write the examples."""
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    add("source", metavar="SOURCE", help="audio file, folder or CSV")
    add("--augment", action="append", required=True, help="augmentation; may be given several times")
    add("--to", type=Path, default=Path("examples"), help="folder to write to (default: %(default)s)")
    add("--count", type=int, default=4, help="examples of each recording (default: %(default)s)")
    add("--limit", type=int, default=3, help="recordings to take from the source; 0: all (default: %(default)s)")
    add("--random_seed", type=int, default=Options.random_seed, help="(default: %(default)s)")
    add("--audio_sample_rate", type=int, default=FeatureOptions.sample_rate, help="in Hz (default: %(default)s)")
    add("--feature_type", choices=FRONT_ENDS, default="psf", help="features in the picture (default: %(default)s)")
    arguments = parser.parse_args()
    options = AugmentationOptions(tuple(arguments.augment))
    check_values(options)
    options.check_sources()
    if arguments.count < 1 or arguments.limit < 0:
        raise FlagError("--count must be 1 or more, and --limit 0 or more")
    drawing()
    extractor = front_end(FeatureOptions(arguments.audio_sample_rate, arguments.feature_type))
    paths = recordings_of(arguments.source)
    corpus = corpus_of(paths, extractor)
    source = OnTheFly(corpus, extractor)
    plan = AugmentationPlan(options.augmentations, arguments.random_seed, arguments.count)
    augmented = Augmented(corpus, extractor, source, plan)
    arguments.to.mkdir(parents=True, exist_ok=True)
    for index, path in enumerate(paths[: arguments.limit or None]):
        samples = [source.samples(index), *(augmented.samples(index, epoch) for epoch in range(arguments.count))]
        features = [source.features(index), *(augmented.features(index, epoch) for epoch in range(arguments.count))]
        for number, each in enumerate(samples):
            soundfile.write(arguments.to / f"{path.stem}-{number}.wav", each, arguments.audio_sample_rate)
        draw(arguments.to / f"{path.stem}.png", samples, features, arguments.audio_sample_rate)
        report(f"{arguments.to / path.stem}-0.wav to -{arguments.count}.wav and {path.stem}.png")


def corpus_of(paths: tuple[Path, ...], extractor: FrontEnd) -> Corpus:
    """Return a corpus of recordings without transcripts. Raise AudioError for one that cannot be read."""
    rate = extractor.options.sample_rate
    utterances = []
    for path in paths:
        audio = inspect_audio(path)
        samples = resampled_length(audio.samples, audio.sample_rate, rate)
        utterances.append(
            Utterance(
                *(str(path), "", np.zeros(0, np.int32), samples, extractor.frame_count(samples)),
                *(audio.file_size, audio.modified_ns, str(path), 1),
            )
        )
    return Corpus(tuple(utterances), rate)


def drawing() -> Any:
    """Return matplotlib's pyplot. Raise FlagError if it is not installed."""
    try:
        import matplotlib
    except ImportError as error:
        raise FlagError("a picture needs matplotlib: pip install '.[augmentation]' in the checkout") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def draw(path: Path, samples: list[Samples], features: list[Features], rate: int) -> None:
    """Write a picture with a row for the recording as it is, and for each example: its spectrogram and its features."""
    pyplot = drawing()
    figure, axes = pyplot.subplots(len(samples), 2, figsize=(12, 2 * len(samples)), squeeze=False)
    longest = max(map(len, samples)) / rate
    for number, (row, of_one, heard) in enumerate(zip(axes, samples, features, strict=True)):
        decibels = 20 * np.log10(np.maximum(np.abs(spectrogram(of_one, rate)), 1e-5)).T
        seconds = len(of_one) / rate
        row[0].imshow(
            np.maximum(decibels, decibels.max() - DYNAMIC_RANGE),
            **{"origin": "lower", "aspect": "auto", "extent": (0, seconds, 0, rate / 2000)},
        )
        normalized = (heard - heard.mean(axis=0)) / np.maximum(heard.std(axis=0), 1e-6)
        row[1].imshow(normalized.T, **{"origin": "lower", "aspect": "auto", "extent": (0, seconds, 0, heard.shape[1])})
        for axis, label in zip(row, ("kHz", "coefficient"), strict=True):
            axis.set(xlim=(0, longest), ylabel=label, title=f"example {number}" if number else "as it is")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


if __name__ == "__main__":
    run_script(main)
