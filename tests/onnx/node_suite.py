"""The node cases of the `onnx` package itself: what becomes of each when LabDL reads it on a backend.

`python tests/onnx/node_suite.py --backend torch` lists the counts; `--show wrong refused` the cases; `--write` records them
in `tests/onnx/results`, of which `python scripts/onnx_table.py` makes docs/onnx.md.
"""

import argparse
import importlib
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labdl import dispatch
from labdl.errors import LabDLError
from labdl.saving.onnx.importer.module import decode
from labdl.spec import FLOATS, dtype_name

# of which the expected outputs are one possible result: they are compared by shape and dtype
RANDOM = re.compile(r"test_(bernoulli|multinomial|random)|test_training_dropout")
CASES = "onnx.backend.test.case.node"  # the package with a module of cases for each operator


KINDS = ("right", "refused", "wrong", "error")
RESULTS = Path(__file__).parent / "results"


class Outcome(NamedTuple):
    """``kind`` is "right", "refused" (LabDL's own error), "wrong" (other values) or "error" (any other error)."""

    case: str
    kind: str
    reason: str = ""


def collect(modules: Iterable[str] | None = None) -> list:
    """The cases of these modules, such as "relu"; all of the package if None, which takes half a minute."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy, about the cases with infinities
        package = importlib.import_module(CASES)
        if modules is None:
            return package.collect_testcases()
        for name in modules:
            importlib.import_module(f"{CASES}.{name}")
    return list(package._NodeTestCases)


def run(case, backend: str) -> Outcome:
    """Read and compute one case on a backend, with the constants that the refusal of the case without them asks for."""
    try:
        model, names = load(case, backend)
        for given, expected in case.data_sets:
            arrays = [_array(v) for name, v in zip(inputs_of(case), given, strict=False) if name not in names]
            if len(arrays) != len(model._inputs):
                raise LabDLError(f"the model has {len(model._inputs)} inputs, the case {len(arrays)}")
            fault = _compare(case, backend, model(*map(dispatch.get(backend).tensor, arrays)), expected)
            if fault:
                return Outcome(case.name, "wrong", fault)
    except LabDLError as error:
        return Outcome(case.name, "refused", f"{type(error).__name__}: {error}")
    except Exception as error:  # the suite counts what should not be there
        return Outcome(case.name, "error", f"{type(error).__name__}: {error}")
    return Outcome(case.name, "right", ", ".join(names))


def inputs_of(case) -> list[str]:
    """The names of the inputs of a case's model."""
    return [value.name for value in case.model.graph.input]


def load(case, backend: str) -> tuple[Any, list[str]]:
    """The model, and the inputs whose values it has as constants."""
    data, file = case.model.SerializeToString(), f"{case.name}.onnx"
    values = dict(zip(inputs_of(case), case.data_sets[0][0], strict=False))
    constants: dict[str, np.ndarray] = {}
    while True:
        try:
            return decode(data, file, backend, constants), list(constants)
        except LabDLError as error:
            wanted = re.findall(r"'(\w+)': \.\.\.", str(error))
            if not wanted or set(wanted) <= set(constants) or set(wanted) == set(values):
                raise
            constants |= {name: _array(values[name]) for name in wanted}


def _array(value) -> np.ndarray:
    if isinstance(value, list) or value is None:
        raise LabDLError("the case has an input that is a sequence or nothing")
    if hasattr(value, "data_type"):
        import onnx.numpy_helper

        return onnx.numpy_helper.to_array(value)
    return np.asarray(value)


