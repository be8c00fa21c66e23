import os
from pathlib import Path

import pytest
from xdg import BaseDirectory

from deepspeech.util.files import user_folders


@pytest.mark.parametrize("home", ["/home/anna", None])
def test_no_folder_is_named_by_a_tilde_that_nothing_has_replaced(
    monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path if home is None else f"{home}{path[1:]}")
    monkeypatch.setattr(BaseDirectory, "xdg_data_home", "~/.local/share")
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", "~/.cache")
    assert user_folders.data_folder() == Path(f"{home or ''}/.local/share/deepspeech")
    assert user_folders.cache_folder() == Path(f"{home or ''}/.cache/deepspeech")
