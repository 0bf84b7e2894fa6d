from pathlib import Path

from sinew.sim.assets.build import build_model
from sinew.sim.assets.info import info_text, model_info
from sinew.sim.assets.load import read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError
from tests import frame_samples
from tests.fuzz.mutate import mutated


def outcome(path: Path) -> str:
    """ "loaded" or "refused", see `model_of`."""
    return "refused" if model_of(path) is None else "loaded"


def model_of(path: Path) -> CharacterModel | None:
    """The model of a file; None for a refusal with one line. Anything else comes out as an exception.

    Raises:
        AssertionError: If the message of a refusal is not one line that names the file.
    """
    try:
        raw = read_raw(path)
        model = build_model(raw)
        info_text(model_info(raw, model))
    except ModelError as error:
        message = str(error)
        assert message.startswith(str(path)), message
        assert len(message.splitlines()) == 1, message
        assert len(message) < 600, message
        return None
    return model


def prepare(folder: Path) -> None:
    frame_samples.write_all(folder)


def damaged(seed: int, files: dict[str, bytes]) -> tuple[str, bytes]:
    name = sorted(files)[seed % len(files)]
    return name, mutated(files[name], seed, list(files.values()))
