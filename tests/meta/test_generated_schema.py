"""docs/wire/schema and the page's types are what the code's structs say, and hang together."""

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from hopline.cli.schema import NAMES, schema
from hopline.wire.client.kinds import PAYLOADS
from hopline.wire.client.requests import Request
from hopline.wire.client.schema import documents
from hopline.wire.client.types import EVENT_TYPES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_schema", ROOT / "scripts" / "generate_schema.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate_schema"] = module
    spec.loader.exec_module(module)
    return module


def test_every_file_is_current(generator: ModuleType) -> None:
    assert generator.main(["--check"]) == 0, "run: make docs"
    assert {path.name for path in generator.SCHEMA.iterdir()} == {f"{name}.json" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_leads_to_a_definition_and_every_definition_is_used(name: str) -> None:
    text = json.dumps(documents()[name])
    referred = set(re.findall(r'"#/\$defs/(\w+)"', text))
    assert referred == set(documents()[name]["$defs"])


def test_requests_are_strict_and_everything_that_is_read_is_open() -> None:
    found = documents()
    types = [
        entry["properties"]["type"]["const"]
        for entry in found["request"]["$defs"].values()
        if "type" in entry["properties"]
    ]
    assert len(types) == len(Request.__args__)  # type: ignore[attr-defined]  # a union
    assert all(entry["additionalProperties"] is False for entry in found["request"]["$defs"].values())
    assert "additionalProperties" not in found["event"]["$defs"]["RunEvent"]


def test_every_event_type_and_every_payload_is_in_the_event_document() -> None:
    definitions = documents()["event"]["$defs"]
    assert set(definitions["RunEvent"]["properties"]["type"]["examples"]) == EVENT_TYPES
    kinds = {
        entry["properties"]["kind"]["const"]
        for entry in definitions.values()
        if "const" in entry["properties"].get("kind", {})
    }
    assert {str(payload.__struct_config__.tag) for payload in PAYLOADS.values()} <= kinds


def test_the_page_s_types_name_every_definition(generator: ModuleType) -> None:
    text = generator.files()[generator.TYPES]
    declared = re.findall(r"^export (?:interface|type) (\w+)", text, re.MULTILINE)
    assert len(declared) == len(set(declared))
    wanted: set[str] = {name for document in documents().values() for name in document["$defs"]}
    assert set(declared) == wanted | {"Request", "ServerMessage", "UnknownPayload"}


def test_the_command_prints_and_writes_the_documents(tmp_path: Path) -> None:
    runner = CliRunner()
    printed: dict[str, Any] = json.loads(runner.invoke(schema, [], standalone_mode=False).output)
    assert printed == json.loads(json.dumps(documents()))
    one = runner.invoke(schema, ["event"], standalone_mode=False).output
    assert json.loads(one) == printed["event"]
    runner.invoke(schema, ["--folder", str(tmp_path / "s")], standalone_mode=False)
    for name in NAMES:
        assert (tmp_path / "s" / f"{name}.json").read_bytes() == (
            ROOT / "docs/wire/schema" / f"{name}.json"
        ).read_bytes()
