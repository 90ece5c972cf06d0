"""Attributes of ONNX nodes with other values than in the node cases of the `onnx` package: none is read without effect.

`python tests/onnx/attribute_sweep.py` lists what differs from ONNX Runtime and from onnx's evaluator, and the attributes of
which no second value was tried with another result.
"""

import argparse
import importlib
import multiprocessing
import warnings
from collections import defaultdict
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import attribute_cases
import node_suite
import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from labdl.errors import LabDLError
from labdl.saving.onnx.importer.registry import reader_of

TYPES = (
    "to",
    "dtype",
    "value",
    "output_dtype",
    "precision",
    "stash_type",
    "seed",
    "sample_size",
    "batch_size",
)  # not of the result's values
CHOICES = {
    "mode": (
        "nearest",
        "linear",
        "cubic",
        "constant",
        "edge",
        "reflect",
        "wrap",
        "DCR",
        "CRD",
        "avg",
        "max",
        "circular",
    ),
    "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "coordinate_transformation_mode": (
        "half_pixel",
        "pytorch_half_pixel",
        "asymmetric",
        "align_corners",
        "half_pixel_symmetric",
        "output_half_pixel",
    ),
    "padding_mode": ("zeros", "border", "reflection"),
    "reduction": ("none", "sum", "mean", "add", "mul", "max", "min"),
    "direction": ("forward", "reverse", "bidirectional", "LEFT", "RIGHT"),
    "auto_pad": ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"),
    "approximate": ("none", "tanh"),
    "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller"),
    "equation": (),
}
TRUTHS = {  # 0 or 1
    "allowzero",
    "align_corners",
    "antialias",
    "ceil_mode",
    "center_point_box",
    "count_include_pad",
    "detect_negative",
    "detect_positive",
    "exclude_outside",
    "exclusive",
    "fmod",
    "inverse",
    "is_causal",
    "keepdims",
    "largest",
    "noop_with_empty_axes",
    "onesided",
    "reverse",
    "select_last_index",
    "sorted",
    "storage_order",
    "training_mode",
    "transA",
    "transB",
    "upper",
    "linear_before_reset",
    "layout",
    "saturate",
    "input_forget",
    "interleaved",
    "normalize_variance",
}
MOST = 20_000  # elements of a case
NEWEST = 23  # version of the operator set that ONNX Runtime has


class Finding(NamedTuple):
    """One attribute with another value: ``fault`` says what is wrong, ``changes`` whether the result is another."""

    operator: str
    attribute: str
    case: str
    value: Any
    fault: str
    changes: bool


def values_for(attribute, current) -> Iterator[Any]:
    """Other values to try for an attribute, of which some are not valid."""
    kinds, name = onnx.defs.OpSchema.AttrType, attribute.name
    if attribute.type == kinds.INT:
        current = 0 if current is None else current
        yield from {0, 1} - {current} if name in TRUTHS else {0, 1, 2, -1, current + 1, current + 2} - {current}
    elif attribute.type == kinds.FLOAT:
        yield 0.5 if current is None else 1.5 * current + 0.25
    elif attribute.type == kinds.STRING:
        yield from (v for v in CHOICES.get(name, ()) if v != current)
    elif attribute.type == kinds.INTS and current:
        yield [v + 1 for v in current]
        yield [v - 1 for v in current]
        yield [*current[::-1]]
        yield [*current[:-1], current[-1] + 1]
    elif attribute.type == kinds.INTS:
        for length in (1, 2, 3, 4, 6):
            yield [1] * length
            yield [2] * length
    elif attribute.type == kinds.FLOATS:
        yield [1.5 * v + 0.25 for v in current or [1.0]]
    elif attribute.type == kinds.STRINGS and name == "activations":
        yield ["Relu"] * len(current or [1])
        yield ["Tanh", "Sigmoid", "Tanh"][: len(current or [1, 2])]


def with_value(model, name: str, value):
    """The model with an attribute of its node; shapes of its results are open."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    (node,) = changed.graph.node
    others = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend([*others, onnx.helper.make_attribute(name, value)])
    for output in changed.graph.output:
        output.type.tensor_type.ClearField("shape")
    return changed


_MISSING = ("NOT_IMPLEMENTED", "under development", "model IR version")


def run_onnxruntime(model, inputs):
    """The results by ONNX Runtime; None where it does not take the model, "unsupported" where it lacks the operator."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, dict(zip([v.name for v in session.get_inputs()], inputs, strict=True)))
    except Exception as error:
        return "unsupported" if any(part in str(error) for part in _MISSING) else None


def run_evaluator(model, inputs):
    """The results by onnx's evaluator; None where it does not take the model."""
    try:
        session = ReferenceEvaluator(model)
        return session.run(None, dict(zip(session.input_names, inputs, strict=True)))
    except Exception:
        return None


def _serve(connection) -> None:
    while True:
        connection.send(run_onnxruntime(*connection.recv()))


