"""Write docs/operators.md: every operator, the calls of each framework that compute it, and what was evened out.

The sentence is that of the operator's docstring, the calls are recorded while it computes a sample, the differences are
docstrings of the backend's functions. `python scripts/operator_table.py [file]`.
"""

import ast
import inspect
import re
import sys
from pathlib import Path

from operator_calls import SHOWN, recorded_calls

import labdl
from labdl import framework_info, ops
from labdl.ops.operator import OPERATORS

ROOT = Path(__file__).parents[1]
BACKENDS = ("torch", "tensorflow", "paddle", "mindspore")


class Source:
    """The docstrings of the definitions of a backend's folder."""

    def __init__(self, backend):
        self.nodes: dict[str, ast.AST] = {}
        self.docs: dict[str, str] = {}
        for file in sorted(Path(backend.__file__).parent.glob("*.py")):
            for node in ast.parse(file.read_text()).body:
                self._read(node)

    def _read(self, node) -> None:
        if isinstance(node, ast.FunctionDef):
            self.nodes[node.name] = node
            self.docs[node.name] = ast.get_docstring(node) or ""
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names = [e.id for e in target.elts] if isinstance(target, ast.Tuple) else [getattr(target, "id", "")]  # type: ignore[attr-defined]
                for i, name in enumerate(names):
                    self.nodes[name] = _part(node.value, i) if isinstance(target, ast.Tuple) else node.value
        elif isinstance(node, ast.With):
            for inner in node.body:
                self._read(inner)

    def doc(self, name: str) -> str:
        """The sentence about a definition, or about what the function that made it gives."""
        if self.docs.get(name):
            return self.docs[name]
        node = self.nodes.get(name)
        maker = node.func if isinstance(node, ast.Call) else None
        made = self.nodes.get(maker.id) if isinstance(maker, ast.Name) else None
        inner = [n for n in getattr(made, "body", ()) if isinstance(n, ast.FunctionDef)]
        return (ast.get_docstring(inner[-1]) or "") if inner else ""


def _part(value, index: int):
    """The element of a tuple that goes to the target of that index; ``map(make, (a, b))`` gives ``make`` with it."""
    if isinstance(value, ast.Tuple):
        return value.elts[index]
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "map" and isinstance(value.args[1], ast.Tuple):
        return ast.Call(value.args[0], [value.args[1].elts[index]], [])
    return value


