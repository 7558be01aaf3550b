"""Each similarity is one class of one file. That its formula is right is tested in test_similarity.py."""

from __future__ import annotations

import ast
from pathlib import Path

from verale.checker import similarities
from verale.checker.similarities import GEOMETRIES, SIMILARITIES

CHECKER = Path(similarities.__file__).parent


def test_no_other_file_names_a_similarity() -> None:
    """But for the one that the paradigm `assignment` is about."""
    naming = {}
    for file in CHECKER.rglob("*.py"):
        constants = [node.value for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Constant)]
        naming[file.relative_to(CHECKER).as_posix()] = {text for text in constants if text in SIMILARITIES}
    assert naming.pop("similarities.py") == set(SIMILARITIES)
    assert {file: names for file, names in naming.items() if names} == {"certificate.py": {"identity"}}


def test_the_table_says_what_the_specification_says() -> None:
    """certificates/v1.md, "The head file"."""
    by_geometry = {g: {name for name, each in SIMILARITIES.items() if g in each.geometries} for g in GEOMETRIES}
    cosines = {"identity", "exponential", "quadratic", "rectified"}
    assert by_geometry == {
        "euclidean": {"log_ratio", "negated", "exp_distance", "exponential", "quadratic"},
        "cosine": cosines,
        "rooted_cosine": cosines,
        "inner_product": {"identity", "quadratic", "rectified"},
        "softmax": {"identity", "threshold"},
    }
    fields = {name: each.fields for name, each in SIMILARITIES.items() if each.fields}
    assert fields == {"log_ratio": ("epsilon",), "exp_distance": ("epsilon",), "threshold": ("threshold",)}
    scaled = dict.fromkeys(("log_ratio", "negated", "exponential"), ("scale", 1))
    tensors = {name: (each.tensor, each.default) for name, each in SIMILARITIES.items() if each.tensor}
    assert tensors == scaled | {"quadratic": ("peak", 0)}
    for trait, names in {
        "focal": {"log_ratio", "identity"},
        "in_unit": {"exp_distance", "exponential"},
        "unimodal": {"quadratic"},
        "unchanged": {"identity"},
    }.items():
        assert {name for name, each in SIMILARITIES.items() if getattr(each, trait)} == names
    assert {name for name, each in SIMILARITIES.items() if not each.has_limit} == {"negated", "quadratic"}