class Reference:
    """ONNX Runtime in a process of its own, which assertions of its kernels end, and onnx's evaluator."""

    def __init__(self):
        self.process = None

    def run(self, model, inputs) -> list[list[np.ndarray]]:
        """Results that are right: those of ONNX Runtime, and of onnx's evaluator; none where the model is not valid."""
        if self.process is None:
            self._start()
        try:
            self.connection.send((model, inputs))
            results = self.connection.recv()
        except (EOFError, ConnectionError):
            self.close()
            return []
        if results is None:
            return []
        by_evaluator = run_evaluator(model, inputs)
        return [r for r in (results, by_evaluator) if r is not None and not isinstance(r, str)]

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def close(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.join()
            self.connection.close()
        self.process = None


def equal(ours, theirs) -> bool:
    return len(ours) == len(theirs) and all(
        np.shape(a) == np.shape(b)
        and np.allclose(_numbers(a), _numbers(b), 1e-3, 1e-4 + 1e-5 * _largest(b), equal_nan=True)
        for a, b in zip(ours, theirs, strict=True)
    )


def _numbers(array) -> np.ndarray:
    """The array in a dtype of NumPy's own."""
    array = np.asarray(array)
    return array if array.dtype.isbuiltin == 1 else array.astype("float32")


def _largest(array) -> float:
    array = _numbers(array)
    return float(np.abs(array[np.isfinite(array)]).max(initial=0)) if array.dtype.kind == "f" else 0.0


def compute(model, case_name: str, inputs):
    """The results of LabDL, with the constants that it asks for, or its refusal as a text."""
    case = SimpleNamespace(name=case_name, model=model, data_sets=[(inputs, [])])
    try:
        module, constants = node_suite.load(case, "numpy")
        named = zip(node_suite.inputs_of(case), inputs, strict=True)
        results = module(*[value for name, value in named if name not in constants])
    except (LabDLError, IndexError) as error:  # positions among the inputs may lie outside of a smaller result
        return str(error)
    return [*results] if isinstance(results, list | tuple) else [results]


def try_attribute(reference: Reference, case, attribute, inputs, before) -> Iterator[Finding]:
    (node,) = case.model.graph.node
    current = next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == attribute.name), None)
    if current is None and attribute.default_value.type:
        current = onnx.helper.get_attribute_value(attribute.default_value)
    current = current.decode() if isinstance(current, bytes) else current
    for value in values_for(attribute, current):
        try:
            model = with_value(case.model, attribute.name, value)
        except (ValueError, TypeError):
            continue
        expected = reference.run(model, inputs)
        if not expected:
            continue
        results, fault = compute(model, case.name, inputs), ""
        if not isinstance(results, str) and not any(equal(results, e) for e in expected):
            fault = f"{[np.shape(v) for v in results]} {np.ravel(results[0])[:4]} for {np.ravel(expected[0])[:4]}"
        yield Finding(node.op_type, attribute.name, case.name, value, fault, not equal(expected[0], before))


def sweep(modules: list[str] | None = None) -> Iterator[Finding]:
    """Each attribute of each operator that is read, until three other values gave another result."""
    done: dict[tuple[str, str], int] = defaultdict(int)
    reference = Reference()
    try:
        for case in [*node_suite.collect(modules), *attribute_cases.make_cases()]:
            yield from _try_case(reference, case, done)
    finally:
        reference.close()


def _try_case(reference: Reference, case, done: dict[tuple[str, str], int]) -> Iterator[Finding]:
    if "_expanded" in case.name or len(case.model.graph.node) != 1 or node_suite.RANDOM.match(case.name):
        return
    (node,) = case.model.graph.node
    inputs = [v if isinstance(v, np.ndarray | np.generic) else None for v in case.data_sets[0][0]]
    if reader_of(node.op_type) is None or any(v is None for v in inputs) or sum(map(np.size, inputs)) > MOST:
        return
    opset = next(o for o in case.model.opset_import if o.domain == node.domain)
    schema = onnx.defs.get_schema(node.op_type, opset.version, node.domain)
    if not node.domain and schema.since_version <= NEWEST:
        opset.version, case.model.ir_version = min(opset.version, NEWEST), 10
    before = reference.run(case.model, inputs)
    if not before:
        return
    for attribute in schema.attributes.values():
        pair = node.op_type, attribute.name
        if attribute.name in TYPES or done[pair] >= 3:
            continue
        for finding in try_attribute(reference, case, attribute, inputs, before[0]):
            done[pair] += finding.changes
            yield finding


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", nargs="*", help="modules of cases, such as conv; all if left out")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    importlib.import_module("labdl")
    changed, tried = set(), set()
    for finding in sweep(options.modules):
        pair = finding.operator, finding.attribute
        tried.add(pair)
        if finding.changes:
            changed.add(pair)
        if finding.fault:
            print(*finding[:5], flush=True)
    print(len(changed), "attributes change the result;", sorted(tried - changed))


if __name__ == "__main__":
    main()
