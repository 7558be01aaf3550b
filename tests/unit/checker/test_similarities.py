"""Each similarity is one class of one file. That its formula is right is tested in plain/test_similarity.py."""

from __future__ import annotations

import ast
from pathlib import Path

from support.similarities import ROWS

from verale.checker import similarities
from verale.checker.similarities import SIMILARITIES

CHECKER = Path(similarities.__file__).parent


def test_no_other_file_names_a_similarity() -> None:
    """But for those that the paradigms `assignment` and `joint` are about, and how each is computed in binary32."""
    naming = {}
    for file in CHECKER.rglob("*.py"):
        constants = [node.value for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Constant)]
        naming[file.relative_to(CHECKER).as_posix()] = {text for text in constants if text in SIMILARITIES}
    assert naming.pop("similarities.py") == set(SIMILARITIES)
    assert naming.pop("reading/deployment.py") <= set(SIMILARITIES), "binary32 is not covered of those that are missing"
    assert {file: names for file, names in naming.items() if names} == {"certificate.py": {"identity", "negated"}}


def test_each_says_of_itself_what_the_specification_says() -> None:
    """certificates/v1.md, "The head file", as the one table of tests has it."""
    assert set(SIMILARITIES) == {row.json["kind"] for row in ROWS}
    for row in ROWS:
        each = SIMILARITIES[row.json["kind"]]
        assert set(each.geometries) == {geometry.kind for geometry in row.geometries}
        assert tuple(each.fields) == tuple(name for name in row.json if name != "kind")
        assert (each.tensor, each.default) == (row.tensor or (None, 0))
        for trait in ("focal", "in_unit", "unimodal", "unchanged", "has_limit"):
            assert getattr(each, trait) == getattr(row, trait), (each.name, trait)
