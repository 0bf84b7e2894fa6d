"""Options, defaults and choices of commands are as stored; stored command lines are parsed to the same values."""

import argparse
import enum
import importlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sinew.app.cli import main as cli
from sinew.app.jobs.job import Composite, words_of
from sinew.app.jobs.render import BurnIn
from sinew.app.plugins import plugins

STORED = json.loads((Path(__file__).parents[2] / "data" / "commands.json").read_text(encoding="utf-8"))


def plain(value: Any) -> Any:
    """A value as it was stored: spans and sizes as lists, and nothing for what is off."""
    if isinstance(value, BurnIn):
        return list(value.words()) if value.burn_in else None
    if isinstance(value, Composite):
        return list(msgspec.structs.astuple(value))
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    value = value.value if isinstance(value, enum.Enum) else str(value) if isinstance(value, Path) else value
    return None if value == "" else value


def parser_of(command: str) -> argparse.ArgumentParser:
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli.OneLineParser, "parse_args", lambda parser, _: found.append(parser) or exit(0))
        cli.main([command])
    return found[0]


def values_of(command: str, options: Any) -> dict[str, Any]:
    actions = [action for action in parser_of(command)._actions if "--help" not in action.option_strings]
    names = {action.dest: [*action.option_strings, "argument"][0] for action in actions}
    return {name: plain(getattr(options, dest)) for dest, name in names.items()}


@pytest.mark.parametrize("command", STORED["options"])
def test_options_defaults_and_choices_are_as_stored(command: str) -> None:
    stored = STORED["options"][command]
    actions = [action for action in parser_of(command)._actions if "--help" not in action.option_strings]
    found = {
        action.option_strings[0]: {
            "required": action.required, "choices": plain(list(action.choices)) if action.choices else None,
            "default": plain(action.default),
        }
        for action in actions
        if action.option_strings
    }  # fmt: skip
    assert {name: found.get(name) for name in stored if name != "arguments"} == {
        name: {**record, "default": plain(record["default"])} for name, record in stored.items() if name != "arguments"
    }
    assert [action.nargs for action in actions if not action.option_strings] == stored["arguments"]


@pytest.mark.parametrize("line", STORED["lines"], ids=lambda line: " ".join(line["words"]))
def test_command_lines_are_parsed_as_stored(line: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    command, got = line["words"][0], []
    module = importlib.import_module(cli.COMMANDS[command][0])
    monkeypatch.setattr(module, "run", got.append)
    monkeypatch.setattr(plugins, "require", lambda _: None)
    status = cli.main(line["words"])
    if line["values"] is None:
        assert (status, got) == (2, [])
        return
    assert status == 0
    stored = STORED["options"][command]
    defaults = {name: record["default"] for name, record in stored.items() if name != "arguments"}
    found = values_of(command, got[0])
    wanted = {name: plain(value) for name, value in {**defaults, **line["values"]}.items()}
    assert {name: found[name] for name in ("argument", *defaults)} == wanted
    assert cli.main(words_of(got[0])) == 0
    assert got[1] == got[0], "words and jobs are converted in both directions"
