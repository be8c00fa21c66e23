"""The statistics of features, where utterances cannot be read any more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from corpora import TinyCorpus, say, write_wav

from deepspeech.network.layers.normalization import DEVIATION, MEAN
from deepspeech.schedule.jobs import SetName
from deepspeech.schedule.state import Plan
from deepspeech.training.data_set import DataSet
from deepspeech.training.features.statistics import fill_in_statistics
from deepspeech.util.batching.batches import Batching
from deepspeech.util.corpus import read_corpus
from deepspeech.util.errors import AudioError
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.feeding import Feeder, OnTheFly
from deepspeech.util.text import Alphabet

v1 = tf.compat.v1


def test_training_ends_where_all_utterances_are_gone_though_unreadable_ones_are_left_out(
    tmp_path: Path, tiny_corpus: TinyCorpus
) -> None:
    options = FeatureOptions(feature_type="psf", normalization="global")
    write_wav(tmp_path / "a.wav", say("a", np.random.default_rng(0)))
    (tmp_path / "train.csv").write_text("wav_filename,transcript\na.wav,a\n")
    psf = front_end(options)
    corpus = read_corpus([tmp_path / "train.csv"], Alphabet.load(tiny_corpus.alphabet), psf, progress=False)
    source = OnTheFly(corpus, psf)
    sets = {SetName.TRAIN: DataSet(corpus, Feeder(corpus, source, Batching(1)), Plan(1, 1, ""), source)}
    (tmp_path / "a.wav").unlink()
    with tf.Graph().as_default() as graph, v1.Session() as session:
        for name in (MEAN, DEVIATION):
            v1.get_variable(name, [options.coefficients], initializer=v1.zeros_initializer())
        session.run(v1.global_variables_initializer())
        with pytest.raises(AudioError, match=r"a\.wav: No such file or directory"):
            fill_in_statistics(session, graph, options, sets, skip_unreadable=True)
