#!/usr/bin/env python3
"""Write audible examples of augmentation, and a picture of each recording before and after.

    augment_samples.py SOURCE --augment speed[factor=1~0.1] --augment noise[snr=10] [--to examples] [--count 4]
    augment_samples.py dev.csv --augment noise[snr=10] --to noisy --count 1 --limit 0 --no_pictures

SOURCE is an audio file, a folder of audio files, a CSV with a column wav_filename, or a list of utterances as for
deepspeech-train (CSV, TSV, JSON lines, or Kaldi's directory), whose rows may be parts of recordings. The augmentations
are written as for deepspeech-train; see docs/augmentation.md. For the recording NAME, the output is NAME-0.wav,
unchanged, NAME-1.wav and so on, as in the epochs of a training, and NAME.png with their spectrograms and features. With
the same --random_seed, a training draws the same numbers for a recording only if it has the same place in the training
set. Augmentations of features are only visible in the pictures.
If the source has transcripts, augmented.csv lists the augmented recordings, to test a model in noise or in rooms.
Pictures need matplotlib: `pip install '.[augmentation]'` in the checkout installs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from deepspeech.cli.arguments import ArgumentParser, check_arguments, check_output_folder, output_path, run_script
from deepspeech.errors import FlagError
from deepspeech.options import AugmentationOptions, Options, check_values, flags_of, with_values
from deepspeech.options.rows.checks import at_least
from deepspeech.util.audio import Samples, resampled_length
from deepspeech.util.augmentation.augmentation import Domain
from deepspeech.util.augmentation.recordings import recordings_of
from deepspeech.util.augmentation.source import AugmentationPlan, Augmented
from deepspeech.util.augmentation.spectrogram import spectrogram
from deepspeech.util.checks.inspection import Inspection
from deepspeech.util.corpus import Corpus, Utterance
from deepspeech.util.corpus_files import Row, has_transcripts, read_files
from deepspeech.util.errors import BadRow, CorpusError
from deepspeech.util.features import FRONT_ENDS, FeatureOptions, Features, FrontEnd, front_end
from deepspeech.util.feeding import OnTheFly
from deepspeech.util.figures.counted import counted
from deepspeech.util.files.user_paths import user_path
from deepspeech.util.files.whole_files import encoded, write_whole, written_whole
from deepspeech.util.importing.corpus_csv import write_corpus
from deepspeech.util.parts import PartError
from deepspeech.util.progress import report

CSV_NAME = "augmented.csv"

DYNAMIC_RANGE = 80
"""The range of a spectrogram's picture, in decibels below the loudest value."""

NUMBERS = {"count": at_least(1), "limit": at_least(0), "random_seed": at_least(0), "audio_sample_rate": at_least(1)}
"""The allowed values of numeric flags."""


def main() -> None:
    """Read the arguments and write the examples."""
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    add("source", metavar="SOURCE", help="audio file, folder, or list of utterances")
    add("--augment", action="append", required=True, help="augmentation; may be given several times")
    add("--to", type=output_path, default=Path("examples"), help="folder to write to (default: %(default)s)")
    add("--count", type=int, default=4, help="examples of each recording (default: %(default)s)")
    add("--limit", type=int, default=3, help="recordings to take from the source; 0: all (default: %(default)s)")
    add("--random_seed", type=int, default=Options.random_seed, help="(default: %(default)s)")
    add("--audio_sample_rate", type=int, default=FeatureOptions.sample_rate, help="in Hz (default: %(default)s)")
    add("--feature_type", choices=FRONT_ENDS, default="psf", help="features in the picture (default: %(default)s)")
    add("--no_pictures", action="store_true", help="write no pictures")
    arguments = parser.parse_args()
    check_arguments(arguments, NUMBERS)
    check_output_folder("--to", arguments.to)
    (row,) = flags_of(AugmentationOptions)
    options = with_values(AugmentationOptions, {row.name: row.value(",".join(arguments.augment))})
    check_values(options)
    options.check(arguments.audio_sample_rate)
    if not arguments.no_pictures:
        drawing()
    extractor = front_end(FeatureOptions(arguments.audio_sample_rate, arguments.feature_type))
    rows = rows_of(arguments.source)
    corpus = corpus_of(rows[: arguments.limit or None], extractor)
    plan = AugmentationPlan(options.augmentations, arguments.random_seed, arguments.count)
    check_not_written_over([user_path(arguments.source), *(Path(row.path) for row in rows)], arguments.to, corpus, plan)
    write_examples(corpus, extractor, plan, arguments.to, pictures=not arguments.no_pictures)
    if unheard := [each for each in plan.augmentations if each.domain == Domain.FEATURES]:
        report(f"not in the recordings, as they change features: {', '.join(map(str, unheard))}")


