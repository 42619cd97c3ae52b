"""The Dagster resource that hands a workspace to every asset."""

from __future__ import annotations

from typing import ClassVar

import dagster as dg

from pipelines.workspace import Workspace


class WorkspaceResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Gives the workspace of this process.

    `veritas run` installs the one it resolved; in the Dagster UI the workspace of the latest run below ``home`` is opened, or a
    quick run is planned where there is none.
    """

    home: str = ""
    """State folder; empty means as `veritas` resolves it."""

    _installed: ClassVar[Workspace | None] = None

    @classmethod
    def install(cls, workspace: Workspace | None) -> None:
        """Use ``workspace`` for every asset of this process."""
        cls._installed = workspace

    def get(self) -> Workspace:
        """The workspace."""
        if WorkspaceResource._installed is None:
            from pipelines.main_job import open_workspace

            WorkspaceResource._installed = open_workspace(home=self.home or None)
        return WorkspaceResource._installed
