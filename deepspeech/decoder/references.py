"""The references that the transcripts of a decoder are compared with."""

from __future__ import annotations

from dataclasses import replace

from ..util.corpus import Corpus
from ..util.output_units import SyllableAlphabet
from ..util.text import Alphabet
from . import CTCDecoder, Scorer


def with_references(corpus: Corpus, alphabet: Alphabet, decoder: CTCDecoder) -> Corpus:
    """Return a corpus with the references that the decoder's transcripts are compared with."""
    if not isinstance(alphabet, SyllableAlphabet):
        return corpus
    utterances = (
        replace(utterance, written_as=reference_of(utterance.transcript, alphabet, decoder.scorer))
        for utterance in corpus
    )
    return replace(corpus, utterances=tuple(utterances))


def reference_of(transcript: str, alphabet: Alphabet, scorer: Scorer | None) -> str:
    """Return the reference of hypotheses: the transcript.

    For an alphabet of syllables, it is the syllables, or with a language model of characters the characters alone.
    """
    if not isinstance(alphabet, SyllableAlphabet):
        return transcript
    if scorer is not None and scorer.characters:
        return "".join(transcript.split())
    return alphabet.decode(alphabet.encode(transcript))
