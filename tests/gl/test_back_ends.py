from pathlib import Path

import numpy as np
import pytest

from sinew import resources
from sinew.app.headless.run import SceneRun
from sinew.app.headless.scene import opened
from sinew.sim.gl import back_end
from sinew.sim.gl.back_end import SIZES, BackEnd, BackEndChoice, BackEndComparison, BackEnds
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.compute import AFTER, BETWEEN, GROUPS_MAX
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.kernel_text import GROUP_SIZE
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.record import record
from sinew.sim.gl.task import finish
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.gl.trials import compare_back_ends
from sinew.sim.gl.vertex_array import Stream, VertexArray
from tests.conftest import slow
from tests.gl.shader_files import make_library
from tests.permissions import OWN
from tests.processes import finished

TF, COMPUTE = BackEndChoice.TF, BackEndChoice.COMPUTE
STEPS, SWITCHED_EVERY = 22, 7
VALUE = record("Value", value=(4, "f4"))
ADD = (
    "uniform samplerBuffer u_state; uniform vec2 u_by; void run(int id) { o_value = texelFetch(u_state, id) + u_by.x; }"
)


@pytest.fixture(autouse=True)
def needs_compute(context: Context) -> None:
    if not context.back_ends.has_compute:
        pytest.skip("no compute here")


def bits(run: SceneRun) -> dict[str, bytes]:
    systems = run.engine.simulation.systems.items()
    return {f"{n}.{key}": one.read().tobytes() for n, system in systems for key, one in system.arrays().items()}


