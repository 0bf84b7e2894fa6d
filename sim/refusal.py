import re

import msgspec

_KINDS = {
    "int": "a whole number", "float": "a number", "str": "text", "bool": "true or false", "null": "nothing",
    "array": "a list", "object": "an object",
}  # fmt: skip
_NAMED = re.compile("`([^`]*)`")


def refusal(error: msgspec.ValidationError) -> tuple[str, str]:
    """Returns the place of a wrong value, such as "nodes[0].mesh" or "", and the fault, "is text, not a number"."""
    reason, _, place = str(error).partition(" - at `")
    text = _NAMED.sub(lambda found: " or ".join(_KINDS.get(kind, kind) for kind in found[1].split(" | ")), reason)
    if wrong := re.fullmatch("Expected (.*), got (a list|an object|[a-z ]+)", text):
        text = f"is {wrong[2]}, not {wrong[1]}"
    elif wrong := re.fullmatch("Expected (.*), got (.*)", text):
        text = f"is not {wrong[1]}, but of {wrong[2]}"
    elif text.startswith("Expected "):
        text = f"is not {text[9:]}"
    elif wrong := re.fullmatch("Invalid (?:enum )?value (.*)", text):
        text = f"{wrong[1]} is not allowed"
    elif wrong := re.fullmatch("Object missing required field (.*)", text):
        text = f"{wrong[1]} is missing"
    return place.rstrip("`").removeprefix("$").removeprefix("."), text
