"""The table of paradigms that search, command line and demo share says what the checker's own says."""

from __future__ import annotations

from verale.checker import certificate as checked
from verale.paradigms import PARADIGMS, paradigms_of


def test_the_names_and_geometries_are_the_checkers() -> None:
    assert {name: set(each.geometries) for name, each in PARADIGMS.items()} == {
        name: set(geometries) for name, geometries in checked.PARADIGMS.items()
    }
    assert all(name == each.name for name, each in PARADIGMS.items())


def test_statements_are_about_patches_where_the_checker_wants_them_to_be() -> None:
    for name, each in PARADIGMS.items():
        forms = checked._FORMS.get(name, (checked.PatchStatement,))
        assert each.spatial == (forms == (checked.PatchStatement,)), name


def test_a_geometry_has_the_paradigms_that_are_defined_for_it() -> None:
    for geometry in checked.PARADIGMS["top_k"]:
        expected = {name for name, geometries in checked.PARADIGMS.items() if geometry in geometries}
        assert set(paradigms_of(geometry)) == expected
        assert set(paradigms_of(geometry, patches=2)) == {name for name in expected if not PARADIGMS[name].one_patch}
    assert paradigms_of("unknown") == ()
