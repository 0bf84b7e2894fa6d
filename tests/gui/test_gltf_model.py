"""A glTF model in the editor: its clips run on the timeline, and targets and textures reach the picture."""

import numpy as np

from sinew.sim.assets.model import EmbeddedImage
from tests.gltf_samples import morphing, skinned
from tests.gui.editor_harness import picture


def test_a_clip_of_curves_runs_on_the_timeline(session, tmp_path):
    editor = session.open(skinned().write(tmp_path))
    scene = editor.timeline.ruler.clip
    assert (scene.frame_count, scene.duration) == (31, 1.0)
    assert scene.frame_step == editor.active.frame_step == 1.0 / 30.0
    assert scene.key_times == (0.0, 0.5, 1.0)
    start = picture(editor)
    editor.binding.step(1)
    assert editor.playback.playhead.time == 1.0 / 30.0
    editor.binding.step_key(1)
    assert editor.playback.playhead.time == 0.5
    assert np.abs(picture(editor).astype(int) - start).max() > 30
    editor.binding.step_key(1)
    assert editor.playback.playhead.time == 1.0


def test_targets_and_embedded_images_are_seen(session, tmp_path):
    editor = session.open(morphing().write(tmp_path))
    (material,) = editor.store.status("model-1").model.materials
    assert isinstance(material.embedded, EmbeddedImage)
    start = picture(editor)
    editor.binding.jump("last")
    assert np.abs(picture(editor).astype(int) - start).max() > 30
    # Reddish and greenish pixels are those of the image; nothing else in the scene is so colourful.
    channels = start[..., :3].astype(int)
    assert (channels[..., 0] - channels[..., 2] > 100).any()
