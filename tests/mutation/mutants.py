"""The faults: every place of a module where a small change makes another program, and that program."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

_COMPARE = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_BINARY = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.Pow: ast.Mult,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "frozenset": "tuple"}


@dataclass(frozen=True)
class Mutant:
    """One fault of one module."""

    module: str
    """Path of the file, relative to the root."""
    line: int
    operator: str
    before: str
    after: str
    number: int
    """Among all mutants of this text of the module."""
    digest: str
    """Of the module's text."""
    source: str
    """The line as it stands in the module, without the space around it."""
    function: str
    """Name of the innermost function whose body it changes; empty for what runs when the module is imported."""
    first: int
    """First line of the statement that it changes, or of its head."""
    last: int

    @property
    def key(self) -> str:
        """What names the mutant as long as the module's text is the same."""
        return f"{self.digest[:16]}:{self.number}"

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.operator}: {self.before} -> {self.after}"


def mutants_of(path: Path, name: str) -> list[Mutant]:
    """Every mutant of the module at ``path``, in order of the text."""
    source = path.read_bytes()
    digest = hashlib.sha256(source).hexdigest()
    lines = ["", *source.decode().splitlines()]
    return [
        Mutant(
            name,
            change.line,
            change.operator,
            change.before,
            change.after,
            number,
            digest,
            lines[change.line].strip(),
            change.scope.function,
            change.scope.first,
            change.scope.last,
        )
        for number, change in enumerate(_changes(ast.parse(source)))
    ]


def mutated(source: bytes, number: int) -> ast.Module:
    """The program of mutant ``number`` of ``source``."""
    tree = ast.parse(source)
    for at, change in enumerate(_changes(tree)):
        if at == number:
            return ast.fix_missing_locations(change.applied())
    raise IndexError(f"there is no mutant {number}")


@dataclass(frozen=True)
class _Scope:
    """When what stands here runs: with which function, and with which lines."""

    function: str = ""
    first: int = 0
    last: int = 0

    def within(self, holder: ast.AST, field: str, child: ast.AST) -> _Scope:
        """The scope of ``child``, which is (in) ``holder.field``."""
        function = self.function
        if field == "body" and isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = holder.name
        if isinstance(child, ast.stmt):
            return _Scope(function, child.lineno, max(child.lineno, _end_of_head(child)))
        if isinstance(child, ast.match_case):
            return _Scope(function, child.pattern.lineno, _end_of_head(child))
        return replace(self, function=function)


def _end_of_head(node: ast.stmt | ast.match_case) -> int:
    """The last line of a statement without the statements inside it."""
    if not isinstance(node, ast.match_case) and not hasattr(node, "body"):
        return node.end_lineno or node.lineno
    heads = (child for child in ast.iter_child_nodes(node) if not isinstance(child, (ast.stmt, ast.match_case)))
    return max((getattr(head, "end_lineno", None) or 0 for head in heads), default=0)


@dataclass(frozen=True)
class _Change:
    """``holder.field[place]`` (or ``holder.field``) becomes ``new``."""

    tree: ast.Module
    holder: ast.AST
    field: str
    place: int | None
    new: ast.AST
    line: int
    operator: str
    before: str
    after: str
    scope: _Scope

    def applied(self) -> ast.Module:
        """The tree with the change in it; the tree given to :func:`_changes` is used up."""
        if self.place is None:
            setattr(self.holder, self.field, self.new)
        else:
            getattr(self.holder, self.field)[self.place] = self.new
        return self.tree


def _changes(tree: ast.Module) -> Iterator[_Change]:
    for holder, field, place, node, scope in _nodes(tree, _Scope()):
        for operator, new in _replacements(node):
            ast.copy_location(new, node)
            yield _Change(tree, holder, field, place, new, _line(node), operator, _text(node), _text(new), scope)