def cell(backend, entry, calls: list[str]) -> str:
    if entry.composite and not hasattr(backend.operators, entry.name):
        return "composite"
    if not calls:
        return "its argument"
    rest = len(calls) - SHOWN
    return ", ".join(f"`{name}`" for name in calls[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def table() -> str:
    backends = {name: labdl.backends.get(name) for name in framework_info.in_load_order(framework_info.TRAINING)}
    sources = {name: Source(backend) for name, backend in backends.items()}
    calls = {name: recorded_calls(backend) for name, backend in backends.items()}
    lines = [
        "# Operators",
        "",
        f"{len(OPERATORS)} operators, each with one name, one parameter list and one meaning on every backend. For each the",
        "calls of the framework that compute its first sample, as recorded, without those that arrange axes, dtypes and",
        "constants; `tf.raw_ops` and `paddle._C_ops` are the kernels behind the functions of TensorFlow and PaddlePaddle.",
        "*composite*: written with other operators; *its argument*: nothing to compute.",
        "Functions that take functions, and those that create tensors, are [below](#functions).",
        "Made by `python scripts/operator_table.py`; a test compares it.",
        "",
        "Infix operators on tensors (`a // b`, `a % b`, `p ** q`, `a @ b`) are the framework's own outside of a Module's",
        "`forward`, because the tensors are the framework's: for one meaning everywhere, write `ops.floor_divide(a, b)`,",
        "`ops.remainder(a, b)`, `ops.pow(p, q)` and `ops.matmul(a, b)` there.",
    ]
    for category in sorted({entry.category for entry in OPERATORS.values()}):
        entries = [e for e in OPERATORS.values() if e.category == category]
        lines += [
            "",
            f"## {category}",
            "",
            "| operator | what it gives | PyTorch | TensorFlow | PaddlePaddle | MindSpore |",
            "|---|---|---|---|---|---|",
        ]
        notes = []
        for entry in entries:
            sentence = (entry.body.__doc__ or "").strip().splitlines()[0].replace("|", "\\|")
            cells = [cell(backends[b], entry, calls[b][entry.name]) for b in BACKENDS]
            lines.append(f"| `{entry.name}{_parameters(entry)}` | {sentence} | {' | '.join(cells)} |")
            for b in BACKENDS:
                own = hasattr(backends[b].operators, entry.name)
                doc = " ".join(sources[b].doc(entry.name).split()) if own else ""
                if doc:
                    notes.append(f"- `{entry.name}` on {b}: {doc}")
        if notes:
            lines += ["", "Evened out:", "", *notes]
    return "\n".join([*lines, *functions(), *differences()]) + "\n"


NAMES = {  # of functions that are no operators, in the order of BACKENDS
    "cond": ("torch.cond", "tensorflow.cond", "paddle.static.nn.cond", ""),
    "while_loop": ("", "tensorflow.while_loop", "paddle.static.nn.while_loop", "mindspore.ops.WhileLoop"),
    "scan": ("", "tensorflow.scan", "", "mindspore.ops.Scan"),
    "vmap": ("torch.vmap", "tensorflow.vectorized_map", "", "mindspore.vmap"),
    "arange": ("torch.arange", "tensorflow.range", "paddle.arange", "mindspore.mint.arange"),
    "empty": ("torch.empty", "", "paddle.empty", "mindspore.mint.empty"),
    "eye": ("torch.eye", "tensorflow.eye", "paddle.eye", "mindspore.mint.eye"),
    "fftfreq": ("torch.fft.fftfreq", "", "paddle.fft.fftfreq", "mindspore.ops.fftfreq"),
    "full": ("torch.full", "tensorflow.fill", "paddle.full", "mindspore.mint.full"),
    "hamming_window": ("torch.hamming_window", "tensorflow.signal.hamming_window", "", "mindspore.ops.hamming_window"),
    "hann_window": ("torch.hann_window", "tensorflow.signal.hann_window", "", "mindspore.ops.hann_window"),
    "linspace": ("torch.linspace", "tensorflow.linspace", "paddle.linspace", "mindspore.mint.linspace"),
    "logspace": ("torch.logspace", "", "paddle.logspace", "mindspore.ops.logspace"),
    "mel_filterbank": ("", "tensorflow.signal.linear_to_mel_weight_matrix", "", ""),
    "ctc_beam_search_decode": ("", "tensorflow.nn.ctc_beam_search_decoder", "", ""),
    "ones": ("torch.ones", "tensorflow.ones", "paddle.ones", "mindspore.mint.ones"),
    "zeros": ("torch.zeros", "tensorflow.zeros", "paddle.zeros", "mindspore.mint.zeros"),
    "tensor": ("torch.tensor", "tensorflow.convert_to_tensor", "paddle.to_tensor", "mindspore.tensor"),
    "to_numpy": ("torch.Tensor.numpy", "", "paddle.Tensor.numpy", "mindspore.Tensor.asnumpy"),
    "permutation": ("torch.randperm", "", "paddle.randperm", "mindspore.mint.randperm"),
    "rand": ("torch.rand", "", "paddle.rand", "mindspore.mint.rand"),
    "randn": ("torch.randn", "", "paddle.randn", "mindspore.mint.randn"),
    "randint": ("torch.randint", "", "paddle.randint", "mindspore.mint.randint"),
    "random_uniform": ("", "tensorflow.random.uniform", "paddle.uniform", ""),
    "random_normal": ("torch.normal", "tensorflow.random.normal", "paddle.normal", "mindspore.mint.normal"),
    "random_truncated_normal": (
        "torch.nn.init.trunc_normal_",
        "tensorflow.random.truncated_normal",
        "paddle.nn.initializer.TruncatedNormal",
        "",
    ),
    "random_binomial": ("torch.binomial", "tensorflow.random.stateless_binomial", "paddle.binomial", ""),
    "random_exponential": ("torch.Tensor.exponential_", "", "paddle.Tensor.exponential_", ""),
    "random_gamma": (
        "torch.distributions.Gamma",
        "tensorflow.random.gamma",
        "paddle.standard_gamma",
        "mindspore.ops.gamma",
    ),
    "random_beta": ("torch.distributions.Beta", "", "paddle.distribution.Beta", ""),
    "random_poisson": ("torch.poisson", "tensorflow.random.poisson", "paddle.poisson", "mindspore.ops.random_poisson"),
}


def functions() -> list[str]:
    """The section of the functions of `labdl.ops` that are no operators: control flow, and what creates tensors."""
    found = {name: getattr(ops, name) for name in ops.__all__ if name not in OPERATORS}
    found = {name: f for name, f in found.items() if inspect.isfunction(f) and f is not ops.operator}
    sections: dict[str, list[str]] = {}
    for name, function in found.items():
        group = "control flow" if "control_flow" in function.__module__ else function.__module__.split(".")[2]
        title = {"array": "new tensors", "random": "random numbers"}.get(group, group)
        parameters = ", ".join(
            str(p.replace(annotation=p.empty)) for p in inspect.signature(function).parameters.values()
        )
        sentence = (function.__doc__ or "").strip().splitlines()[0].replace("|", "\\|")
        cells = [f"`{_existing(native)}`" if native else "" for native in NAMES.get(name, ("",) * len(BACKENDS))]
        sections.setdefault(title, []).append(f"| `{name}({parameters})` | {sentence} | {' | '.join(cells)} |")
    lines = [
        "",
        "## functions",
        "",
        "No nodes of a graph: they take functions, or create tensors from numbers. The frameworks' columns name the nearest",
        "function of each, whose arguments and results may differ.",
    ]
    for title, rows in sorted(sections.items()):
        lines += [
            "",
            f"### {title}",
            "",
            "| function | what it gives | PyTorch | TensorFlow | PaddlePaddle | MindSpore |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
    return lines


def _existing(dotted: str) -> str:
    """A framework's name, which must exist."""
    root, *parts = dotted.split(".")
    value = sys.modules[root]
    for part in parts:
        value = getattr(value, part)
    return dotted


EDGES = {  # of tests/backend/cases.py, as a reader of the table calls them
    "nan": "NaN",
    "infinite": "infinities",
    "mixed": "NaN beside infinities",
    "row": "a row of minus infinity",
    "large": "large values",
    "empty": "no elements",
    "pairs": "padding in pairs",
    "negative": "negative positions",
    "no_axes": "no axes",
}


def differences() -> list[str]:
    """The section of differences that remain: the known gaps in tests/xfails, each of which a test shows to exist."""
    lines = [
        "",
        "## Differences that remain",
        "",
        "Each is tested: when a framework's next version closes it, the test fails until its line is gone from `tests/xfails`.",
        "Lines with `?` are about kernels that differ between sets of instructions, such as those of oneDNN: they do not",
        "occur on every processor.",
        "",
        "| framework | operator or test | values | difference |",
        "|---|---|---|---|",
    ]
    for backend in BACKENDS:
        rows: dict[tuple[str, str], list[str]] = {}
        reason = ""
        for line in (ROOT / "tests" / "xfails" / f"{backend}.txt").read_text().splitlines():
            test, _, text = line.removeprefix("? ").partition("  # ")
            reason = reason if text.startswith("as ") else text
            if match := re.fullmatch(r"test_\w+\[(\w+)-\d+-(\w+)\]", test):
                rows.setdefault((f"`{match[1]}`", reason), []).append(EDGES.get(match[2], match[2]))
            elif match := re.fullmatch(r"test_(\w+)\[(.*)\]", test):
                rows.setdefault((match[1].replace("_", " "), reason), []).append(match[2])
        for (operator, why), edges in rows.items():
            lines.append(f"| {backend} | {operator} | {', '.join(dict.fromkeys(edges))} | {why} |")
    return lines


def _parameters(entry) -> str:
    return str(entry.signature).replace("|", "\\|").replace(", /", "").replace("/", "")


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "operators.md").write_text(table())
