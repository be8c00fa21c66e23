"""The times at which words begin, by the demo's model, against the marks of the synthesizer that speaks its corpus."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import numpy as np
from spoken import MarkingSynthesizer

from deepspeech import Model
from deepspeech.align import align
from deepspeech.util.importing.demo import NOISE, PITCHES, SPEEDS
from deepspeech.util.importing.synthesis.espeak import Delivery

SENTENCES = 48
GAIN = 0.6


def test_words_of_the_demo_begin_within_60_ms_of_the_marks(demo: Path) -> None:
    model = Model(demo / "model/output_graph.pb")
    with (demo / "corpus/test.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:SENTENCES]
    source, noise = random.Random(3), np.random.default_rng(1)
    late = []
    with MarkingSynthesizer(1) as synthesizer:
        for row in rows:
            voice = Path(row["wav_filename"]).stem.partition("-")[2]
            spoken = synthesizer.say(
                row["transcript"], Delivery(voice, source.randint(*SPEEDS), source.randint(*PITCHES))
            )
            heard = GAIN * spoken.samples + noise.normal(0, NOISE, len(spoken.samples))
            alignment = align(model, np.rint(heard).astype(np.int16), spoken.text)
            late += [alignment.words[number].start - begin for number, begin in spoken.begins.items()]
    assert len(late) > 4 * SENTENCES
    assert np.median(np.abs(late)) < 0.06