def _nodes(node: ast.AST, scope: _Scope) -> Iterator[tuple[ast.AST, str, int | None, ast.AST, _Scope]]:
    """Every node that may change with where it stands: no annotation, no docstring, no message of an error."""
    for field, value in ast.iter_fields(node):
        if _is_left_alone(node, field):
            continue
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _is_documentation(child):
                inner = scope.within(node, field, child)
                yield node, field, place, child, inner
                yield from _nodes(child, inner)


_LEFT_ALONE: dict[type[ast.AST], set[str]] = {
    ast.AnnAssign: {"annotation"},
    ast.arg: {"annotation"},
    ast.FunctionDef: {"returns", "decorator_list"},
    ast.AsyncFunctionDef: {"returns", "decorator_list"},
    ast.ClassDef: {"decorator_list", "bases", "keywords"},
}
_WHOLE = (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)
"""What stands inside these is left alone: a `raise` may go as a whole, what it says is for a person."""
_TYPING = {"Literal", "Annotated", "TypeVar", "NewType", "cast", "field"}


def _is_left_alone(node: ast.AST, field: str) -> bool:
    if isinstance(node, _WHOLE) or field in _LEFT_ALONE.get(type(node), ()):
        return True
    match node:
        case ast.Subscript(value=ast.Name(id=name)) | ast.Call(func=ast.Name(id=name)):
            return name in _TYPING
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case _:
            return False


def _is_documentation(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _replacements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:  # noqa: C901, PLR0912 - a table in the shape of a match
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                yield "compare", _with(node, ops=[*ops[:place], _COMPARE[type(op)](), *ops[place + 1 :]])
        case ast.BinOp(op=op) if type(op) in _BINARY and not _is_type_union(node):
            yield "arithmetic", _with(node, op=_BINARY[type(op)]())
        case ast.AugAssign(op=op) if type(op) in _BINARY:
            yield "arithmetic", _with(node, op=_BINARY[type(op)]())
        case ast.BoolOp(op=op, values=values):
            yield "boolean", _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for place in range(len(values)):
                yield "drop-operand", _without(node, place)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not", copy.deepcopy(operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "sign", copy.deepcopy(operand)
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield "constant", ast.Constant(value + 1)
        case ast.Constant(value=str() as value):
            yield "constant", ast.Constant(f"{value}?")
        case ast.Constant(value=bytes() as value):
            yield "constant", ast.Constant(value + b"?")
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if not _is_negated_elsewhere(test):
            yield "condition", _with(node, test=ast.UnaryOp(ast.Not(), copy.deepcopy(test)))
        case ast.comprehension(ifs=[_, *_] as ifs):
            for place in range(len(ifs)):
                yield "filter", _with(node, ifs=[*ifs[:place], *ifs[place + 1 :]])
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES and (name in {"min", "max"} or not node.keywords):
            yield "function", _with(node, func=ast.Name(_NAMES[name], ast.Load()))
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return", ast.Return(ast.Constant(None))
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield "delete", ast.Pass()
        case ast.Continue():
            yield "loop", ast.Break()
        case ast.Break():
            yield "loop", ast.Continue()
        case _:
            pass


def _is_negated_elsewhere(test: ast.expr) -> bool:
    """Whether another operator turns the whole condition round already."""
    return isinstance(test, ast.Compare) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


def _is_type_union(node: ast.BinOp) -> bool:
    """Whether ``a | b`` joins types, as in an alias or the second argument of `isinstance`."""
    sides = (node.left, node.right)
    return isinstance(node.op, ast.BitOr) and any(
        (isinstance(side, ast.Name) and side.id[:1].isupper())
        or (isinstance(side, ast.Constant) and side.value is None)
        for side in sides
    )


def _with(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _without(node: ast.BoolOp, place: int) -> ast.AST:
    left = [*node.values[:place], *node.values[place + 1 :]]
    return _with(node, values=left) if len(left) > 1 else copy.copy(left[0])


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0) or next((_line(child) for child in ast.iter_child_nodes(node)), 0)


def _text(node: ast.AST) -> str:
    text = ast.unparse(node).strip().split("\n", maxsplit=1)[0]
    return text if len(text) <= 100 else f"{text[:99]}…"
