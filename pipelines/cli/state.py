"""What the global options say, resolved into settings when a command needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import typer

    from pipelines.settings import Settings


@dataclass(frozen=True, slots=True)
class State:
    """The global options as given."""

    home: str | None
    model: str | None
    debug: bool
    store: str | None = None

    def settings(
        self,
        *,
        tenant: str | None = None,
        project: str | None = None,
        executor: str | None = None,
        workers: int | None = None,
    ) -> Settings:
        """Settings of this command: flags over environment over file over defaults."""
        from pipelines.errors import UsageError
        from pipelines.settings import resolve

        given = {"home": self.home, "model": self.model, "store": self.store, "tenant": tenant, "project": project}
        for name, value in given.items():
            if value == "":
                raise UsageError(
                    f"--{name} is empty, as a variable of a shell that is not set; leave it out, or say which"
                )
            if "\0" in (value or ""):
                raise UsageError(f"--{name} holds a NUL character, which no path and no name has; leave it out")
        return resolve(**given, executor=executor, workers=None if workers is None else str(workers))


def state_of(context: typer.Context) -> State:
    """The state that the application's callback put into ``context``."""
    return cast("State", context.obj)
