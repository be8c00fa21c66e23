"""The expected results of the beam search, as plainly as possible; without pruning, as sums over all alignments."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deepspeech.decoder import DecoderOptions


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


def occurrences(phrase: Sequence[str], words: Sequence[str]) -> int:
    """Count the places in `words` at which a phrase begins."""
    return sum(tuple(words[place : place + len(phrase)]) == tuple(phrase) for place in range(len(words)))


class Ranking:
    """The ranks of hypotheses, and which letters may follow; `model` is a `kenlm.Model` of the `words`."""

    def __init__(self, words: Sequence[str], model: Any, options: DecoderOptions) -> None:
        self._model, self._options = model, options
        self._phrases = {tuple(phrase.split()): boost for phrase, boost in options.hot_words.items()}
        self._hot = {word for phrase in self._phrases for word in phrase}
        self._bonuses = dict.fromkeys(self._hot, 0.0) | dict.fromkeys(words, options.valid_word_count_weight)
        self._unknown = self._alone("<unk>")
        self._first = {word: self._alone(word) + self._boost([word]) for word in self._bonuses}

    def of(self, text: str, total: float) -> float:
        """Return the rank of a text with this acoustic score."""
        *said, part = self._parts(text)
        score = self._options.lm_weight * math.log(10) * self._model.score(" ".join(said), eos=False)
        boost = self._boost(said)
        ahead = [score for word, score in self._first.items() if word.startswith(part)]
        ahead += [self._alone(word) + self._boost([*said, word]) - boost for word in self._hot if word.startswith(part)]
        bonuses = sum(self._bonus(word) for word in said)
        return float(total + score + bonuses + boost + max([self._unknown, *ahead]))

    def allows(self, text: str, letter: str) -> bool:
        """Return whether a letter may follow a text."""
        part, any_word = text.rpartition(" ")[2], self._unknown > -math.inf
        if letter == " ":
            return part in self._bonuses or (part != "" and any_word)
        return any_word or any(word.startswith(part + letter) for word in self._bonuses)

    def _parts(self, text: str) -> list[str]:
        """Return the words that were said, and the beginning of the next."""
        return text.split(" ")

    def _bonus(self, word: str) -> float:
        return self._bonuses.get(word, self._options.unknown_word_score)

    def _alone(self, word: str) -> float:
        score: float = next(self._model.full_scores(word, bos=False, eos=False))[0]
        return self._options.lm_weight * math.log(10) * score + self._bonus(word)

    def _boost(self, said: Sequence[str]) -> float:
        """Return the boosts of the phrases that were said, and the highest advance for one that has begun."""
        begun = [
            boost * count / len(phrase)
            for phrase, boost in self._phrases.items()
            for count in range(1, len(phrase))
            if tuple(said[-count:]) == phrase[:count]
        ]
        return sum(boost * occurrences(phrase, said) for phrase, boost in self._phrases.items()) + max([0, *begun])


class CharacterRanking(Ranking):
    """The same with a model of characters, which are its words."""

    def allows(self, text: str, letter: str) -> bool:  # noqa: ARG002 - any may
        """Return whether a letter may follow a text."""
        return True

    def _parts(self, text: str) -> list[str]:
        return [*("<space>" if letter == " " else letter for letter in text), ""]


def pruned_scores(
    posteriors: npt.NDArray[np.float64], letters: str, ranking: Ranking, beam_width: int
) -> dict[str, float]:
    """Map each text of the last beam, which may end in a space or within a word, to its acoustic score."""
    beam = {"": (0.0, -math.inf)}  # ln P of the alignments that end in a blank, and of those that end in a letter
    totals = {"": 0.0}
    for frame in np.log(posteriors):
        scores: dict[str, list[float]] = defaultdict(lambda: [-math.inf, -math.inf])
        for text, (of_blank, of_letter) in beam.items():
            scores[text][0] = totals[text] + frame[-1]
            for letter, log in zip(letters, frame[:-1], strict=True):
                again = text[-1:] == letter
                if again:
                    scores[text][1] = float(np.logaddexp(scores[text][1], of_letter + log))
                if ranking.allows(text, letter):
                    arrived = (of_blank if again else totals[text]) + log
                    scores[text + letter][1] = float(np.logaddexp(scores[text + letter][1], arrived))
        totals = {text: float(np.logaddexp(both[0], both[1])) for text, both in scores.items()}
        ranked = sorted(totals, key=lambda text: ranking.of(text, totals[text]), reverse=True)
        beam = {text: (scores[text][0], scores[text][1]) for text in ranked[:beam_width]}
        totals = {text: totals[text] for text in beam}
    return totals


def write_arpa(path: Path, words: Sequence[str], rng: np.random.Generator) -> None:
    """Write a bigram model with random scores; about half of all bigrams are in it."""
    unigrams = ["<unk>", "<s>", "</s>", *words]
    pairs = [(a, b) for a in ["<s>", *words] for b in [*words, "</s>"] if rng.random() < 0.5] or [("<s>", "</s>")]
    lines = ["\\data\\", f"ngram 1={len(unigrams)}", f"ngram 2={len(pairs)}", "", "\\1-grams:"]
    lines += [f"{-rng.random() * 3:.4f}\t{word}\t{-rng.random():.4f}" for word in unigrams]
    lines += ["", "\\2-grams:", *(f"{-rng.random() * 2:.4f}\t{a} {b}" for a, b in pairs), "", "\\end\\", ""]
    path.write_text("\n".join(lines))
