import msgspec
import pytest

from sinew.app.headless.renderer import MANY_SAMPLES, default_samples
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view import Look, ViewSettings

STANDARD = ViewSettings(look=Look.STANDARD)
HAIR = Node(id="hair", settings=HairSettings())
LENS = Node(id="camera", name="Lens", settings=CameraSettings(aperture=2.0))
LIGHT = Node(id="light", settings=LightSettings())


@pytest.mark.parametrize(
    ("scene", "through", "count"),
    [
        (Scene(nodes=(LIGHT, LENS), view=STANDARD), "", 1),
        (Scene(nodes=(LIGHT, LENS), view=STANDARD), "Lens", MANY_SAMPLES),
        (Scene(nodes=(LIGHT, LENS), view=STANDARD), "cuts", MANY_SAMPLES),
        (Scene(nodes=(HAIR,), view=STANDARD), "", MANY_SAMPLES),
        (Scene(nodes=(msgspec.structs.replace(HAIR, visible=False),), view=STANDARD), "", 1),
        (Scene(nodes=(HAIR, LENS), view=ViewSettings(look=Look.CLASSIC)), "Lens", 1),
    ],
)
def test_images_of_hair_and_through_a_lens_take_many_samples(scene: Scene, through: str, count: int) -> None:
    assert default_samples(scene, through) == count
