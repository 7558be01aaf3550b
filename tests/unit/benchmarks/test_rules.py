"""The benchmark of rules: its page has the numbers of the rules, and its exit code says whether all is proved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support.prototypedl import random_digits, save_whole, small, write_idx

from benchmarks import rules
from verale.runs import rules as runs

COUNT = 24


def test_the_page_has_rules_of_both_paradigms_and_what_is_not_proved_is_a_failure(tmp_path: Path, monkeypatch):
    """Of a small network and images, under the names of those that are published."""
    save_whole(small(), tmp_path / "standard_model.pth")
    labels = [index % 3 for index in range(COUNT)]
    write_idx(tmp_path, "t10k-images-idx3", "t10k-labels-idx1", random_digits(COUNT), labels)
    arguments = ["--data", str(tmp_path), "--out", str(tmp_path / "rules.md"), "--count", "2", "--explained", "3"]
    fitted, widened, fit, widen = [], [], runs.fit_rules, rules.inflated
    monkeypatch.setattr(rules, "fit_rules", lambda *given: fitted.append(fit(*given)) or fitted[-1])
    monkeypatch.setattr(rules, "inflated", lambda *given: widened.append(widen(*given)) or widened[-1])
    assert rules.main(arguments) == 0
    text = (tmp_path / "rules.md").read_text(encoding="utf-8")
    for paradigm in ("joint", "top_k"):
        (row,) = (line for line in text.splitlines() if line.startswith(f"| {paradigm} | ") and " of " in line)
        assert [cell.strip().split(" of ")[1] for cell in row.split("|")[3:5]] == ["12", "12"]
    assert "| any image | **2** | 12 | 12 |" in text  # the small network has one class for all images
    assert "activation at most " in text
    monkeypatch.setattr(rules, "fit_rules", lambda *given: replace(fitted.pop(0), exit_code=3))
    monkeypatch.setattr(rules, "inflated", lambda *given: widened.pop(0))
    assert rules.main([*arguments, "--explained", "1"]) == 1
