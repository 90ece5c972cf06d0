"""The options of operators: each has a declaration, which shape inference checks."""

import pytest

from labdl import ops
from labdl.ops.operator import OPERATORS, Sample
from labdl.ops.operator.options import Choice, Flag, Number, Sizes
from labdl.spec import Spec


def as_specs(value):
    if isinstance(value, Sample):
        return Spec(value.shape, value.dtype)
    return type(value)(map(as_specs, value)) if isinstance(value, list | tuple) else value


def is_refused(function, bound) -> bool:
    try:
        function(*bound.args, **bound.kwargs)
    except (ValueError, TypeError, IndexError):
        return True
    return False


def test_each_option_has_a_declaration():
    missing = {
        (name, parameter.name)
        for name, entry in OPERATORS.items()
        if not hasattr(entry, "host")  # those of users
        for parameter in entry.signature.parameters.values()
        if parameter.name not in {*entry.roles, *entry.options}
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    assert missing == set()


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", OPERATORS)
def test_wrong_values_are_refused(name):
    entry = OPERATORS[name]
    for option, domain in entry.options.items():
        args, kwargs = entry.samples[0]
        bound = entry.signature.bind(*as_specs(args), **{k: as_specs(v) for k, v in kwargs.items()})
        for wrong in domain.wrong_values():
            bound.arguments[option] = wrong
            assert is_refused(getattr(ops, name), bound), f"{name} takes {option}={wrong!r}"


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", OPERATORS)
def test_values_of_samples_and_defaults_are_accepted(name):
    entry = OPERATORS[name]
    for args, kwargs in entry.samples:
        arguments = entry.signature.bind(*args, **kwargs).arguments
        for option, domain in entry.options.items():
            default = entry.signature.parameters[option].default
            value = arguments.get(option, default)
            assert value is default or domain.accepts(value), (option, value)


@pytest.mark.parametrize(
    ("domain", "text"),
    [
        (Choice("mean", "sum"), "one of mean, sum"),
        (Number(0, 1), "a number from 0 to 1"),
        (Number(0, above=True), "a number above 0"),
        (Number(0, 1, above=True), "a number above 0 and up to 1"),
        (Number(1, integer=True), "an integer of 1 or more"),
        (Number(high=3), "a number of at most 3"),
        (Number(integer=True), "an integer"),
        (Sizes(0), "an integer of 0 or more, or one for each axis"),
        (
            Sizes(0, pairs=True, words=("same", "valid")),
            '"same", "valid", an integer of 0 or more, or one or a pair for each axis',
        ),
        (Flag(), "a value that fits the tensors"),
    ],
)
def test_declarations_say_what_they_accept(domain, text):
    assert str(domain) == text


def test_values_of_each_declaration():
    assert Number(0, 1).accepts(0)
    assert Number(0, 1).accepts(1.0)
    assert not Number(0, 1).accepts(float("nan"))
    assert not Number(0, above=True).accepts(0)
    assert not Number(1, integer=True).accepts(True)
    assert Number().accepts(Spec(()))  # a tensor: its value is not known
    assert Choice(1, 2).accepts(2)
    assert not Choice(1, 2).accepts(True)
    assert Sizes().accepts((1, 2))
    assert not Sizes().accepts((1, 0))
    assert not Sizes().accepts(((1, 0),))
    assert Sizes(0, pairs=True).accepts(((1, 0), (0, 0)))
    assert not Sizes(0, pairs=True).accepts(((1, -1),))


def test_the_message_names_operator_option_and_value():
    with pytest.raises(ValueError, match=r"^dropout wants rate: a number from 0 to 1, received 2.0$"):
        ops.dropout(Spec((2, 3)), 2.0, training=True)
