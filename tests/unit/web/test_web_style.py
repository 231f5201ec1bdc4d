"""Colours pass contrast, light and dark, and states can be told apart without seeing colour."""

import re
from itertools import combinations
from pathlib import Path

import pytest

WEB = Path(__file__).parents[3] / "src" / "hopline" / "web"
TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", (WEB / "style" / "tokens.css").read_text()
    )
}
GROUNDS = ("ground", "surface", "raised", "hover")
STATES = ("running", "waiting", "wrong", "done")
MIN_CONTRAST = 4.5


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    """Contrast ratio (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["text", "quiet", *STATES])
def test_words_can_be_read_on_every_ground(name: str, scheme: int) -> None:
    for ground in GROUNDS:
        assert contrast(TOKENS[name][scheme], TOKENS[ground][scheme]) >= MIN_CONTRAST, ground


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_can_be_read_on_tints(scheme: int) -> None:
    for name, tint in (("waiting", "waiting-tint"), ("wrong", "wrong-tint"), ("text", "wrong-tint")):
        assert contrast(TOKENS[name][scheme], TOKENS[tint][scheme]) >= MIN_CONTRAST


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_buttons_can_be_read(scheme: int) -> None:
    for name in ("primary", "danger"):
        assert contrast(TOKENS[name][scheme], "#ffffff") >= MIN_CONTRAST


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_a_focus_can_be_seen(scheme: int) -> None:
    for ground in GROUNDS:
        assert contrast(TOKENS["focus"][scheme], TOKENS[ground][scheme]) >= 3


def without_red_or_green(colour: str) -> tuple[float, float, float]:
    """The colour as somebody without red cones sees it (Viénot, Brettel and Mollon 1999), in linear light."""
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    seen = 0.11238 * red**2.2 + 0.88762 * green**2.2
    return seen, seen, blue**2.2


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_the_state_that_waits_does_not_look_like_the_others_to_a_colour_blind_eye(scheme: int) -> None:
    for one, two in combinations(STATES, 2):
        a, b = (without_red_or_green(TOKENS[name][scheme]) for name in (one, two))
        distance = sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5
        assert distance > 0.02, (one, two)


def test_every_state_has_a_shape_of_its_own() -> None:
    marks = (WEB / "views" / "marks.js").read_text()
    shapes = re.findall(r"^  (\w+): svg`(.*?)`,$", marks.split("const SHAPES")[1].split("};")[0], re.MULTILINE)
    assert {name for name, _ in shapes} == {"waiting", "wrong", "running", "paused", "done", "stopped"}
    assert len({shape for _, shape in shapes}) == len(shapes)


def test_nothing_moves_by_itself() -> None:
    moving = [
        f"{sheet.name}: {found}"
        for sheet in WEB.glob("style/*.css")
        for found in re.findall(r"(?:animation|transition)\s*:[^;]*", sheet.read_text())
        if "none" not in found
    ]
    assert moving == []
