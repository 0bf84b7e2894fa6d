"""Names and texts use the standard terms of the field; each word below has the one that replaces it."""

import collections
import functools
import re

from tests.architecture.sources import REPO_ROOT, TOKEN, sources

NAMES = {
    "kept": "cached",
    "heard": "simulated",
    "silent": "muted",
    "told": "reported",
    "tell": "report",
    "figure": "character",
    "figures": "characters",
    "halt": "stop",
    "halted": "stopped",
    "halts": "stop reports",
    "solids": "colliders",
    "lamp": "light",
    "lamps": "lights",
    "worn": "bound",
    "wearing": "skin binding",
    "carriage": "teleport",
    "desk": "context",
    "veil": "blend mode",
    "shelf": "queue",
    "grip": "knob",
    "rehearse": "warm up",
    "rehearsal": "shader warmup",
    "foresee": "prefetch poses",
    "crowd": "instances",
    "swell": "lod scale",
    "coat": "coverage",
    "film": "video or cache",
    "films": "videos",
    "mend": "fix",
    "whereabouts": "lookup",
    "stand": "pose snapshot",
    "shot": "render view",
    "let": "evict or release",
    "whoever": "caller",
    "nobody": "none",
    "lack": "missing or validation",
}
"""Words that are part of no identifier."""

KNOWN_NAMES = {
    "solids": {"solids"},  # a key of project files
    "shot": {"singleShot", "_single_shot", "SingleShotConnection"},
    "kept": {"libraries_kept_quiet"},
}  # fmt: skip
"""Identifiers with such a word that somebody else chose, or that files hold."""

PHRASES = {
    r"what (?:is|was|are) (?:drawn|shown|there)": "name the objects",
    r"what there is": "name the objects",
    r"whoever|whomever": "the caller, or the class",
    r"\bnobody\b": "no caller, no user",
    r"lets? go of": "evicts, releases",
    r"lets? .{1,20} go\b": "releases",
    r"has it (?:compile|grow|done)": "an active verb",
    r"(?:is|are) gone\b": "no longer exists",
    r"as (?:it|they) stands?\b": "current",
    r"where (?:it|they|everything|the scene|nodes|this|one) stands?\b": "the transform or time",
    r"kept steps?": "cached steps",
    r"\bby hand\b": "manually, by the user",
    r"looked through": "scanned",
    r"asked about": "queried",
    r"gone on from": "continued",
    r"put back": "restored",
    r"goes? on\b|going on\b": "continues",
    r"\bin force\b": "active",
    r"take[ns]? by hand": "forked",
    r"the card\b": "the GPU",
    r"\bmanieth\b": "n-th",
    r"\bbeside your work\b": "in the background",
    r"\bequal to the bit\b": "bit-identical",
    r"\bbelieved\b": "trusted",
    r"in secret": "off screen",
    r"\bfilms?\b": "video, or cache",
    r"\bfigures? (?:walks?|stands?|with|that|has|have|of)\b": "character",
    r"\bthe figure\b|\ba figure\b|(?<!tabular )\bfigures\b": "character (or number)",
    r"\bdesk\b|\bveil\b|\bshelf\b|\bcarriage\b": "see the names",
    r"\bis told\b|\bare told\b|\btells\b": "is reported, shows",
    r"\bheard\b": "simulated",
    r"(?<!\")\bhalted\b(?!\")": "stopped",
    r"\bnothing at all\b": "nothing",
    r"\b(?:that|those) of\b": "the noun again",
}
"""Phrases that stand in no docstring, comment, message, text of the window, guide or README."""

SAME = {
    "Sampler": "of a glTF document and of a material",
    "Recovery": "of projects after a crash, and of a stopped cloth",
}
"""Class names that exist more than once, with the reason."""


@functools.cache
def words_of(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


@functools.cache
def names_and_prose(text: str) -> tuple[set[str], str]:
    """Names of a Python file; its docstrings, comments and string literals with a space."""
    names, parts = set(), []
    for token in TOKEN.finditer(text):
        if token.lastgroup == "name":
            names.add(token[0])
        elif token.lastgroup == "comment" or (token.lastgroup == "text" and " " in token[0]):
            parts.append(token[0])
    return names, "\n".join(parts)


def banned_names(text: str) -> list[str]:
    return sorted(
        f"{name}: {NAMES[word]}"
        for name in names_and_prose(text)[0]
        for word in words_of(name) & NAMES.keys()
        if name not in KNOWN_NAMES.get(word, ())
    )


def banned_phrases(prose: str) -> list[str]:
    flat = " ".join(prose.split())
    return [
        f"{match[0]!r}: {better}"
        for pattern, better in PHRASES.items()
        for match in re.finditer(pattern, flat, flags=re.IGNORECASE)
    ]


def test_identifiers_use_the_words_of_the_field() -> None:
    found = {source.name: banned_names(source.text) for source in sources("app", "widgets", "sim")}
    assert {name: names for name, names in found.items() if names} == {}


def test_docstrings_and_texts_use_plain_phrases() -> None:
    found = {
        source.name: banned_phrases(names_and_prose(source.text)[1]) for source in sources("app", "widgets", "sim")
    }
    assert {name: phrases for name, phrases in found.items() if phrases} == {}


def test_guide_and_readme_use_plain_phrases() -> None:
    pages = [REPO_ROOT / "README.md", *(REPO_ROOT / "resources" / "guide").rglob("*.md")]
    found = {page.name: banned_phrases(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: phrases for name, phrases in found.items() if phrases} == {}


def test_a_class_name_exists_once() -> None:
    places = collections.defaultdict(list)
    for source in sources("app", "widgets", "sim"):
        for name in re.findall(r"^class ([^\W_]\w*)", source.text, re.MULTILINE):
            places[name].append(source.name)
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in SAME} == {}


def test_banned_names_and_phrases_are_found() -> None:
    for text in ("halted = 1", "def let_go(self): pass", "x.figure", "KEPT_STEPS = 1", "class GLFilm: pass"):
        assert len(banned_names(text)) == 1
    for prose in ("Lets go of all.", "Draws what is\ndrawn.", "The figure walks."):
        assert banned_phrases(prose)
