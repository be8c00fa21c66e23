"""The served models, by name. They can be replaced; a running stream keeps the model that it began with."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...errors import DeepSpeechError, ModelError
from ..api import Model
from ..endpointing.voice_activity import check_rate
from .errors import RefusedError
from .options import ServedModel


@dataclass(frozen=True)
class LoadedModel:
    """A loaded model and its load time, in seconds of Unix time. It stays in memory as long as a request uses it."""

    name: str
    model: Model
    loaded_at: int
    takes_hot_words: bool
    """Whether it has a language model, which hot words need."""

    @property
    def streams(self) -> bool:
        """Whether its network streams, which live speech needs."""
        try:
            self.model.check_streams()
        except DeepSpeechError:
            return False
        return True


class Models:
    """Loaded models by name. Threads may share it."""

    def __init__(self, served: Sequence[ServedModel], *, voice_activity: bool = False) -> None:
        """Load every model; raise GraphError or ModelError for the first that cannot be used.

        With `voice_activity`, live speech goes through the detector, which does not support every rate.
        """
        self._served = tuple(served)
        self._voice_activity = voice_activity
        self._reloading = threading.Lock()
        self._loaded: Mapping[str, LoadedModel] = {each.name: self._load(each) for each in served}

    @property
    def all(self) -> Sequence[LoadedModel]:
        """Every model, in the order of the command line; the first is the default."""
        return list(self._loaded.values())

    def named(self, name: str | None) -> LoadedModel:
        """Return the model of this name, or the first if `name` is None; raise RefusedError if there is none."""
        loaded = self._loaded
        if name is None:
            return next(iter(loaded.values()))
        if name not in loaded:
            known = ", ".join(loaded)
            raise RefusedError(404, "model_not_found", f"There is no model {name!r}; there are: {known}", "model")
        return loaded[name]

    def streaming(self, name: str | None) -> LoadedModel:
        """Return the same model as `named`; raise RefusedError also if its network cannot stream."""
        loaded = self.named(name)
        if not loaded.streams:
            raise RefusedError(400, "model_cannot_stream", f"The model {loaded.name!r} needs whole recordings", "model")
        return loaded

    def reload(self) -> dict[str, str]:
        """Load every model again; return an error line, by name, for each that cannot be loaded; it stays as it was."""
        wrong = {}
        with self._reloading:
            for each in self._served:
                try:
                    fresh = self._load(each)
                except (DeepSpeechError, OSError, MemoryError) as error:
                    reason = str(error) or "out of memory"
                    wrong[each.name] = f"{each.name}: not reloaded, still served as before: {reason}"
                    continue
                self._loaded = {**self._loaded, each.name: fresh}  # replaced as a whole: readers need no lock
        return wrong

    def _load(self, served: ServedModel) -> LoadedModel:
        model = Model(served.path, served.precision)
        if served.scorer is not None:
            model.enableExternalScorer(served.scorer)
        loaded = LoadedModel(served.name, model, int(time.time()), served.scorer is not None)
        if self._voice_activity and loaded.streams:
            try:
                check_rate(model.sampleRate())
            except ModelError as error:
                raise ModelError(f"{served.path}: --voice_activity: {error}") from None
        return loaded