@pytest.mark.parametrize("name", [slow("cape"), "sparks", slow("folded-sheet"), "hair-on-sphere"])
def test_a_project_has_the_same_bits_on_both_back_ends(context: Context, name: str) -> None:
    """Compilers of cards may contract a sum of products differently; a software renderer has but one."""
    run = SceneRun(context, opened(resources.path("projects") / f"{name}.sinew", OWN))
    found = []
    for choices in ((TF,), (COMPUTE,), (TF, COMPUTE)):
        for step in range(0, STEPS, SWITCHED_EVERY):
            context.back_ends.choice = choices[step // SWITCHED_EVERY % len(choices)]
            finish(run.engine.library.prepare(context.back_ends.choice))
            assert run.advance_to(step) == []
            assert run.engine.library.back_ends == context.back_ends.choice
        found.append(bits(run))
        run.advance_to(0)
    if context.capabilities.is_software:
        assert found[1] == found[0]
        assert found[2] == found[0]
    run.release()


@pytest.mark.parametrize("choice", [TF, COMPUTE])
@pytest.mark.parametrize("per_vertex", [1, 2])
def test_denormal_numbers_become_zero_and_no_other(
    context: Context, tmp_path: Path, choice: BackEndChoice, per_vertex: int
) -> None:
    """Without it one back end keeps 1e-41 and the other has 0."""
    mixed = record("Mixed", value=(3, "f4"), number="i4")
    file = (
        "uniform samplerBuffer u_values; void run(int id) {"
        " o_value = texelFetch(u_values, id).xyz; o_number = id + 1; }"
    )
    library = make_library(context, tmp_path, {"k.glsl": file})
    context.back_ends.choice = choice
    kernel = Kernel(library, "k.glsl", mixed, per_vertex=per_vertex)
    assert kernel.back_end == choice.value
    values = np.zeros((4, 4), np.float32)
    values[:, :3] = [
        [1e-41, -1e-41, 1.2e-38],
        [1.1e-38, -1.2e-38, 3e38],
        [np.nan, np.inf, -np.inf],
        [-0.0, 5e-324, 1.0],
    ]
    source = TexelBuffer(context, values.view(VALUE.dtype).ravel(), usage="copy", label="values")
    target = Buffer(context, mixed.zeros(4), usage="copy", label="target")
    kernel.run(None, target, 4, u_values=source)
    found = target.read()
    expected = np.where(
        np.abs(values[:, :3]) < np.finfo(np.float32).tiny, np.copysign(0.0, values[:, :3]), values[:, :3]
    )
    np.testing.assert_array_equal(np.isnan(found["value"]), np.isnan(expected))
    known = ~np.isnan(expected)
    assert found["value"][known].tobytes() == expected.astype(np.float32)[known].tobytes()
    assert found["number"].tolist() == [1, 2, 3, 4]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    dispatch, wait = GL.glDispatchCompute, GL.glMemoryBarrier
    monkeypatch.setattr(GL, "glDispatchCompute", lambda *n: (found.append(("dispatch", n[0])), dispatch(*n)))
    monkeypatch.setattr(GL, "glMemoryBarrier", lambda bits: (found.append(("barrier", bits)), wait(bits)))
    return found


def test_every_dispatch_has_a_barrier(context: Context, tmp_path: Path, calls: list[tuple[str, int]]) -> None:
    """Software renderers work without, so that only the calls show it."""
    context.back_ends.choice = COMPUTE
    kernel = Kernel(make_library(context, tmp_path, {"k.glsl": ADD}), "k.glsl", VALUE)
    state = PingPong(context, VALUE.zeros(300), label="state")
    state.run(kernel, "u_state", "u_by", [(1.0, 0.0), (2.0, 0.0)])
    assert calls == [("dispatch", 3), ("barrier", BETWEEN), ("dispatch", 3), ("barrier", BETWEEN), ("barrier", AFTER)]
    assert np.all(state.newest.read()["value"] == 3.0)
    calls.clear()
    target = Buffer(context, VALUE.zeros(2))
    kernel.run(VertexArray(context), target, 2, u_state=state.texture, u_by=(4.0, 0.0))
    assert calls == [("dispatch", 1), ("barrier", BETWEEN), ("barrier", AFTER)]
    assert np.all(target.read()["value"] == 7.0)
    wanted = (GL.GL_TEXTURE_FETCH_BARRIER_BIT, GL.GL_SHADER_STORAGE_BARRIER_BIT, GL.GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT,
              GL.GL_BUFFER_UPDATE_BARRIER_BIT, GL.GL_TRANSFORM_FEEDBACK_BARRIER_BIT)  # fmt: skip
    assert all(AFTER & bit for bit in wanted)
    assert all(BETWEEN & bit for bit in wanted[:2])
    state.release()


def test_many_groups_are_split_into_dispatches(context, tmp_path, calls, monkeypatch):
    monkeypatch.setattr("sinew.sim.gl.compute.GROUPS_MAX", 2)
    assert GROUPS_MAX == 65_535
    context.back_ends.choice = COMPUTE
    text = "void run(int id) { o_value = vec4(id); }"
    kernel = Kernel(make_library(context, tmp_path, {"k.glsl": text}), "k.glsl", VALUE)
    count = 5 * GROUP_SIZE - 1
    targets = [Buffer(context, VALUE.zeros(count)) for _ in range(2)]
    source = VertexArray(context)
    with kernel.writing(source) as write:
        write.write((targets[0],), 0, count)
        write.write((targets[1],), 3, count - 3)
    assert [number for kind, number in calls if kind == "dispatch"] == [2, 2, 1] * 2
    np.testing.assert_array_equal(targets[0].read()["value"][:, 0], np.arange(count))
    np.testing.assert_array_equal(targets[1].read()["value"][:, 0], [0, 0, 0, *range(3, count)])


def test_fields_of_every_width_arrive(context: Context, tmp_path: Path) -> None:
    mixed = np.dtype([("a", "u2", 2), ("b", "i2"), ("c", "u1", 2), ("d", "f4"), ("e", "i4", 3)])
    out = record("Out", u=(4, "u4"), i=(3, "i4"), f="f4", more=(4, "i4"))
    text = "void run(int id) { o_u = uvec4(a_a, a_c); o_i = a_e; o_f = a_d; o_more = ivec4(a_b); }"
    data = np.array(
        [((1, 65535), -2, (3, 255), 0.1, (-5, 6, 2**31 - 1)), ((9, 8), -32768, (7, 6), -0.0, (5, 4, 3))], mixed
    )
    source, found = VertexArray(context, [Stream(Buffer(context, data))]), []
    library = make_library(context, tmp_path, {"k.glsl": text})
    for pinned in BackEnd:
        target = Buffer(context, out.zeros(2))
        Kernel(library, "k.glsl", out, inputs=[mixed], back_end=pinned).run(source, target)
        found.append(target.read().tobytes())
    assert found[0] == found[1]
    again = np.frombuffer(found[1], out.dtype)
    np.testing.assert_array_equal(again["u"][0], [1, 65535, 3, 255])
    np.testing.assert_array_equal(again["i"], data["e"])
    np.testing.assert_array_equal(again["more"][:, 1], data["b"])
    source.release()


def test_a_source_of_other_records_is_refused(context: Context, tmp_path: Path) -> None:
    library = make_library(context, tmp_path, {"k.glsl": "void run(int id) { o_value = a_value; }"})
    kernel = Kernel(library, "k.glsl", VALUE, inputs=[VALUE], back_end=BackEnd.COMPUTE)
    shifted = VertexArray(context, [Stream(Buffer(context, VALUE.zeros(2)), offset=16)], label="shifted")
    with pytest.raises(GLError, match=r"'shifted'.*value"):
        kernel.run(shifted, Buffer(context, 16))
    other = Kernel(library, "k.glsl", VALUE, inputs=[VALUE], back_end=BackEnd.TF)
    source = VertexArray(context, [Stream(Buffer(context, VALUE.zeros(3)))])
    for one, another in ((kernel, other), (other, kernel)):
        with pytest.raises(GLError, match="another back end"), one.writing(source) as write:
            write.use(another, source)
    source.release()


def test_automatic_chooses_the_faster_back_end_for_the_size(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    ends, renderer = BackEnds(context, compare_back_ends), context.capabilities.renderer
    monkeypatch.setattr(back_end, "_COMPARED", {})
    assert ends.chosen(SIZES[0] - 1, 32) is BackEnd.TF, "not even tried"
    assert "4 096" in ends.status
    for ratios, least in (((1.1, 1.5, 2.0), 0), ((1.3, 0.9, 2.0), 2), ((2.0, 2.0, 0.5), None)):
        back_end._COMPARED[renderer] = BackEndComparison(ratios)
        found = [ends.chosen(size, 32) is BackEnd.COMPUTE for size in SIZES]
        assert found == [least is not None and index >= least for index in range(3)]
        assert f"{ratios[-1]:.2f} times" in ends.status
        assert ends.status.startswith("automatic: transform" if least is None else "automatic: compute")
    ends.choice = COMPUTE
    assert ends.chosen(1, 32) is BackEnd.COMPUTE
    assert ends.chosen(1, context.capabilities.max_storage_block_size + 1) is BackEnd.TF, "no block is so large"
    assert ends.chosen(10**6, 32, TF) is BackEnd.TF


def test_the_trial_measures_both_back_ends(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sinew.sim.gl.trials.SIZES", (300, 600, 900))
    found = compare_back_ends(context)
    assert len(found.ratios) == 3
    assert min(found.ratios) > 0.0


def test_a_changed_back_end_skins_again(context: Context, library: ShaderLibrary) -> None:
    from sinew.sim.characters.skinning import SkinnedMesh
    from tests.gl.skinning_cases import cloud, random_pose, random_skin

    random = np.random.default_rng(3)
    mesh = SkinnedMesh(context, library, cloud(500, random), random_skin(500, 9, 4, random))
    pose, found = random_pose(9, random), []
    for choice in (TF, COMPUTE):
        context.back_ends.choice = choice
        assert mesh.skin(pose)
        assert not mesh.skin(pose)
        found.append(mesh.read().tobytes())
    if context.capabilities.is_software:
        assert found[0] == found[1]
    mesh.release()


@pytest.mark.parametrize("version", ["3.3", slow("4.1")])
def test_without_compute_transform_feedback_is_used(context: Context, tmp_path: Path, version: str) -> None:

    if "mesa" not in context.capabilities.version.lower():
        pytest.skip("only Mesa can be told to be older")
    project, out = resources.path("projects") / "cloth-on-ellipsoid.sinew", tmp_path / "out.npz"
    words = ["simulate", project, "--steps", "3", "--output", out, "--backend", "compute"]
    status, _, err = finished("-m", "sinew", *words, MESA_GL_VERSION_OVERRIDE=version)
    assert status == 0
    assert f"transform feedback: compute needs OpenGL 4.3, here is {version}" in err
    with np.load(out) as arrays:
        assert str(arrays["back_end"]) == "tf"
