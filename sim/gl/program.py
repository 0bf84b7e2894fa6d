"""Programs, whose uniforms are items; setting an item makes no GL call, `use()` sends changed values."""

import difflib
import functools
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.errors import GLLimitError
from sinew.sim.gl.objects import GLObject
from sinew.sim.gl.program_build import ProgramSources, build_program
from sinew.sim.gl.reflection import NUMBERS, Reflection, UniformInfo, UniformType, is_plain, reflect
from sinew.sim.gl.texture import SCRATCH_UNIT, Texture

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

_COMPARED = NUMBERS | {tuple}


class Program:
    """A program that can be replaced while others hold it; every swap makes another `reflection`.

    Uniforms: `program["u_x"] = value` takes numbers, sequences, numpy arrays (matrices row-major) and textures for
    samplers.  Each sampler has its own texture unit; textures are held weakly and bound by `use()`.  A uniform that is
    declared but was optimised away accepts and ignores values, so that editing a shader cannot break drawing; a name
    that no version of the source ever declared raises KeyError with the nearest names.
    """

    def __init__(self, context: "Context", sources: ProgramSources, *, label: str = "") -> None:
        self.context = context
        self.label = label or " + ".join(source.name for source in sources.stages.values())
        self.reflection = Reflection({}, (), ())
        self.sources = sources
        self._declared: frozenset[str] = frozenset()
        self._values: dict[str, np.ndarray] = {}
        self._bytes: dict[str, bytes] = {}
        self._plain: dict[str, object] = {}
        self._dirty: set[str] = set()
        self._units: dict[str, int] = {}
        self._textures: dict[str, weakref.ref[Texture]] = {}
        self._owner: GLObject | None = None
        self.swap(sources)

    def swap(self, sources: ProgramSources) -> None:
        """Swaps the program; values of uniforms stay. Raises ShaderError, and changes nothing, for wrong sources."""
        binaries = self.context.binaries
        name = binaries.load(sources) if binaries is not None else None
        if name is None:
            name = build_program(sources, retrievable=binaries is not None)
            if binaries is not None:
                binaries.keep(sources, name)
        reflection = reflect(name)
        samplers = [info.name for info in reflection.uniforms.values() if info.type.sampler_target is not None]
        if len(samplers) > SCRATCH_UNIT:
            GL.glDeleteProgram(name)
            raise GLLimitError(f"program {self.label!r}: {len(samplers)} samplers, the limit is {SCRATCH_UNIT}")
        if self._owner is not None:
            self._owner.release()
        self._owner = GLObject(self.context, "Program", name, self.label)
        self.reflection, self.sources = reflection, sources
        self._declared |= sources.uniforms() | set(reflection.uniforms)
        self._units = {sampler: unit for unit, sampler in enumerate(samplers)}
        self._restore_values()
        for index, block in enumerate(reflection.blocks):
            GL.glUniformBlockBinding(name, index, self.context.block_binding(block))

    @property
    def name(self) -> int:
        assert self._owner is not None
        return self._owner.name

    def __contains__(self, name: str) -> bool:
        return name in self.reflection.uniforms

    def update(self, uniforms: Mapping[str, Any]) -> None:
        known, plain = self.reflection.uniforms, self._plain
        for name, value in uniforms.items():
            # Most values are numbers that do not change between frames; arrays may have been modified in place.
            if type(value) in _COMPARED and plain.get(name) == value:
                continue
            info = known.get(name)
            if info is None:
                if name not in self._declared:
                    raise self._unknown(name)
            elif not isinstance(value, Texture):
                self._set_value(info, value)
            elif info.type.sampler_target == value.target:
                self._textures[name] = weakref.ref(value)
            else:
                raise ValueError(f"program {self.label!r}: uniform {name!r} does not take a {type(value).__name__}")

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __getitem__(self, name: str) -> np.ndarray:
        return self._values[name]

    def set_if_active(self, name: str, value: Any) -> bool:
        """Sets a uniform and returns True if it is active; never raises for an unknown name."""
        if name not in self.reflection.uniforms:
            return False
        self[name] = value
        return True

    def location(self, name: str) -> int:
        """Returns a location for loops that send numbers themselves, valid until the next swap; -1 without one."""
        info = self.reflection.uniforms.get(name)
        if info is None and name not in self._declared:
            raise self._unknown(name)
        return -1 if info is None else info.location

    def unit(self, sampler: str) -> int:
        """Returns the texture unit of a sampler, for loops that bind textures themselves.

        A sampler that was optimised away has the unit that no program reads.
        """
        if sampler not in self._units and sampler not in self._declared:
            raise self._unknown(sampler)
        return self._units.get(sampler, SCRATCH_UNIT)

    def use(self) -> None:
        """Makes the program current, sends changed values and binds textures."""
        assert self._owner is not None
        GL.glUseProgram(self._owner.name)
        if self._dirty:
            for name in self._dirty:
                info, value = self.reflection.uniforms[name], self._values[name]
                info.type.upload(info.location, len(value), value)
            self._dirty.clear()
        for name, reference in self._textures.items():
            texture = reference()
            if texture is not None and not texture.released:
                GL.glActiveTexture(GL.GL_TEXTURE0 + self._units[name])
                GL.glBindTexture(texture.target, texture.name)

    def release(self) -> None:
        if self._owner is not None:
            self._owner.release()

    def _set_value(self, info: UniformInfo, value: Any) -> None:
        plain = is_plain(value)
        try:
            array, data = (_packed_plain if plain else _packed)(info.type, info.size, value)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"program {self.label!r}: uniform {info.name!r}: {error}") from None
        if self._bytes.get(info.name) != data:
            self._values[info.name], self._bytes[info.name] = array, data
            self._dirty.add(info.name)
        self._plain[info.name] = value if plain else None

    def _restore_values(self) -> None:
        old_values, old_textures = self._values, self._textures
        self._values, self._bytes, self._plain, self._textures, self._dirty = {}, {}, {}, {}, set()
        for name, info in self.reflection.uniforms.items():
            if name in self._units:
                self._set_value(info, self._units[name])
            texture = old_textures[name]() if name in old_textures else None
            if texture is not None and info.type.sampler_target == texture.target:
                self._textures[name] = old_textures[name]
            elif name in old_values and info.type.sampler_target is None:
                value, kind = old_values[name], info.type
                if value.shape[1:] == kind.shape and len(value) <= info.size and value.dtype == kind.dtype:
                    self._set_value(info, value if info.size > 1 else value[0])

    def _unknown(self, name: str) -> KeyError:
        near = difflib.get_close_matches(name, sorted(self._declared), n=3, cutoff=0.4)
        hint = (
            f"; did you mean {', '.join(near)}?" if near else f"; it has {', '.join(sorted(self._declared)) or 'none'}"
        )
        return KeyError(f"program {self.label!r} has no uniform {name!r}{hint}")


def _packed(kind: UniformType, size: int, value: Any) -> tuple[np.ndarray, bytes]:
    array = kind.encode(value, size)
    array.flags.writeable = False
    return array, array.tobytes()


_packed_plain = functools.lru_cache(maxsize=1024)(_packed)
"""Packed values with a cache, as most objects send the same few numbers in every frame."""
