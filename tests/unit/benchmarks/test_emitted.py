"""The run over random heads: it resumes, refuses to mix sources, and counts what is not proved."""

from __future__ import annotations

import pytest

from benchmarks.emitted import case, state
from benchmarks.emitted.table import emitted_of, table
from verale.soundness.combinations import combinations


def without_time(record):
    return {name: value for name, value in record.items() if name != "seconds"}


@pytest.fixture(scope="module")
def record():
    return case.run_case((0, 2))


def test_a_case_is_the_same_again(record):
    assert without_time(case.run_case((0, 2))) == without_time(record)
    assert record["combination"] == str(combinations()[0]) and emitted_of(record) > 0


@pytest.mark.parametrize(
    ("number", "minimal"), [(295, 0), *(pytest.param(each, 3, marks=pytest.mark.long) for each in (35, 40, 62))]
)
def test_minimality_is_claimed_only_where_the_checker_proves_it(number, minimal):
    """Prototypes 1e-5 apart: the search leaves out directions that the checker uses, and roots magnify rounding."""
    record = case.run_case((number, 3))
    assert record["unproved"] == ()
    claims = {name: (emitted, minimal) for name, (emitted, minimal, _) in record["searches"].items()}
    assert claims["projection rival"] == (3, minimal) and claims["top_k rival"] == (3, 3)


def test_an_exception_is_a_finding_not_the_end(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(case, "explain", broken)
    record = case.run_case((0, 2))
    assert record["unproved"] and all(line.endswith("ZeroDivisionError: broken") for line in record["unproved"])


def test_what_the_checker_does_not_prove_is_counted(monkeypatch, record):
    class Doubling(case.Certificate):
        def to_bytes(self):
            return super().to_bytes().replace(b'"predicted"', b'"Predicted"')

    def explain(*arguments, **options):
        from verale.search.explain import explain

        return [
            Doubling(**vars(one)) if isinstance(one, case.Certificate) else one
            for one in explain(*arguments, **options)
        ]

    monkeypatch.setattr(case, "explain", explain)
    changed = case.run_case((0, 2))
    assert len(changed["unproved"]) == emitted_of(changed) == emitted_of(record)
    text = table([changed], state.depends_on(2), {})
    assert f"**{len(changed['unproved'])} unproved of {emitted_of(record)} emitted.**" in text
    assert "malformed" in text


def test_a_state_resumes_where_it_stopped(tmp_path, record):
    path, header = tmp_path / "x.jsonl", state.depends_on(2)
    with state.opened(path, header) as (found, file):
        assert found == []
        state.append(file, record)
        file.write(b'{"case": 1, "interrup')
    with state.opened(path, header) as (found, file):
        assert [each["case"] for each in found] == [0]
        state.append(file, record | {"case": 1})
    with state.opened(path, header) as (found, _):
        assert [each["case"] for each in found] == [0, 1]
        assert table(found, header, {}).startswith("# Emitted")


def test_a_state_of_other_sources_is_refused(tmp_path):
    path, header = tmp_path / "x.jsonl", state.depends_on(2)
    with state.opened(path, header):
        pass
    before = path.read_bytes()
    for name in ("search", "checker", "cases", "images", "torch"):
        with pytest.raises(state.StateError, match=f"of another {name}"), state.opened(path, header | {name: "other"}):
            pass
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ['{"case": 0}\n{"case": 2}\n', "not JSON\n", "[]\n", "3\n", "no line"])
def test_a_file_that_is_no_state_is_refused_and_kept(tmp_path, text):
    path, header = tmp_path / "x.jsonl", {"a": 1}
    path.write_text('{"a": 1}\n' + text if "case" in text else text)
    before = path.read_bytes()
    with pytest.raises(state.StateError), state.opened(path, header):
        pass
    assert path.read_bytes() == before
