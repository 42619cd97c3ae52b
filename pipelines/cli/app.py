"""The command table, global options, and the one place where errors become exit codes."""

from __future__ import annotations

import io
import os
import sys
from itertools import pairwise
from typing import Annotated

import typer
from typer.exceptions import TyperException

from pipelines.cli import (
    attribute,
    audit,
    audit_eval,
    checkpoint,
    dev,
    evaluate,
    export,
    import_,
    proof,
    quorum_attack,
    report,
    restore,
    run,
    scenarios,
    serve,
    sql,
    token,
    verify,
    what_if,
    why,
)
from pipelines.cli.state import State
from pipelines.errors import ExitCode
from pipelines.offline import go_offline

_INTERRUPTED = 130

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
        str | None,
        typer.Option(metavar="PATH", help="State folder: ledgers, lake, caches. (env VERITAS_HOME; ./data in a clone)"),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Packaged model name or a Hugging Face model folder. (env VERITAS_MODEL)")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            help="Where events are: `files`, or a PostgreSQL address. (env VERITAS_STORE; files below the home)"
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False,
) -> None:
    """Options that every command reads."""
    context.obj = State(home=home, model=model, debug=debug, store=store)


app.command("run")(run.command)
app.command("import")(import_.command)
app.command("attribute")(attribute.command)
app.command("evaluate")(evaluate.command)
app.command("report")(report.command)
app.command("verify")(verify.command)
app.command("checkpoint")(checkpoint.command)
app.command("proof")(proof.command)
app.command("export")(export.command)
app.command("restore")(restore.command)
app.command("what-if")(what_if.command)
app.command("why")(why.command)
app.command("audit")(audit.command)
app.command("audit-eval")(audit_eval.command)
app.add_typer(scenarios.app, name="scenarios")
app.command("quorum-attack")(quorum_attack.command)
app.command("serve")(serve.command)
app.add_typer(token.app, name="token")
app.command("sql")(sql.command)
app.command("dev")(dev.command)


def main() -> None:
    """Entry point of the `veritas` script."""
    go_offline()
    debug = "--debug" in sys.argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(prog_name="veritas", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has stopped reading: not an error to report, and nobody to report it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.FAILURE)
    except TyperException as error:
        sys.exit(_usage(error))
    except KeyboardInterrupt:
        sys.exit(_interrupted())
    except Exception as error:
        if debug:
            raise
        from pipelines.cli.failures import describe, exit_code

        typer.echo(f"veritas: {describe(error)}", err=True)
        sys.exit(exit_code(error))
    if code == _INTERRUPTED:
        _interrupted()
    sys.exit(code if isinstance(code, int) else ExitCode.DONE)


def _usage(error: TyperException) -> int:
    """Refuse a command line that cannot be, in one line; a bare `veritas` has been answered with the help."""
    context = getattr(error, "ctx", None)
    message = " ".join(error.format_message().split())
    if message:
        command = _command_meant() if context is None else context.command_path
        typer.echo(f"veritas: {message.rstrip('.')}{_given(error)}; see `{command} --help`", err=True)
    return ExitCode.USAGE


def _command_meant() -> str:
    """The command of this command line, as far as it has one."""
    known = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    return next((f"veritas {word}" for word in sys.argv[1:] if word in known), "veritas")


def _given(error: TyperException) -> str:
    """The value that an option was given, where ``error`` says only what it should have been."""
    names = getattr(getattr(error, "param", None), "opts", ())
    for word, value in pairwise([*sys.argv, ""]):
        name, equals, attached = word.partition("=")
        if name in names and name.startswith("-"):
            return f" (got {(attached if equals else value)!r})"
    return ""


def _interrupted() -> int:
    typer.echo("veritas: interrupted; the same command resumes where it stopped", err=True)
    return _INTERRUPTED
