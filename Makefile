# `make demo` and `make test` make the virtual environment and do everything; what the second needs is added to the first's,
# so that torch, several GB of it, is installed once. A torch that is there stays: README.md says how to get the small one.
# Choose another interpreter with `make test PYTHON=python3.12`, an environment that is there with `make test VENV=PATH`.
PYTHON ?= python3
VENV := .venv

# What Python compiles is kept: otherwise each process of pytest takes eight seconds to rewrite 350 files of tests.
unexport PYTHONDONTWRITEBYTECODE

# One process for each core, and one thread in each: threads of all processes would wait for each other. What a file
# shares, a running Ray say, is mostly built once: neighbours go to the same process.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n logical --maxprocesses 8 --dist worksteal

.PHONY: demo test test-long test-backends test-shaken test-all coverage check types pages lint docs fuzz proved release-check clean

demo: $(VENV)/report
	$(VENV)/bin/verale demo

# Every rule, both kernels, all corpora, every adapter, every page of the documentation but the longest.
test: $(VENV)/test
	$(PYTEST) -m 'not long'

# What is marked `long`: the demo, Ray itself, the injected faults, more seeds, and the longest pages and figures.
test-long: $(VENV)/test
	$(PYTEST) -m long

# mpmath computes in gmpy2's integers where gmpy2 is installed, as it is here; this is what concerns it once more, in
# Python's own.
test-backends: $(VENV)/test
	MPMATH_NOGMPY=1 $(PYTEST) -m 'not long' -k mpmath tests/unit/checker tests/corpus

# The rooms whose tests compare floats, as they come out elsewhere: these libraries are told that the processor is an old
# one, with four threads, and what they give is moved as other libraries may (tests/support/shaking, differently for each
# SEED). numpy is asked which kernels it has for newer ones.
SEED := 1
EXPOSED := $(addprefix tests/contract/test_, bounds_and_rules.py spatial_paradigms.py)
EXPOSED += $(addprefix tests/unit/, bounds head rounding search test_shaking.py)
OTHERS = SHAKE=$(SEED) ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE OPENBLAS_CORETYPE=Nehalem
OTHERS += NPY_DISABLE_CPU_FEATURES="$(shell $(VENV)/bin/python -c $(NEWER))"
OTHERS += OMP_WAIT_POLICY=PASSIVE MKL_NUM_THREADS=4 $(subst NUM_THREADS=1,NUM_THREADS=4,$(PYTEST))
NEWER := 'import numpy; print(*numpy.show_config("dicts")["SIMD Extensions"].get("found", ()))'

test-shaken: $(VENV)/test
	$(OTHERS) -m 'not long' $(EXPOSED)

# The short and the long tests in one run: what is imported and collected takes each process ten seconds.
test-all: $(VENV)/test test-backends test-shaken
	$(PYTEST)

# Both suites once more under coverage, and the lines of the package that only the long one reaches. From Python 3.12 on
# the interpreter itself says which lines run.
coverage: export COVERAGE_CORE := sysmon
coverage: $(VENV)/test
	COVERAGE_FILE=.coverage.short $(PYTEST) -m 'not long' --cov --cov-report=
	COVERAGE_FILE=.coverage.long $(PYTEST) -m long --cov --cov-report=
	$(VENV)/bin/python .ci/only_long.py .coverage.short .coverage.long

# Of these each takes one core: two at once, after what all of them need is installed.
check: $(VENV)/test $(VENV)/docs $(VENV)/fuzz
	$(MAKE) --jobs 2 types pages lint fuzz

types: $(VENV)/test
	$(VENV)/bin/mypy

pages: $(VENV)/docs
	$(VENV)/bin/mkdocs build --strict

lint: $(VENV)/test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports

# The proved checker, from the extracted OCaml that is committed, into build/verale-proved; `verale audit --kernel proved`
# finds it there. Coq is not needed.
proved:
	$(MAKE) --directory proofs/rocq

# Into site/; `.venv/bin/mkdocs serve` shows pages while they are written.
docs: $(VENV)/docs
	$(VENV)/bin/mkdocs build --quiet

# atheris has wheels for Linux on x86-64 only; elsewhere nothing is fuzzed, and it says so.
fuzz: $(VENV)/fuzz
	@if $(VENV)/bin/python -c 'import atheris' 2>/dev/null; then \
		PYTHONPATH=tests $(VENV)/bin/python -m support.fuzz .fuzz -max_total_time=20; \
	else echo 'make fuzz: atheris is not to be had here, so nothing was fuzzed'; fi

# All planted faults, of which `make test-long` tries some (CONTRIBUTING.md, "Turns"); then of the last commit, in clean
# environments of the Pythons that are here; packages are fetched.
release-check: $(VENV)/test
	PYTHONPATH=tests $(VENV)/bin/python -m support.outside
	PYTHONPATH=tests $(VENV)/bin/python -m support.ocaml_faults
	$(VENV)/bin/python .ci/release_check.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade pip

# The stamps are named after an extra, and groups of developers' packages (pip 25.1 or later); tests need every extra.
$(VENV)/report $(VENV)/test $(VENV)/docs $(VENV)/fuzz: $(VENV)/bin/python pyproject.toml
	$(VENV)/bin/python -m pip install --quiet $(INSTALLED_$(@F))
	touch $@

INSTALLED_report := --editable '.[report]'
INSTALLED_test := --editable '.[all]' --group test
INSTALLED_docs := --editable . --group docs
INSTALLED_fuzz := --editable . --group fuzz

# Never $(VENV), which may be somebody's own.
clean:
	rm -rf .venv build site verale-demo .fuzz .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
