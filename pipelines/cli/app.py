"""The command table, global options, and the one place where errors become exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli import attribute, dev, evaluate, import_, report, run, sql, verify, what_if, why
from pipelines.cli.state import State
from pipelines.errors import ExitCode

app = typer.Typer(
    name="veritas",
    help="Find out which parts of an agent's context caused each claim, and retract exactly what rests on bad evidence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback()
def options(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(help="State folder: ledgers, lake, caches. [env VERITAS_HOME; default ./data in a clone]"),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Packaged model name or a Hugging Face model folder. [env VERITAS_MODEL]")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False,
) -> None:
    """Options that every command reads."""
    context.obj = State(home=home, model=model, debug=debug)


app.command("run")(run.command)
app.command("import")(import_.command)
app.command("attribute")(attribute.command)
app.command("evaluate")(evaluate.command)
app.command("report")(report.command)
app.command("verify")(verify.command)
app.command("what-if")(what_if.command)
app.command("why")(why.command)
app.command("sql")(sql.command)
app.command("dev")(dev.command)


def _known_errors() -> tuple[type[Exception], ...]:
    """The roots of the error trees; imported only once something went wrong."""
    from attribution.errors import AttributionError
    from evals.errors import EvalError
    from ledger_core.kernel.errors import LedgerError
    from pipelines.errors import PipelineError

    return (PipelineError, LedgerError, AttributionError, EvalError, OSError)


def _exit_code(error: Exception) -> int:
    from ledger_core.kernel.errors import VerificationError

    if isinstance(error, VerificationError):
        return ExitCode.LEDGER_DOES_NOT_VERIFY
    return int(getattr(error, "exit_code", ExitCode.FAILURE))


def main() -> None:
    """Entry point of the `veritas` script."""
    import click

    debug = "--debug" in sys.argv
    try:
        code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(ExitCode.USAGE)
    except KeyboardInterrupt:
        typer.echo("veritas: interrupted; the same command resumes where it stopped", err=True)
        sys.exit(130)
    except Exception as error:
        if debug or not isinstance(error, _known_errors()):
            raise
        message = " ".join(str(error).split())
        typer.echo(f"veritas: {message}", err=True)
        sys.exit(_exit_code(error))
