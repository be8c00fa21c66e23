"""The alphabet of an exported model, which spells transcripts in its labels."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import AlphabetError, GraphError
from ..util.text import Alphabet
from .frozen.model import ModelInfo


@dataclass(frozen=True)
class ByteAlphabet(Alphabet):
    """The labels of a model that writes UTF-8 bytes; each byte is written as the character of the same number."""

    def encode(self, text: str) -> npt.NDArray[np.int32]:
        """Return the labels of a text, int32 [bytes]; raise AlphabetError, naming each byte that the alphabet lacks."""
        return super().encode(text.encode().decode("latin-1"))


def alphabet_of(info: ModelInfo) -> Alphabet:
    """Return a model's alphabet; raise GraphError if its labels are none."""
    texts = [label if isinstance(label, str) else label.decode("latin-1") for label in info.labels]
    of_bytes = any(isinstance(label, bytes) for label in info.labels)
    try:
        return ByteAlphabet(tuple(texts)) if of_bytes else Alphabet(tuple(texts))
    except AlphabetError as error:
        raise GraphError(f"{info.path}: {error}") from error