def _compare(case, backend: str, results, expected) -> str:
    results = list(results) if isinstance(results, list | tuple) else [results]
    if len(results) != len(expected):
        return f"{len(results)} outputs for {len(expected)}"
    for at, (result, value) in enumerate(zip(results, expected, strict=True)):
        ours, theirs = dispatch.get(backend).to_numpy(result), _array(value)
        kinds = dispatch.spec_of(result).dtype, dtype_name(theirs.dtype)
        if ours.shape != theirs.shape or kinds[0] != kinds[1]:
            return f"output {at} is {kinds[0]} {ours.shape} for {kinds[1]} {theirs.shape}"
        if RANDOM.match(case.name):
            continue
        if theirs.dtype.kind in "OUSb":
            same = bool((ours.astype(object) == theirs.astype(object)).all())
        else:
            kind = "complex128" if theirs.dtype.kind == "c" else "float64" if kinds[1] in FLOATS else theirs.dtype
            # two steps of half precision are more than the package's tolerance, and so is one step of the largest
            # element of a sum that should be 0, as in a spectrum
            rtol = max(case.rtol, {"float16": 2**-9, "bfloat16": 2**-6}.get(kinds[1], 0.0))
            wide = theirs.astype(kind)
            steps = 2**-23 * float(np.abs(wide[np.isfinite(wide)]).max(initial=0)) if kinds[1] in FLOATS else 0.0
            same = np.allclose(ours.astype(kind), wide, rtol, max(case.atol, steps), equal_nan=True)
        if not same:
            return f"output {at} is {ours.ravel()[:4]} for {theirs.ravel()[:4]}"
    return ""


def outcomes(backend: str, cases: Iterable) -> Iterator[Outcome]:
    for case in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of frameworks, about infinities
            yield run(case, backend)


def operator_of(case) -> str:
    """The operator that a case is about; of those written by the definition of an operator, that one."""
    if "_expanded" not in case.name:
        return case.model.graph.node[-1].op_type
    word = re.sub(r"^test_|_expanded.*", "", case.name)
    return f"definitions ({word.partition('_')[0]})"


def show_reason(outcome: Outcome) -> str:
    """A reason in the words of a table: without the file, and the names of nodes and values."""
    text = outcome.reason.partition(": ")[2].replace(f"{outcome.case}.onnx", "").lstrip(": ")
    text = re.sub(r"; its definition .*|\(a node [^)]*\)|, which LabDL does not support|cannot be read: ", "", text)
    text = re.sub(
        r"(a node|node) (\w+|'[^']*' \(\w+\)) ", "", re.sub(r"; it follows from inputs.*|; its sizes .*", "", text)
    )
    return re.sub(r"'[^']*'", "…", text).strip(" ,:")[:120]


def record(backend: str, cases: list, found: list[Outcome]) -> dict:
    """What is kept of a run: counts, and for each refused case its operator and the reason."""
    operators = {case.name: operator_of(case) for case in cases}
    counts = Counter(outcome.kind for outcome in found)
    constants = sum(outcome.kind == "right" and bool(outcome.reason) for outcome in found)
    refused = {o.case: [operators[o.case], show_reason(o)] for o in found if o.kind == "refused"}
    return {"backend": backend, **{kind: counts[kind] for kind in KINDS}, "constants": constants, "cases": refused}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--show", nargs="*", default=[], choices=KINDS, help="kinds whose cases are listed")
    parser.add_argument("--match", default="", help="a regular expression of cases")
    parser.add_argument("--progress", type=int, default=0, help="print the counts after each so many cases")
    parser.add_argument("--write", action="store_true", help="record the results, if all cases ran")
    options = parser.parse_args()
    importlib.import_module("labdl").use(options.backend)
    chosen = [c for c in collect() if re.search(options.match, c.name)]
    found = []
    for outcome in outcomes(options.backend, chosen):
        found.append(outcome)
        if options.progress and len(found) % options.progress == 0:
            print(len(found), dict(Counter(o.kind for o in found)), flush=True)
    for outcome in found:
        if outcome.kind in options.show:
            print(f"{outcome.kind} {outcome.case}: {outcome.reason:.300}")
    print(Counter(outcome.kind for outcome in found))
    if options.write and not options.match:
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps(record(options.backend, chosen, found), indent=1, ensure_ascii=False)
        (RESULTS / f"{options.backend}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