def corpus_of(rows: Sequence[Row], extractor: FrontEnd) -> Corpus:
    """Return a corpus of the recordings of rows, without labels.

    Raise AudioError for a recording that cannot be read, CorpusError for a row that cannot be used.
    """
    rate = extractor.options.sample_rate
    inspection = Inspection()
    utterances: list[Utterance] = []
    for row in rows:
        try:
            audio, part = inspection.inspect(row.path, row.part)
        except PartError as error:
            raise CorpusError(str(row.bad(f"{row.path}: {error}"))) from error
        samples = resampled_length(audio.samples, audio.sample_rate, rate)
        utterances.append(
            Utterance(
                path=row.path,
                transcript=row.transcript,
                labels=np.zeros(0, np.int32),
                samples=samples,
                frames=extractor.frame_count(samples),
                file_size=audio.file_size,
                modified_ns=audio.modified_ns,
                csv_file=row.csv_file,
                line=row.line,
                part=part,
            )
        )
    return Corpus(tuple(utterances), rate)


def rows_of(source: str) -> list[Row]:
    """Return the rows of a list of utterances, else one for each recording of the source.

    Raise CorpusError, or FlagError if there are no recordings.
    """
    path = user_path(source)
    if not has_transcripts(path):
        recordings = enumerate(recordings_of(source), 1)
        return [Row(source, line, str(path), "", part=part) for line, (path, part) in recordings]
    rows = []
    for row in read_files([path], None):
        if isinstance(row, BadRow):
            raise CorpusError(str(row))
        rows += [row] * bool(row.path)
    return rows


def check_not_written_over(read: Sequence[Path], folder: Path, corpus: Corpus, plan: AugmentationPlan) -> None:
    """Raise FlagError if an example, or the list of examples, would overwrite an input file."""
    written = {CSV_NAME, *(file for name in names_of(corpus) for file in examples_of(name, plan))}
    for path in read:
        if path.name in written and path.parent.resolve() == folder.resolve():
            raise FlagError(f"--to={folder}: {path} is read, and would be written over; name another folder")


def write_examples(
    corpus: Corpus, extractor: FrontEnd, plan: AugmentationPlan, folder: Path, *, pictures: bool
) -> None:
    """Write each recording, unchanged and as in each epoch of the plan, the pictures, and the CSV of transcripts."""
    recorded = OnTheFly(corpus, extractor)
    augmented = Augmented(corpus, extractor, recorded, plan)
    rows = []
    folder.mkdir(parents=True, exist_ok=True)
    for index, (name, utterance) in enumerate(zip(names_of(corpus), corpus, strict=True)):
        samples = [recorded.samples(index), *(augmented.samples(index, epoch) for epoch in range(plan.epochs))]
        files = [folder / file for file in examples_of(name, plan)]
        for file, each in zip(files, samples, strict=True):
            write_whole(file, wav_of(each, corpus.sample_rate))
        rows += [(file, utterance.transcript) for file in files[1:] if utterance.transcript]
        if pictures:
            features = [recorded.features(index), *(augmented.features(index, epoch) for epoch in range(plan.epochs))]
            draw(folder / f"{name}.png", samples, features, corpus.sample_rate)
    if rows:
        write_corpus(folder / CSV_NAME, rows)
    report(f"{folder}: {counted(len(corpus), 'recording')}, each as it is and augmented {counted(plan.epochs, 'time')}")


def wav_of(samples: Samples, sample_rate: int) -> bytes:
    """Return samples, float32 [samples], as a WAV of 16 bits."""
    file = BytesIO()
    soundfile.write(file, samples, sample_rate, format="WAV")
    return file.getvalue()


def examples_of(name: str, plan: AugmentationPlan) -> list[str]:
    """Return the names of the files of a recording, unchanged and as in each epoch of the plan."""
    return [f"{name}-{number}.wav" for number in range(1 + plan.epochs)]


def names_of(corpus: Corpus) -> list[str]:
    """Return the name of each recording's examples: that of its file, with a number if it is not unique.

    Bytes that are no UTF-8 are escaped, as the list of examples cannot name them.
    """
    stems = [encoded(Path(utterance.path).stem).decode() for utterance in corpus]
    counts = Counter(stems)
    names = [stem if counts[stem] == 1 else f"{stem}-{index}" for index, stem in enumerate(stems)]
    return names if len(set(names)) == len(names) else [f"{index}-{stem}" for index, stem in enumerate(stems)]


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
    """Write a picture with the spectrogram and the features, in a row each, of the recording and of each example."""
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
    for axis in axes[-1]:
        axis.set_xlabel("seconds")
    figure.tight_layout()
    with written_whole(path) as beside:
        figure.savefig(beside, format="png")
    pyplot.close(figure)


if __name__ == "__main__":
    run_script(main)
