import numpy as np

from tests.golden.compare import compare, exaggerated

PICTURE = np.random.default_rng(2).integers(0, 200, (200, 320, 3)).astype(np.uint8)


def test_rounding_and_a_few_pixels_of_an_edge_are_acceptable():
    changed = PICTURE.copy()
    assert compare(changed, PICTURE).acceptable
    changed[::4] += 1
    changed[100, :250] += 50
    assert compare(changed, PICTURE).acceptable


def test_another_brightness_or_size_is_not():
    assert not compare(PICTURE + np.uint8(1), PICTURE).acceptable
    assert not compare(PICTURE[:-1], PICTURE).acceptable


def test_a_changed_spot_is_not():
    changed = PICTURE.copy()
    changed[50:70, 50:70] += 20
    difference = compare(changed, PICTURE)
    assert not difference.acceptable
    assert difference.mean < 0.5
    assert str(difference).startswith("0.62 % of the pixels differ")
    spot = exaggerated(changed, PICTURE).any(axis=2)
    assert spot.sum() == 400
    assert spot[50:70, 50:70].all()
