"""How many particles drafts draw: within the budget, shared fairly, and as many as the machine manages."""

import pytest

from sinew.sim.render.progressive.frame_plan import (
    AIM,
    LARGEST_SCALE,
    LEAST,
    MOST,
    DraftBudget,
    draft_strides,
    lod_scale,
)


def drawn(counts: list[int], budget: int) -> list[int]:
    return [-(-count // stride) for count, stride in zip(counts, draft_strides(counts, budget), strict=True)]


@pytest.mark.parametrize("slots", [0, 1, MOST, MOST + 1, 1_000_000, 1 << 24])
def test_a_draft_draws_no_more_than_it_may_and_no_fewer_than_it_must(slots: int) -> None:
    (found,) = drawn([slots], MOST)
    assert found <= MOST
    assert found == slots or found >= MOST // 2
    assert draft_strides([slots], MOST)[0].bit_count() == 1


@pytest.mark.parametrize("counts", [[1_000_000, 100], [100, 1_000_000], [60_000] * 5, [10, 3_000, 70_000, 900_000]])
def test_emitters_share_and_small_ones_lose_nothing(counts: list[int]) -> None:
    found = drawn(counts, 20_000)
    assert sum(found) <= 20_000
    share = 20_000 // len(counts)
    assert all(some == count or some >= share // 2 for some, count in zip(found, counts, strict=True))
    assert all(some == count for some, count in zip(found, counts, strict=True) if count <= share)


def test_more_emitters_than_particles_keep_one_each() -> None:
    assert drawn([7, 1_000, 5], 2) == [1, 1, 1]


def test_slow_drafts_draw_fewer_and_quick_ones_more() -> None:
    budget = DraftBudget(is_software=True)
    assert budget.elements == LEAST
    for _ in range(20):
        budget.note(0.1 * AIM, MOST)
    assert budget.elements == MOST
    for _ in range(2):
        budget.note(2.0 * AIM, MOST)
    assert budget.elements == MOST // 2
    for _ in range(20):
        budget.note(2.0 * AIM, MOST)
    assert budget.elements == LEAST


def test_one_draft_by_itself_and_a_small_one_say_nothing() -> None:
    budget = DraftBudget(is_software=True)
    for _ in range(3):
        budget.note(9.0 * AIM, LEAST)
        budget.note(AIM, LEAST)
        budget.note(0.1 * AIM, LEAST)
        budget.note(AIM, LEAST)
    for _ in range(9):
        budget.note(0.01 * AIM, 100)
    assert budget.elements == LEAST


def test_the_time_that_is_aimed_at_changes_nothing() -> None:
    budget = DraftBudget(is_software=True)
    for share in (0.7, 1.0, 1.4, 1.0, 0.7):
        budget.note(share * AIM, LEAST)
    assert budget.elements == LEAST


def test_a_graphics_card_begins_with_all_that_drafts_have() -> None:
    assert DraftBudget(is_software=False).elements == MOST


@pytest.mark.parametrize("stride", [1, 2, 8, 16, 1 << 12])
def test_one_particle_stands_for_all_that_are_left_out(stride: int) -> None:
    scale, number = lod_scale(stride)
    assert scale * scale * number == pytest.approx(stride)
    assert 1.0 <= scale <= LARGEST_SCALE
    assert number >= 1.0 - 1e-12
