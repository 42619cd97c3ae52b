"""What the global options say, resolved into settings when a command needs them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import typer

    from pipelines.settings import Settings


@dataclass(frozen=True, slots=True)
class State:
    """The global options as given."""

    home: Path | None
    model: str | None
    debug: bool

    def settings(self, *, tenant: str | None = None, project: str | None = None) -> Settings:
        """Settings of this command: flags over environment over file over defaults."""
        from pipelines.settings import resolve

        return resolve(home=self.home, model=self.model, tenant=tenant, project=project)


def state_of(context: typer.Context) -> State:
    """The state that the application's callback put into ``context``."""
    return cast("State", context.obj)
