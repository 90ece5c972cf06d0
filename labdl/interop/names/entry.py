"""An entry of a table of names: a class of a framework, the layer of LabDL, and how its arguments are translated."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from labdl.errors import ConfigError

Step = tuple[str, dict[str, Any]]  # a layer of LabDL and its settings
Rule = str | Callable[..., dict[str, Any]]

IGNORED = "-"  # an argument without effect on the outputs, such as a name or a size that LabDL infers
DEFAULT_ONLY = "!"  # an argument that LabDL has no equivalent for: only its default is accepted
THEN = "then"  # key of the settings: layers that follow the layer


@dataclass(frozen=True)
class Entry:
    """A class of a framework.

    ``signature`` is that of the class, as in Python. ``rules`` say what becomes of an argument: a name is that of LabDL's
    setting, a function returns LabDL's settings; its key may be several names. Other arguments have the same name in LabDL.
    A class that differs has rules for arguments of other names only.
    ``fixed`` are settings that the class always has. ``differs`` is a sentence on how LabDL's layer differs; where it is
    empty, the layer with the translated arguments computes the same.
    With ``other_order`` its positional arguments mean something else too.
    ``checks`` are functions of several arguments that raise ValueError for values without an equivalent.
    ``note`` is a sentence for the documentation on arguments and defaults. Without ``ours`` LabDL has no equivalent,
    and ``differs`` says why.
    """

    ours: str = ""
    signature: str = ""
    rules: Mapping[str, Rule] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    differs: str = ""
    note: str = ""
    other_order: bool = False
    checks: Mapping[str, Callable[..., None]] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Whether LabDL's layer computes the same, given the same arguments."""
        return not self.differs

    @property
    def difference(self) -> str:
        """``differs``, and what the arguments of such a class are called in LabDL; "" for an equal one."""
        if self.equal or not self.rules:
            return self.differs
        return f"{self.differs}; {', '.join(_name_in_labdl(name, rule) for name, rule in self.rules.items())}"

    def rule(self, argument: str) -> Rule:
        """The rule for an argument; a function of several arguments is that of each."""
        for names, rule in self.rules.items():
            if argument in names.split():
                return rule
        return argument

    def argument_names(self, args: tuple, kwargs: Mapping[str, Any]) -> list[str] | None:
        """The arguments that a call gives, by name; None if the class does not have them."""
        try:
            return list(parse_signature(self.signature).bind(*args, **kwargs).arguments)
        except TypeError:
            return None

    def rename(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Settings of LabDL for arguments of a class that differs, as far as they have one."""
        settings: dict[str, Any] = {}
        for name, value in kwargs.items():
            rule = self.rule(name)
            settings |= rule(value) if callable(rule) else {} if rule == IGNORED else {rule: value}
        return settings

    def translate(self, args: tuple, kwargs: Mapping[str, Any]) -> list[Step]:
        """The layers of LabDL for a call of the class, one after the other.

        Raises ConfigError for arguments that the class does not take, or that LabDL has no equivalent for.
        """
        signature = parse_signature(self.signature)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ConfigError(f"{error}; its arguments are ({self.signature})") from None
        bound.apply_defaults()
        values = dict(bound.arguments)
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD and self.rule(parameter.name) != IGNORED:
                values |= values.pop(parameter.name)
        for names, check in self.checks.items():
            _apply(check, {name: values[name] for name in names.split()}, "")
        settings = dict(self.fixed)
        taken: set[str] = set()
        for names, rule in self.rules.items():
            each = names.split()
            if each[0] in values and callable(rule):
                settings |= _apply(rule, {name: values[name] for name in each}, f"{' and '.join(each)}: ")
                taken.update(each)
        for name, value in values.items():
            rule = self.rule(name)
            if name in taken or rule == IGNORED:
                continue
            if rule == DEFAULT_ONLY or name not in signature.parameters:
                if name not in signature.parameters or not _same(value, signature.parameters[name].default):
                    raise ConfigError(f"{name}={value!r:.80} has no equivalent in nn.{self.ours}")
                continue
            settings[str(rule)] = value
        then = settings.pop(THEN, [])
        return [(self.ours, settings), *then] if self.ours else then


def _apply(function: Callable[..., Any], values: Mapping[str, Any], title: str) -> Any:
    """The function of arguments. Raises ConfigError with its reason, or for values of a type that it does not read."""
    try:
        return function(*values.values())
    except ValueError as error:
        raise ConfigError(f"{title}{error}") from None
    except (TypeError, AttributeError):
        received = ", ".join(f"{name}={value!r:.80}" for name, value in values.items())
        raise ConfigError(f"{title}received {received}") from None


def _name_in_labdl(name: str, rule: Rule) -> str:
    if rule == IGNORED:
        return f"`{name}` is left out"
    return f"`{name}` is {rule.__doc__ if callable(rule) else f'`{rule}`'}"


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and value == default


@functools.cache
def parse_signature(text: str) -> inspect.Signature:
    """The signature that a text describes, with literals as defaults."""
    arguments = ast.parse(f"def f({text}): ...").body[0].args  # type: ignore[attr-defined]
    required = len(arguments.args) - len(arguments.defaults)
    parameters = [
        _parameter(argument, inspect.Parameter.POSITIONAL_OR_KEYWORD, arguments.defaults[at - required :][:1])
        if at >= required
        else _parameter(argument, inspect.Parameter.POSITIONAL_OR_KEYWORD, [])
        for at, argument in enumerate(arguments.args)
    ]
    if arguments.vararg:
        parameters.append(inspect.Parameter(arguments.vararg.arg, inspect.Parameter.VAR_POSITIONAL))
    parameters += [
        _parameter(argument, inspect.Parameter.KEYWORD_ONLY, [default] if default is not None else [])
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        parameters.append(inspect.Parameter(arguments.kwarg.arg, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _parameter(argument: ast.arg, kind: Any, default: list[ast.expr]) -> inspect.Parameter:
    value = ast.literal_eval(default[0]) if default else inspect.Parameter.empty
    return inspect.Parameter(argument.arg, kind, default=value)


class Table:
    """Builds the entries of a framework, whose classes have some arguments in common.

    ``common`` are rules for arguments of any class.
    """

    def __init__(self, **common: Rule):
        self.common = common

    def to(
        self,
        ours: str,
        signature: str = "",
        *,
        fixed: Mapping[str, Any] | None = None,
        differs: str = "",
        note: str = "",
        together: Mapping[str, Rule] | None = None,
        checks: Mapping[str, Callable[..., None]] | None = None,
        **rules: Any,
    ) -> Entry:
        """A class that is a layer of LabDL. ``together`` are rules for several arguments, ``checks`` those of `Entry`."""
        own = {**(together or {}), **rules}
        named = {word for names in own for word in names.split()}
        present = parse_signature(signature).parameters
        common = {name: rule for name, rule in self.common.items() if name in present and name not in named}
        return Entry(ours, signature, {**common, **own}, fixed or {}, differs, note, checks=checks or {})


def only_defaults(*arguments: str) -> dict[str, Any]:
    """Rules for arguments of which only the default is accepted."""
    return dict.fromkeys(arguments, DEFAULT_ONLY)


def differs(ours: str, sentence: str, *, other_order: bool = False, **rules: Rule) -> Entry:
    """A class whose nearest layer of LabDL has another meaning; with ``other_order`` also of its first two arguments."""
    return Entry(ours, "*args, **kwargs", rules, differs=sentence, other_order=other_order)


def missing(reason: str) -> Entry:
    """A class that LabDL has no layer for."""
    return Entry("", "*args, **kwargs", differs=reason)


def all_missing(reason: str, *names: str) -> dict[str, Entry]:
    """Classes that LabDL has no layers for, for one reason."""
    return dict.fromkeys([word for line in names for word in line.split()], missing(reason))
