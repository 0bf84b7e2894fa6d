import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.jobs import render
from sinew.app.jobs.render import turned
from sinew.app.project.project_file import save_project
from sinew.sim.assets.formats import resolved
from sinew.sim.export.formats import SCENE_FORMATS, VIDEO_FORMATS, VideoCodec, VideoOptions
from sinew.sim.export.video_file import GifVideo, WebpVideo
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Scene
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow

ARM = resources.path("projects") / "arm.sinew"
CAPE = resources.path("projects") / "cape.sinew"
RATE = 30.0


def bars(width: int = 64, height: int = 36) -> np.ndarray:
    picture = np.zeros((height, width, 3), np.uint8)
    for index in range(8):
        picture[:, index * width // 8 : (index + 1) * width // 8] = [255 * (index >> bit & 1) for bit in range(3)]
    return picture


def pixels_of(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture)


def rendered(path: Path, *options: str) -> Path:
    small = [] if "--size" in options else ["--size", "96x64"]
    assert main(["render", str(ARM), "--output", str(path), *small, *options]) == 0
    return path


@pytest.mark.parametrize(
    ("suffix", "codec"), [(".mp4", "h264"), (".mp4", "av1"), (".webm", "vp9"), (".mkv", "ffv1"), (".mov", "prores")]
)
def test_codecs_keep_colour_bars(suffix: str, codec: str, tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    from sinew.sim.export.video_codec import CodecVideo

    path, picture = tmp_path / f"a{suffix}", bars(256, 64)
    video = CodecVideo(path, (256, 64), RATE, False, VideoOptions(VideoCodec.AV1) if codec == "av1" else None)
    for _ in range(5):
        video.add(picture)
    video.close()
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        assert stream.average_rate == RATE
        assert stream.codec.canonical_name == codec
        frames = list(file.decode(video=0))
        assert len(frames) == 5
        if suffix == ".mkv":
            np.testing.assert_array_equal(frames[-1].to_ndarray(format="rgb24"), picture)
            return
        context = stream.codec_context
        tags = (context.colorspace, context.color_primaries, context.color_trc, context.color_range)
        assert tags == (1, 1, 1, 1), "tagged as BT.709, limited range"
        assert (frames[0].color_primaries, frames[0].color_trc) == (1, 1)
        # The library turns ten bits into eight with an error of three, and eight into sixteen likewise.
    layout, scale = ("rgb48le", 257.0) if suffix == ".mov" else ("rgb24", 1.0)
    shown = frames[-1].to_ndarray(format=layout, src_colorspace="ITU709", dst_color_range="JPEG") / scale
    assert np.abs(shown[32, 16::32] - picture[32, 16::32]).max() <= 2.0


def test_animated_images_keep_colours_and_durations(tmp_path: Path) -> None:
    for cls, suffix in ((WebpVideo, ".webp"), (GifVideo, ".gif")):
        path = tmp_path / f"a{suffix}"
        video = cls(path, (64, 36), RATE, False)
        for shift in range(6):
            video.add(np.roll(bars(), 8 * shift, axis=1))
        video.close()
        delays = []
        with Image.open(path) as picture:
            assert picture.n_frames == 6
            for frame in range(6):
                picture.seek(frame)
                shown = np.asarray(picture.convert("RGB")).astype(int)
                delays.append(picture.info["duration"])
                wanted = np.roll(bars(), 8 * frame, axis=1)
                assert np.abs(shown[18, 4::8] - wanted[18, 4::8]).max() <= 8
        assert sum(delays) / 6 == pytest.approx(33.3, abs=0.5)
        assert suffix != ".gif" or delays == [30, 30, 40, 30, 30, 40]


def test_equal_images_are_an_animation_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tmp_path / "empty.sinew"
    save_project(project, Scene(), ViewState())
    for suffix in (".webp", ".gif"):
        options = ["--turntable", "0", "--size", "16x16", "--output", str(tmp_path / f"a{suffix}")]
        assert main(["render", str(project), *options]) == 0
        assert " frames, 16 × 16, 2.00 s" in capsys.readouterr().out


def test_animated_images_keep_transparency(tmp_path: Path) -> None:
    for cls, suffix in ((WebpVideo, ".webp"), (GifVideo, ".gif")):
        video = cls(tmp_path / f"a{suffix}", (64, 36), RATE, True)
        for shift in range(3):
            there = np.zeros((36, 64, 1), np.uint8)
            there[:, 8 * shift : 8 * shift + 24] = there[:8, 8 * shift : 8 * shift + 32] = 255
            video.add(np.concatenate((bars(), there), axis=2))
        video.close()
        with Image.open(tmp_path / f"a{suffix}") as picture:
            for shift in range(3):
                picture.seek(shift)
                shown = np.asarray(picture.convert("RGBA"))
                assert (shown[..., 3] == 255).sum() == 36 * 24 + 8 * 8
                wanted = bars()[18, 8 * shift + 4 : 8 * shift + 24 : 8].astype(int)
                assert np.abs(shown[18, 8 * shift + 4 : 8 * shift + 24 : 8, :3] - wanted).max() <= 8
    assert "pixels below half opacity are transparent" in video.notes[0]


def test_videos_are_read_back_and_their_error_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("av")
    for suffix in (".mkv", ".mp4", ".webp", ".gif"):
        path = rendered(tmp_path / f"a{suffix}", "--frames", "0:5", "--rate", "30")
        line = capsys.readouterr().out.strip()
        found = re.fullmatch(
            r".*: 6 frames, 96 × 64, 0\.20 s, [\w.]+, ([\d.]+) (?:KiB|bytes), max read-back error ([\d.]+) of 255", line
        )
        assert found is not None, line
        assert line.startswith(str(path))
        unit = 1024 if "KiB" in line else 1
        assert float(found[1]) == pytest.approx(path.stat().st_size / unit, abs=0.06)
        assert (0.0 < float(found[2]) < 30.0) is (suffix != ".mkv")


@pytest.mark.parametrize(
    ("suffix", "fault", "expected"),
    [
        (".mkv", lambda pictures: pictures[:-1], "3 frames read back of 4; no file was written"),
        (".mkv", lambda pictures: [(end, shown ^ 1) for end, shown in pictures], "the read-back differs"),
        (".gif", lambda pictures: [(end, 255 - shown) for end, shown in pictures], "of 255 on average"),
    ],
)
def test_a_video_that_reads_back_differently_is_not_written(suffix, fault, expected, tmp_path, capsys, monkeypatch):
    if suffix == ".mkv":
        pytest.importorskip("av")
    format = VIDEO_FORMATS.of(Path(f"a{suffix}"))
    read = resolved(format.reader)
    module, _, name = format.reader.partition(":")
    monkeypatch.setattr(f"{module}.{name}", lambda path: fault(list(read(path))))
    output = tmp_path / f"a{suffix}"
    output.write_bytes(b"older")
    command = ["render", str(ARM), "--output", str(output), "--frames", "0:3", "--rate", "30", "--size", "96x64"]
    assert main(command) == 1
    assert expected in capsys.readouterr().err
    assert output.read_bytes() == b"older"
    assert os.listdir(tmp_path) == [output.name]


def test_exr_layers_contain_depth_normals_and_object_numbers(tmp_path: Path) -> None:
    exr = pytest.importorskip("OpenEXR")
    output = tmp_path / "a.exr"
    command = ["render", str(CAPE), "--output", str(output), "--frames", "0", "--size", "80x60"]
    assert main(command) == 0
    file = exr.File(str(output), separate_channels=True)
    layers = {name: channel.pixels for name, channel in file.channels().items()}
    assert set(layers) == {*"RGBAZ", "N.X", "N.Y", "N.Z", "id"}
    assert file.header()["objects"] == "1 Humanoid; 2 Cape"
    numbers, depth = layers["id"], layers["Z"]
    assert set(np.unique(numbers)) == {0, 1, 2}
    assert (depth[numbers == 0] > 1e29).all()
    assert ((depth[numbers > 0] > 2.5) & (depth[numbers > 0] < 5.5)).all()
    normals = np.stack([layers[f"N.{axis}"] for axis in "XYZ"], axis=-1).astype(float)
    np.testing.assert_allclose(np.linalg.norm(normals[numbers > 0], axis=-1), 1.0, atol=0.01)
    assert not normals[numbers == 0].any()
    plain = tmp_path / "a.png"
    assert main([*command[:3], str(plain), *command[4:]]) == 0
    light = np.stack([layers[name] for name in "RGB"], axis=-1).astype(float)
    encoded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)
    np.testing.assert_allclose(255.0 * encoded, pixels_of(plain), atol=1.0)


def test_variants_are_rendered_side_by_side_with_labels(tmp_path: Path) -> None:
    variants = ["--frames", "20", "--size", "120x90"]
    alone = [pixels_of(rendered(tmp_path / f"{m}.png", *variants, "--method", m)) for m in ("lbs", "dqs")]
    assert not np.array_equal(*alone)
    both = ["--beside", "method=lbs", "--beside", "Arm.skinning=dqs", *variants]
    halves = pixels_of(rendered(tmp_path / "halves.png", *both, "--label", "", "--label", ""))
    np.testing.assert_array_equal(halves, np.concatenate(alone, axis=1))
    labelled = pixels_of(rendered(tmp_path / "labelled.png", *both))
    differs = np.any(labelled != halves, axis=(0, 2)).nonzero()[0]
    assert (differs < 60).any()
    assert (differs >= 120).any()
    bare = ["--layout", "split", "--label", "", "--label", ""]
    split = pixels_of(rendered(tmp_path / "s.png", *both, *bare))
    np.testing.assert_array_equal(split[:, :59], alone[0][:, :59])
    np.testing.assert_array_equal(split[:, 61:], alone[1][:, 61:])


@pytest.mark.parametrize("suffix", [".png", ".exr"])
def test_resume_renders_missing_images(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if suffix == ".exr":
        pytest.importorskip("OpenEXR")
    name = tmp_path / f"w%d{suffix}"
    rendered(name, "--frames", "0:5")
    whole = [tmp_path / f"w{k}{suffix}" for k in range(6)]
    wanted = [path.read_bytes() for path in whole]
    half = len(wanted[3]) // 2
    for number, length in ((1, 0), (2, 300), (3, half), (4, len(wanted[4]) - 40)):
        whole[number].write_bytes(wanted[number][:length])
    whole[5].unlink()
    if suffix == ".png":
        Image.new("RGB", (9, 9)).save(whole[0])
        wanted[0] = whole[0].read_bytes()
    capsys.readouterr()
    rendered(name, "--frames", "0:5", "--resume")
    reported = capsys.readouterr()
    assert [path.read_bytes() for path in whole] == wanted, "a readable image is left alone"
    assert "5 images" in reported.out
    assert "1 existed already" in reported.out
    again = [f"sinew: {path}: warning: is incomplete and is rendered again" for path in whole[1:5]]
    assert reported.err.splitlines() == again


def test_motion_blur_averages_linear_light_and_a_turntable_turns(tmp_path: Path) -> None:
    one = ["--rate", "10", "--frames", "3"]
    sharp = pixels_of(rendered(tmp_path / "a.png", *one))
    np.testing.assert_array_equal(sharp, pixels_of(rendered(tmp_path / "b.png", *one, "--blur", "1")))
    blurred = pixels_of(rendered(tmp_path / "c.png", *one, "--blur", "2"))
    later = pixels_of(rendered(tmp_path / "d.png", "--rate", "40", "--frames", "13"))

    def light(picture: np.ndarray) -> np.ndarray:
        value = picture / 255.0
        return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)

    np.testing.assert_allclose(light(blurred), (light(sharp) + light(later)) / 2.0, atol=0.006)
    assert turned(Camera(yaw=30.0), None, 0.5).yaw == 30.0
    assert turned(Camera(yaw=30.0), 2.0, 0.25).yaw == 210.0
    rendered(tmp_path / "t%d.png", "--frames", "0:1", "--turntable", "1", "--around", "Arm")
    front, back = (pixels_of(tmp_path / f"t{k}.png").astype(int) for k in (0, 1))
    assert np.abs(front - back).mean() > 1.0


def test_the_burnt_in_cost_is_known_from_the_first_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    shown = render.annotated
    monkeypatch.setattr(render, "annotated", lambda p, lines, **more: reported.extend(lines) or shown(p, lines, **more))
    rendered(tmp_path / "a.png", "--frames", "3", "--burn-in", "Arm.skinning")
    assert re.fullmatch(r"frame 3   0\.100 s   GPU [\d.]+ ms \(.+\)", reported[0]), reported
    assert reported[1:] == ["Arm skinning lbs"]


def test_videos_without_their_package_are_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    for format in VIDEO_FORMATS:
        path = tmp_path / f"a{format.suffixes[0]}"
        if format.module:
            assert main(["render", str(ARM), "--output", str(path)]) == 1
            assert (
                capsys.readouterr().err
                == f"sinew: {path}: {format.name} needs the package av: pip install sinew[video]\n"
            )


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        slow("a.mp4", signal.SIGTERM), ("a%d.png", signal.SIGKILL), slow("a.abc", signal.SIGKILL),
    ],
)  # fmt: skip
def test_a_killed_command(name: str, ending: signal.Signals, tmp_path: Path, repo_root: Path) -> None:
    """Temporary files have another name; the next run removes them and completes the sequence."""
    if module := {".mp4": "av", ".exr": "OpenEXR", ".abc": "alembic3d"}.get(Path(name).suffix):
        pytest.importorskip(module)
    path = tmp_path / name
    is_scene = Path(name).suffix in SCENE_FORMATS.suffixes() and "%d" not in name
    command = ["export" if is_scene else "render", str(ARM), "--output", str(path), "--progress", "--frames", "0:9999"]
    command += [] if is_scene else ["--size", "96x64", "--rate", "30"]
    words, pipe = [sys.executable, "-m", "sinew", *command], subprocess.PIPE
    process = subprocess.Popen(words, cwd=repo_root, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    while not float(process.stdout.readline().split()[1]) > 0.0:
        pass
    process.send_signal(ending)
    said = process.communicate(timeout=60)[1]
    left = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    whole = {one: data for one, data in left.items() if one.startswith("a")}
    assert "Traceback" not in said
    assert bool(whole) is ("%d" in name)
    if ending is signal.SIGTERM:
        assert whole == left
    last = str(len(whole) + 1)
    more = [] if is_scene else ["--resume"]
    command[command.index("--frames") + 1] = f"0:{last}"
    assert main([*command, *more]) == 0
    found = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    assert all(one.startswith("a") for one in found)
    assert whole.items() <= found.items(), "finished images are not rendered again"
    if name == "a%d.png":
        assert main([*command[:3], str(tmp_path / "b%d.png"), *command[5:]]) == 0
        for frame in range(int(last) + 1):
            assert (tmp_path / f"b{frame}.png").read_bytes() == found[f"a{frame}.png"]
