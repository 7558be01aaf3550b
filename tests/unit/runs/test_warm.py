"""What is compiled beforehand is one head of each kind, and then noted."""

from __future__ import annotations

from verale.runs import warm as warming


def test_each_kind_of_head_is_explained_and_then_it_is_noted(monkeypatch):
    explained, noted = [], []
    monkeypatch.setattr(warming, "explain", lambda head, *_, **__: explained.append(head))
    monkeypatch.setattr(warming, "note_warm", lambda: noted.append(len(explained)))
    names = [name for name, _ in warming.warm()]
    assert len(set(names)) == 4 and noted == [len(explained)]
    assert len({id(head) for head in explained}) == 4
