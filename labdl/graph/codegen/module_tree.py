"""A graph as nested modules: their nodes, inputs, outputs and order of execution."""

from __future__ import annotations

from dataclasses import dataclass, field

from labdl.graph.graph import PARAMETER, Graph
from labdl.graph.node import outputs_of

End = tuple[str, str]  # node id and output port


CONTAINERS = ("ModuleList", "ModuleDict", "ParameterList", "ParameterDict")  # written as one attribute


@dataclass
class Unit:
    """One module of the graph: nodes by id and modules by path, under their names in it."""

    path: str
    kind: str
    items: dict[str, Unit | str] = field(default_factory=dict)  # in order of execution; a node is its id
    takes: list[End] = field(default_factory=list)
    gives: list[End] = field(default_factory=list)
    shares: str = ""  # path of the module that this one calls again

    def nodes(self):
        for item in self.items.values():
            if isinstance(item, Unit):
                yield from item.nodes()
            else:
                yield item

    def units(self):
        """This unit and all nested ones, innermost first."""
        for item in self.items.values():
            if isinstance(item, Unit):
                yield from item.units()
        yield self


def unit_of(graph: Graph) -> Unit:
    """The unit of the whole graph. Modules whose nodes cannot run without interruption are dissolved."""
    groups = {p: c for p, c in graph.groups.items() if c not in CONTAINERS}
    while True:
        root = _tree(graph, groups)
        wrong = _find_cycles(graph, root) or _find_split_modules(graph, root)
        if not wrong:
            for unit in root.units():
                _ends(graph, unit)
            wrong = _find_nonsequential(graph, root)
        if not wrong:
            return root
        groups = {p: c for p, c in groups.items() if p not in wrong}


def _tree(graph: Graph, groups: dict[str, str]) -> Unit:
    root = Unit("", "")
    made = {"": root}
    for node_id, node in graph.nodes.items():
        words = node.name.split("/")
        home = root
        for n in range(1, len(words)):
            path = "/".join(words[:n])
            if path in groups:
                if path not in made:
                    made[path] = Unit(path, groups[path])
                    home.items[inside(path, home)] = made[path]
                home = made[path]
        home.items[inside(node.name, home)] = node_id
    return root


def inside(path: str, unit: Unit) -> str:
    return path[len(unit.path) + 1 :] if unit.path else path


def _find_cycles(graph: Graph, root: Unit) -> set[str]:
    """Paths of modules that depend on themselves; sorts the items of the others by execution."""
    order = {node_id: at for at, node_id in enumerate([*graph.order()[0], *graph.order()[1]])}
    sources: dict[str, list[str]] = {i: [] for i in graph.nodes}
    for edge in graph.edges.values():
        sources[edge.target].append(edge.source)
    for unit in list(root.units()):
        at = {
            n: name for name, item in unit.items.items() for n in (item.nodes() if isinstance(item, Unit) else [item])
        }
        wait = {name: set() for name in unit.items}
        for node_id, name in at.items():
            wait[name] |= {at[s] for s in sources[node_id] if s in at and at[s] != name}
        first = {name: min(order[n] for n, at_name in at.items() if at_name == name) for name in unit.items}
        # traced graphs are mostly sorted, so the scan is short
        left, done = sorted(unit.items, key=first.__getitem__), []
        placed: set[str] = set()
        while left:
            ready = next((name for name in left if wait[name] <= placed), None)
            if ready is None:
                circle = {item.path for name in left if isinstance(item := unit.items[name], Unit)}
                if circle:
                    return circle
                ready = left[0]  # a loop of nodes: reported by the check, and the source is written nevertheless
            left.remove(ready)
            placed.add(ready)
            done.append(ready)
        unit.items = {name: unit.items[name] for name in done}
    return set()


def _find_split_modules(graph: Graph, root: Unit) -> set[str]:
    """Mark modules that are called again, and find those whose layers are shared otherwise."""
    names = {i: n.name for i, n in graph.nodes.items()}
    units = {u.path: u for u in root.units()}
    parent = {item.path: u for u in units.values() for item in u.items.values() if isinstance(item, Unit)}
    home = {i: u for u in units.values() for i in u.items.values() if isinstance(i, str)}
    by_name = {n.name: i for i, n in graph.nodes.items()}
    origin_of = {i: n.shares or i for i, n in graph.nodes.items()}
    for unit in units.values():
        shared = [i for i in unit.nodes() if graph.nodes[i].shares in home]
        if not shared or not unit.path or all(graph.nodes[i].shares in set(unit.nodes()) for i in shared):
            continue
        for other in units.values():
            twins = [by_name.get(other.path + names[i][len(unit.path) :]) for i in shared]
            if (
                other is not unit
                and other.kind == unit.kind
                and other.items.keys() == unit.items.keys()
                and all(twin and origin_of[twin] == origin_of[i] for i, twin in zip(shared, twins, strict=True))
            ):
                unit.shares = other.shares or other.path
                break
    wrong: set[str] = set()
    for node_id, unit in home.items():
        other = home.get(graph.nodes[node_id].shares)
        around = unit
        while around.path and not around.shares:
            around = parent[around.path]
        if around.shares:  # called again as a whole by the parent
            if parent[around.path] is not parent[around.shares]:
                wrong |= {parent[around.path].path, parent[around.shares].path}
        elif other is not None and other is not unit:
            wrong |= {unit.path, other.path}
    return wrong - {""}


def _find_nonsequential(graph: Graph, root: Unit) -> set[str]:
    """Paths of Sequentials that are no longer sequential."""
    return {unit.path for unit in root.units() if unit.kind == "Sequential" and not is_sequential(graph, unit)}


def is_sequential(graph: Graph, unit: Unit) -> bool:
    """Whether a module is a chain of layers and modules that are called 0, 1, …"""
    if list(unit.items) != [str(n) for n in range(len(unit.items))] or len(unit.takes) != 1 or len(unit.gives) != 1:
        return False
    last = unit.takes[0]
    for item in unit.items.values():
        if isinstance(item, Unit):
            takes, gives = item.takes, item.gives
        else:
            node = graph.nodes[item]
            takes = [(e.source, e.source_port) for e in graph.edges.values() if e.target == item]
            gives = [(item, "output")]
            if node.type.startswith("ops.") or node.shares:
                return False
        if takes != [last] or len(gives) != 1:
            return False
        last = gives[0]
    return [last] == unit.gives


def _ends(graph: Graph, unit: Unit) -> None:
    own = set(unit.nodes())
    at = {i: n for n, i in enumerate(unit.nodes())}
    entering = [e for e in graph.edges.values() if e.target in own and e.source not in own]
    entering.sort(key=lambda e: at[e.target])
    unit.takes = list(dict.fromkeys((e.source, e.source_port) for e in entering))
    leaving = [
        (e.source, e.source_port)
        for e in graph.edges.values()
        if e.source in own and e.target not in own and not is_parameter(graph, (e.source, e.source_port))
    ]
    ends = [(i, first_port(graph, i)) for i in graph.outputs() if i in own]
    unit.gives = list(dict.fromkeys([*leaving, *ends]))


def is_parameter(graph: Graph, end: End) -> bool:
    """True when an end is a parameter instead of a result."""
    return end[1].endswith(PARAMETER) or graph.nodes[end[0]].type == "Weight"


def first_port(graph: Graph, node_id: str) -> str:
    return outputs_of(graph.nodes[node_id])[0]
