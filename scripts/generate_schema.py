"""Write the TypeScript types and validators of pydantic models, and the tables of run events and commands in docs/runs.md.

    python scripts/generate_schema.py [--check]

``MODULES`` lists the Python modules and the files made from them: each model of such a module becomes an interface, each
`TypeAliasType` a type, and both an entry of the table with which `labextension/src/api/validate.ts` checks data. With
``--check`` nothing is written; the exit status is 1 where a file is out of date.

The output is made here and not by json-schema-to-typescript and ajv because columns may be typed arrays, which ajv does not
take for arrays, and because a wrong optional field is left out instead of making the whole object invalid.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypeAliasType

ROOT = Path(__file__).parents[1]
# a module may use the models of those before it
MODULES = [
    ("labdl.runs.schema", "labextension/src/api/events.ts"),
    ("labdl.lab.messages.layout", "labextension/src/api/layout.ts"),
    ("labdl.lab.messages.graph", "labextension/src/api/graph.ts"),
    ("labdl.lab.messages.check", "labextension/src/api/check.ts"),
    ("labdl.lab.messages.inspection", "labextension/src/api/inspection.ts"),
    ("labdl.lab.messages.editor", "labextension/src/api/editor.ts"),
    ("labdl.lab.messages.training", "labextension/src/api/training.ts"),
    ("labdl.lab.messages.runs", "labextension/src/api/runs.ts"),
    ("labdl.lab.messages.data", "labextension/src/api/data.ts"),
]
VALIDATED = {"labdl.runs.schema"}  # files may hold anything; what Python sends is checked there
DOCS = ROOT / "docs" / "runs.md"

# types of labextension/src/api/validate.ts whose numbers are not looked at one by one
_COLUMNS = ("Column", "Indices")
_CHECKED = (
    "type",
    "const",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
    "required",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a file is out of date")
    outdated = [path for path, text in outputs() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if parser.parse_args().check:
        for path in outdated:
            print(f"{path.relative_to(ROOT)} is out of date: run python scripts/generate_schema.py", file=sys.stderr)
        return 1 if outdated else 0
    for path, text in outputs():
        path.write_text(text, encoding="utf-8")
    return 0


def outputs() -> Iterator[tuple[Path, str]]:
    """Each generated file and its text."""
    owners: dict[str, str] = {}  # name of a type -> the module that defines it
    for name, file in MODULES:
        module = importlib.import_module(name)
        yield ROOT / file, typescript(module, owners)
        owners.update(dict.fromkeys(exported(module), name))
    from labdl.runs import control, schema

    text = insert(DOCS.read_text(encoding="utf-8"), "events", event_reference(schema))
    yield DOCS, insert(text, "commands", command_table(control.COMMANDS))


def insert(text: str, part: str, generated: str) -> str:
    """Replace a generated part of a text, which is between two comments."""
    begin, end = (f"<!-- {word}: {part}, by scripts/generate_schema.py -->" for word in ("begin", "end"))
    before, rest = text.split(begin)
    return f"{before}{begin}\n{generated}{end}{rest.split(end)[1]}"


def exported(module: ModuleType) -> dict[str, Any]:
    """The models and type aliases that a module defines, in order; names with an underscore are its own."""
    return {
        name: value
        for name, value in vars(module).items()
        if name[0] != "_"
        and ((inspect.isclass(value) and issubclass(value, BaseModel)) or isinstance(value, TypeAliasType))
        and value.__module__ == module.__name__
    }


def definitions(module: ModuleType) -> dict[str, dict[str, Any]]:
    """JSON Schemas of the exported types of a module, and of those that they refer to, by name."""
    types = exported(module)
    adapters = [(name, "serialization", TypeAdapter(value)) for name, value in types.items()]
    _, schema = TypeAdapter.json_schemas(adapters, ref_template="{model}")  # type: ignore[arg-type]
    found = schema.get("$defs", {})
    missing = [name for name in types if name not in found]
    if missing:
        raise ValueError(f"{module.__name__}: no definition of {', '.join(missing)}: is a name used twice?")
    return {name: found[name] for name in [*types, *(name for name in found if name not in types)]}


# -- TypeScript


def typescript(module: ModuleType, owners: dict[str, str]) -> str:
    """The text of the TypeScript file of a module; ``owners`` says where types of earlier modules are defined."""
    types, found = exported(module), definitions(module)
    foreign = {name: owners[name] for name in found if name not in types}
    files = {name: Path(file).stem for name, file in MODULES}
    body = [declaration(name, found[name]) for name in types]
    table = "\n".join(f"  {name}: {literal(rules(found[name]), 1)}," for name in types)
    imported, spread = [], []
    for owner in dict.fromkeys(foreign.values()):
        names = sorted(name for name, where in foreign.items() if where == owner)
        listed = "".join(f"  type {name},\n" for name in names)
        imported.append(f"import {{\n  schemas as {files[owner]}Schemas,\n{listed}}} from './{files[owner]}';\n")
        spread.append(f"  ...{files[owner]}Schemas,\n")
    source = module.__name__.replace(".", "/")
    head = f"// Generated by `python scripts/generate_schema.py` from {source}.py: edit that.\n\n"
    if module.__name__ not in VALIDATED:
        used = set(re.findall(r"\w+", "\n".join(body)))
        text = "".join(
            f"import type {{ {', '.join(names)} }} from './{files[owner]}';\n"
            for owner in dict.fromkeys(foreign.values())
            if (names := sorted(used & {name for name, where in foreign.items() if where == owner}))
        )
        return head + (f"{text}\n" if text else "") + "\n\n".join(body) + "\n"
    columns = "".join(f"type {name}, " for name in _COLUMNS if any(re.search(rf"\b{name}\b", text) for text in body))
    models = "\n".join(f"  {name}: {name};" for name in types)
    constants = "".join(
        f"export const {name}: readonly string[] = {literal(value)};\n\n" for name, value in lists(module)
    )
    return (
        f"{head}import {{ {columns}type Schemas, validator }} from './validate';\n{''.join(imported)}\n"
        + constants
        + "\n\n".join(body)
        + f"\n\nexport interface Models {{\n{models}\n}}\n\n"
        f"export const schemas: Schemas = {{\n{''.join(spread)}{table}\n}};\n\n"
        "/** Data as one of the types above, without optional fields that are wrong; null where it is not one. */\n"
        "export const validate = validator<Models>(schemas);\n"
    )


def lists(module: ModuleType) -> Iterator[tuple[str, list[str]]]:
    """The tuples of strings among the constants of a module."""
    for name, value in vars(module).items():
        if name.isupper() and name[0] != "_" and isinstance(value, tuple) and all(isinstance(v, str) for v in value):
            yield name, list(value)


def declaration(name: str, schema: dict[str, Any]) -> str:
    """An interface, or a type for what is no object."""
    head = comment(schema.get("description"))
    if "properties" not in schema:
        return f"{head}export type {name} = {type_of(schema)};"
    required = schema.get("required", [])
    lines = []
    for field, inner in schema["properties"].items():
        optional = "" if field in required else "?"
        lines.append(comment(inner.get("description"), "  ") + f"  {field}{optional}: {type_of(inner)};")
    if schema.get("additionalProperties"):
        lines.append("  [name: string]: unknown;")
    return f"{head}export interface {name} {{\n" + "\n".join(lines) + "\n}"


def comment(text: str | None, indent: str = "") -> str:
    if not text:
        return ""
    plain = " ".join(inspect.cleandoc(text).replace("``", "`").split())
    lines = textwrap.wrap(plain, 110)
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */\n"


def type_of(schema: Any) -> str:
    """The TypeScript type of a JSON Schema."""
    if not isinstance(schema, dict):
        return "unknown"
    if "tsType" in schema:
        return schema["tsType"]
    if "$ref" in schema:
        return schema["$ref"]
    if "const" in schema:
        return quoted(schema["const"])
    if "enum" in schema:
        return " | ".join(map(quoted, schema["enum"]))
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(type_of(option) for option in options))
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(map(type_of, schema['prefixItems']))}]"
        inner = type_of(schema.get("items"))
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"{{ [name: string]: {type_of(inner if isinstance(inner, dict) else None)} }}"
    return {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}.get(
        kind or "", "unknown"
    )


def rules(schema: Any) -> dict[str, Any]:
    """What of a JSON Schema is checked."""
    if not isinstance(schema, dict):
        return {}
    if schema.get("tsType") in _COLUMNS:
        return {"type": "column"}
    found: dict[str, Any] = {key: schema[key] for key in _CHECKED if key in schema}
    if "$ref" in schema:
        found["$ref"] = schema["$ref"]
    if options := schema.get("anyOf") or schema.get("oneOf"):
        found["anyOf"] = [rules(option) for option in options]
    if "discriminator" in schema:
        found["tag"] = schema["discriminator"]["propertyName"]
        found["options"] = schema["discriminator"]["mapping"]
        del found["anyOf"]
    if "prefixItems" in schema:
        found["prefixItems"] = [rules(item) for item in schema["prefixItems"]]
    elif "items" in schema:
        found["items"] = rules(schema["items"])
    if "properties" in schema:
        found["properties"] = {name: rules(inner) for name, inner in schema["properties"].items()}
    elif isinstance(schema.get("additionalProperties"), dict):
        found["values"] = rules(schema["additionalProperties"])
    return found


def literal(value: Any, depth: int = 0) -> str:
    """JavaScript for plain data; the objects under "properties" have a line for each name."""
    if isinstance(value, dict):
        pad = "  " * (depth + 1)
        parts = []
        for key, inner in value.items():
            name = key if re.fullmatch(r"[A-Za-z_$][\w$]*", key) else quoted(key)
            if key in ("properties", "options") and inner:
                lines = ",\n".join(f"{pad}  {plain_name(k)}: {literal(v, depth + 2)}" for k, v in inner.items())
                parts.append(f"{name}: {{\n{lines}\n{pad}}}")
            else:
                parts.append(f"{name}: {literal(inner, depth)}")
        if "properties" in value or "options" in value:
            return "{\n" + ",\n".join(f"{pad}{part}" for part in parts) + "\n" + "  " * depth + "}"
        return f"{{ {', '.join(parts)} }}" if parts else "{}"
    if isinstance(value, list):
        return f"[{', '.join(literal(item, depth) for item in value)}]"
    return quoted(value)


def plain_name(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z_$][\w$]*", key) else quoted(key)


def quoted(value: Any) -> str:
    if isinstance(value, str):
        return "'" + json.dumps(value, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
    return json.dumps(value)


# -- docs/runs.md


def event_reference(schema: ModuleType) -> str:
    """A table for each event of a file, and for each object in one."""
    found = definitions(schema)
    events = {model.__name__: kind for kind, model in schema.EVENTS.items()}
    parts = []
    for name, kind in events.items():
        parts.append(f"\n#### {kind}\n\n{prose(found[name])}{table_of(found[name], skip=('kind', 'time'))}")
    used = set(re.findall(r'"\$ref": "(\w+)"', json.dumps([found[name] for name in events])))
    while more := set(re.findall(r'"\$ref": "(\w+)"', json.dumps([found[name] for name in used]))) - used:
        used |= more
    parts.append("\n### Objects in events\n")
    for name, inner in found.items():
        if name in used and name not in events and "properties" in inner:
            parts.append(f"\n#### {name}\n\n{prose(inner)}{table_of(inner)}")
    return "".join(parts) + "\n"


def command_table(commands: dict[str, Any]) -> str:
    rows = [f"| `{name}` | {kind.value} | {kind.effect} |".replace("|  |", "| |") for name, kind in commands.items()]
    return "\n".join(["", "| command | value | effect |", "|---|---|---|", *rows, "", ""])


def prose(schema: dict[str, Any]) -> str:
    text = " ".join(inspect.cleandoc(schema.get("description", "")).replace("``", "`").split())
    return "\n".join(textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)) + "\n\n" if text else ""


def table_of(schema: dict[str, Any], skip: tuple[str, ...] = ()) -> str:
    rows = [
        f"| `{name}` | {described(inner, name not in schema.get('required', ()))} | "
        f"{' '.join(inner.get('description', '').replace('``', '`').split())} |"
        for name, inner in schema["properties"].items()
        if name not in skip
    ]
    return "\n".join(["| key | value | meaning |", "|---|---|---|", *rows]) + "\n" if rows else ""


def described(schema: dict[str, Any], optional: bool = False) -> str:
    """The type of a field in words of JSON; an optional field may be null as well as absent."""
    if optional:
        return f"{described(schema).removesuffix(' or null')}, optional"
    if "$ref" in schema:
        return schema["$ref"]
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(described(option) for option in options))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        if "prefixItems" in schema:
            return f"list of {len(schema['prefixItems'])}"
        return f"list of {described(schema.get('items', {})).replace(' or ', ' and ')}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {described(schema['additionalProperties'])}"
    return {"string": "text"}.get(kind or "", kind or "anything")


if __name__ == "__main__":
    sys.exit(main())
