"""What is compiled beforehand is one head of each kind, and then noted."""

from __future__ import annotations

from verale.runs import warm as warming


def test_each_kind_of_head_is_explained_and_then_it_is_noted(monkeypatch):
    explained, noted = [], []
    monkeypatch.setattr(warming, "explain", lambda head, patches: explained.append(head))
    monkeypatch.setattr(warming, "note_warm", lambda: noted.append(len(explained)))
    names = [name for name, _ in warming.warm()]
    assert len(set(names)) == len(explained) == 4 and noted == [4]
