"""The expected results of the beam search without pruning: sums over all alignments, as plainly as possible."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt


def acoustic_scores(posteriors: npt.NDArray[np.float64]) -> dict[tuple[int, ...], float]:
    """Map each label sequence to ln of the summed probabilities of its alignments; `posteriors` [time, labels + 1]."""
    frames, columns = posteriors.shape
    blank = columns - 1
    probabilities: dict[tuple[int, ...], float] = defaultdict(float)
    for alignment in itertools.product(range(columns), repeat=frames):
        merged = [label for label, _ in itertools.groupby(alignment)]
        transcript = tuple(label for label in merged if label != blank)
        probabilities[transcript] += math.prod(posteriors[frame, label] for frame, label in enumerate(alignment))
    return {transcript: math.log(p) for transcript, p in probabilities.items() if p > 0}


def label_scores(posteriors: npt.NDArray[np.float64], columns: Sequence[int]) -> dict[tuple[int, ...], float]:
    """Map each sequence of labels, label n read from column columns[n], to its acoustic score."""
    labels_of: dict[int, list[int]] = defaultdict(list)
    for label, column in enumerate(columns):
        labels_of[column].append(label)
    return {
        labels: score
        for transcript, score in acoustic_scores(posteriors).items()
        for labels in itertools.product(*(labels_of[column] for column in transcript))
    }


def text_scores(
    posteriors: npt.NDArray[np.float64], texts: Sequence[str | bytes], columns: Sequence[int]
) -> dict[str, float]:
    """Map each text to the summed acoustic score of the sequences of labels that give it."""
    scores: dict[str, float] = {}
    for labels, score in label_scores(posteriors, columns).items():
        text = "".join(str(texts[label]) for label in labels)
        scores[text] = float(np.logaddexp(scores.get(text, -math.inf), score))
    return scores


def forward_score(posteriors: npt.NDArray[np.float64], transcript: Sequence[int]) -> float:
    """Return ln of the summed probabilities of all alignments of `transcript`, by the forward algorithm."""
    blank = posteriors.shape[1] - 1
    states = [blank]
    for label in transcript:
        states += [label, blank]
    forward = np.zeros(len(states))
    forward[0] = 1
    for number, frame in enumerate(posteriors):
        before = np.concatenate([[0, 0], forward])
        skips = [0, 0] + [states[i] not in (blank, states[i - 2]) for i in range(2, len(states))]
        forward = (before[2:] + before[1:-1] * (number > 0) + before[:-2] * skips * (number > 0)) * frame[states]
        if number == 0 and len(states) > 1:
            forward[1] = frame[states[1]]
    return float(np.log(forward[-2:].sum()))


def sentence_scores(posteriors: npt.NDArray[np.float64], labels: Sequence[str]) -> dict[tuple[str, ...], float]:
    """Map each sequence of words to its acoustic score, with and without a space after the last word."""
    scores: dict[tuple[str, ...], float] = {}
    for transcript, score in acoustic_scores(posteriors).items():
        text = "".join(labels[label] for label in transcript)
        words = tuple(text.removesuffix(" ").split(" ")) if text else ()
        if all(words):
            scores[words] = float(np.logaddexp(scores.get(words, -math.inf), score))
    return scores


def write_arpa(path: Path, words: Sequence[str], rng: np.random.Generator) -> None:
    """Write a bigram model with random scores; about half of all bigrams are in it."""
    unigrams = ["<unk>", "<s>", "</s>", *words]
    pairs = [(a, b) for a in ["<s>", *words] for b in [*words, "</s>"] if rng.random() < 0.5] or [("<s>", "</s>")]
    lines = ["\\data\\", f"ngram 1={len(unigrams)}", f"ngram 2={len(pairs)}", "", "\\1-grams:"]
    lines += [f"{-rng.random() * 3:.4f}\t{word}\t{-rng.random():.4f}" for word in unigrams]
    lines += ["", "\\2-grams:", *(f"{-rng.random() * 2:.4f}\t{a} {b}" for a, b in pairs), "", "\\end\\", ""]
    path.write_text("\n".join(lines))
