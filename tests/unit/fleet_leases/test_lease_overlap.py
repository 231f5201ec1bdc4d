"""Which values overlap, and that the index finds exactly those."""

import random

import pytest

from hopline.fleet.leases.overlap import OverlapIndex, fixed_part, overlap


@pytest.mark.parametrize(
    ("value", "fixed"),
    [
        ("src/**", "src"),
        ("./src//a/./b.py", "src/a/b.py"),
        ("src/*.rs", "src"),
        ("src/a?.rs", "src/a"),
        ("src/{a,b}", "src"),
        ("src/[ab]", "src"),
        ("src/", "src"),
        ("/abs//x/", "/abs/x"),
        ("//x", "/x"),
        ("/", ""),
        ("**", ""),
        (".", ""),
        ("./", ""),
        ("src/../etc", ""),
        ("..", ""),
        ("src/..a", "src/..a"),
        ("src/.*", "src/."),
        (".git/x", ".git/x"),
        (".//a", "a"),
    ],
)
def test_what_is_compared_is_the_fixed_part(value, fixed):
    assert fixed_part(value) == fixed


@pytest.mark.parametrize(
    ("one", "other", "overlaps"),
    [
        ("src/app", "src/application.rs", True),
        ("src/*.rs", "src/a.rs", True),
        ("src/auth/**", "src/auth", True),
        ("src/auth/**", "src/author.py", True),
        ("src/auth/", "docs", False),
        ("src/a", "src/b", False),
        ("../x", "anything", True),
        ("**", "anything", True),
    ],
)
def test_paths_overlap_when_one_fixed_part_begins_the_other(one, other, overlaps):
    """PL-LEASE-OVERLAP."""
    assert overlap("path_glob", one, other) is overlaps
    assert overlap("path_glob", other, one) is overlaps


def test_the_index_finds_what_comparing_with_every_one_finds():
    dice = random.Random(4)
    parts = ["a", "b", "ab", "*", "..", ".", "a*"]
    index, held = OverlapIndex(), {}
    for step in range(3000):
        kind = dice.choice(["path_glob", "path_glob", "branch"])
        value = "/".join(dice.choices(parts, weights=[9, 9, 9, 1, 0.2, 1, 1], k=dice.randint(1, 4)))
        if held and dice.random() < 0.45:
            name = dice.choice(list(held))
            index.discard(name, *held.pop(name))
        else:
            held[f"n{step}"] = (kind, value)
            index.add(f"n{step}", kind, value)
        found = list(index.overlapping(kind, value))
        assert sorted(found) == sorted(
            name for name, (other_kind, other) in held.items() if other_kind == kind and overlap(kind, value, other)
        )
    for name in list(held):
        index.discard(name, *held.pop(name))
    assert list(index.overlapping("path_glob", "**")) == []
