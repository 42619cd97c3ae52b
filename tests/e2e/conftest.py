from __future__ import annotations

import os

import pytest

from tests.e2e.attempts import Attempt, attempt
from tests.pipelines.conftest import tiny_wide

__all__ = ["tiny_wide"]


@pytest.fixture(scope="session", autouse=True)
def _imported_before_any_fork(tiny_wide) -> None:  # noqa: ARG001 - loading it imports torch
    """Import what is heavy once: attempts are forks of this process."""
    import mlflow.tracking
    import sklearn.linear_model

    import pipelines.main_job

    assert mlflow and sklearn and pipelines  # noqa: PT018 - imported for their side effect
    assert os.fork


@pytest.fixture(scope="session")
def undisturbed(tiny_wide, tmp_path_factory) -> Attempt:
    """The main job in a home of its own, with nothing in its way."""
    found = attempt(tmp_path_factory.mktemp("undisturbed"), tiny_wide)
    assert found.status == 0
    return found
