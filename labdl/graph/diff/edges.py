"""Edges that only one of two graphs has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from labdl.graph.graph import Graph

LONGEST = 100  # largest number of edges into one port that are compared in order; of more, all count as different


def differing_edges(old: Graph, new: Graph, same: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Edges that only the old and only the new graph has, including edges into one port whose order changed.

    ``same`` maps ids of nodes in the old graph to those of the same nodes in the new one.
    """
    befores, afters = _entering(old, same), _entering(new, {i: i for i in same.values()})
    kept_before: set[str] = set()
    kept_after: set[str] = set()
    for port in befores.keys() & afters.keys():
        for a, b in _common([key for key, _ in befores[port]], [key for key, _ in afters[port]]):
            kept_before.add(befores[port][a][1])
            kept_after.add(afters[port][b][1])
    return tuple(i for i in old.edges if i not in kept_before), tuple(i for i in new.edges if i not in kept_after)


def _common(before: list[Any], after: list[Any]) -> list[tuple[int, int]]:
    """Positions in both lists of their longest common subsequence."""
    start, end = 0, 0
    shorter = min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    pairs = [(at, at) for at in range(start)] + [(len(before) - n, len(after) - n) for n in range(1, end + 1)]
    rows, columns = len(before) - start - end, len(after) - start - end
    if rows > LONGEST or columns > LONGEST:
        return pairs
    length = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            length[i][j] = (
                length[i + 1][j + 1] + 1
                if before[start + i] == after[start + j]
                else max(length[i + 1][j], length[i][j + 1])
            )
    i = j = 0
    while i < rows and j < columns:
        if before[start + i] == after[start + j]:
            pairs.append((start + i, start + j))
            i, j = i + 1, j + 1
        elif length[i + 1][j] >= length[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _entering(graph: Graph, ids: Mapping[str, str]):
    """Edges by target port, each with its source; nodes are renamed by ``ids``."""

    def end(node_id: str) -> tuple[bool, str]:
        return node_id in ids, ids.get(node_id, node_id)

    found: dict[Any, list[tuple[Any, str]]] = defaultdict(list)
    for edge_id, edge in graph.edges.items():
        # an id of a node of one graph only must not match one of the other
        alone = () if edge.target in ids and edge.source in ids else (id(graph),)
        found[end(edge.target), edge.target_port].append(((end(edge.source), edge.source_port, alone), edge_id))
    return found
