"""This tree beside another commit: what the page says is what both trees gave, and what is lost is an error."""

from __future__ import annotations

import pytest
from support.small import small_head, small_latents

from benchmarks import against
from benchmarks.environment import ROOT
from verale.certificate import Certificate
from verale.errors import UsageError
from verale.head import as_patches
from verale.search.explain import explain

OPTIONS = {"paradigm": "assignment", "order": None, "tolerance": 0.0, "digits": None, "batch": 2, "kernel": None}
PROVED = {"sha256": "a", "reason": "", "explain_seconds": 2.0, "audit_seconds": 1.0}
PROVED |= {"size": 4, "minimal": True, "proved": True}


def small(images: int):
    head = small_head("softmax", 3)
    return head, as_patches(small_latents(head, images, seed=3)).float()


@pytest.mark.long  # two processes, as for a benchmark
def test_both_trees_give_what_explain_gives(tmp_path):
    (tmp_path / "verale").symlink_to(ROOT / "verale", target_is_directory=True)
    head, latents = small(3)
    compared = against.compare("small", head, latents, tmp_path, OPTIONS, repeat=2)
    explained = explain(head, latents, "assignment", batch=2)
    expected = [each.size if isinstance(each, Certificate) else None for each in explained]
    assert any(expected)
    for side in (compared.before, compared.after):
        assert [each.get("size") for each in side] == expected
        assert all(each["proved"] and each["audit_seconds"] > 0 for each in side if "size" in each)
    assert all(old["sha256"] == new["sha256"] for old, new in compared.both)
    assert not compared.lost and min(compared.cold) > 0


@pytest.mark.parametrize(
    ("change", "said"),
    [({"minimal": False}, "needed"), ({"proved": False, "reason": "margin"}, "not proved: margin"), (None, "a tie")],
)
def test_what_is_lost_is_named(change, said):
    worse = {"explain_seconds": 1.0, "reason": "a tie"} if change is None else PROVED | change
    row = against.Compared("small", "simplex", [PROVED, PROVED], [PROVED, worse])
    (lost,) = row.lost
    assert said in lost and "small, simplex, image 1" in lost
    assert not against.Compared("small", "simplex", [worse], [PROVED]).lost
    assert f"- lost: {lost}" in against.page([row], {})


def test_times_are_compared_where_both_trees_explain():
    faster = PROVED | {"explain_seconds": 0.5, "size": 3, "sha256": "b"}
    old = [PROVED, {"explain_seconds": 9.0, "reason": "a tie"}]
    (row,) = against.page([against.Compared("small", "simplex", old, [faster, faster])], {}).splitlines()[-1:]
    named = list(zip(against.COLUMNS, row.strip("| ").split(" | "), strict=True))
    assert named[3:6] == [("explain ms", "2000"), ("here", "500"), ("ratio", "0.250")]
    assert named[9:12] == [("size", "4.0"), ("here", "3.0"), ("ratio", "0.750")]
    assert named[12:17] == [("minimal", "1"), ("here", "2"), ("proved", "1"), ("here", "2"), ("same bytes", "0")]


def test_another_package_is_refused(tmp_path, monkeypatch):
    """What a process says whose Python has found another one."""
    (tmp_path / "verale").mkdir()
    (tmp_path / "says.py").write_text("""print('{"verale": "/elsewhere/verale/__init__.py", "cold_seconds": 0.0}')""")
    monkeypatch.setattr(against.source_tree, "__file__", str(tmp_path / "says.py"))
    with pytest.raises(UsageError, match="python took verale from /elsewhere/verale"):
        against.compare("small", *small(1), tmp_path, OPTIONS)
