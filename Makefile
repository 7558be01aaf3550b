# `make demo` and `make test` each make their own virtual environment and do everything.
# Choose another interpreter with `make test PYTHON=python3.12`.
PYTHON ?= python3
DEMO := .venv-demo
TEST := .venv

.PHONY: demo test check clean

demo: $(DEMO)/installed
	$(DEMO)/bin/verale demo

test: $(TEST)/installed
	$(TEST)/bin/python -m pytest

check: $(TEST)/installed
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy
	$(TEST)/bin/lint-imports

$(DEMO)/installed: pyproject.toml
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --upgrade pip
	$(DEMO)/bin/python -m pip install --quiet --editable '.[explain]'
	touch $@

$(TEST)/installed: pyproject.toml
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/python -m pip install --quiet --upgrade pip
	$(TEST)/bin/python -m pip install --quiet --editable '.[test]'
	touch $@

clean:
	rm -rf $(DEMO) $(TEST) verale-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
