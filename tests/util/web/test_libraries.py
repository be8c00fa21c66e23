"""A library that is not installed is named with the extra that installs it."""

import pytest

from deepspeech.errors import ClusterError
from deepspeech.util.web.libraries import check_libraries


def test_a_library_within_a_package_that_is_not_installed_is_named_with_its_extra() -> None:
    with pytest.raises(ClusterError, match=r"--trace_endpoint needs absent.sdk, json.absent: .*'.\[tracing\]'"):
        check_libraries("--trace_endpoint", ["absent.sdk", "json.absent", "json.decoder"], "tracing", ClusterError)
