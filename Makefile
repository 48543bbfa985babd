# Needs Python 3.11 or later and make; everything else goes into .venv.

PYTHON      ?= python3
# On two cores: many tests wait for processes that they start.
JOBS        ?= 3
PIP_OPTIONS ?=
# A worker that is done takes over tests of another.
SPREAD      := -n $(JOBS) --dist worksteal

VENV    := .venv
BIN     := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check $(PIP_OPTIONS) -c constraints.txt
CODE    := $(wildcard src tests benchmarks examples docs/conf.py)

# The networks are small: one thread per process is the fastest.
export OMP_NUM_THREADS := 1
# The tests start a hundred processes, which would compile the sources again and again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup bench-setup demo verdicts docs wheel test-wheel test test-numeric test-quick fuzz test-network lint types format clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup: $(VENV)/.installed ## create .venv and install the pinned versions (once)

bench-setup: $(VENV)/.installed-bench ## install the selectors the benchmarks compare with

demo: setup ## run examples/demo.py
	$(BIN)/python examples/demo.py

verdicts: $(VENV)/.installed ## results/report and docs/paper.md from the records
	$(BIN)/sievebench report results --out results/report
	sed -i -e '/^<!-- verdicts/,/^<!-- end/{//!d}' \
	  -e '/^<!-- verdicts/r results/report/tables/verdicts.md' docs/paper.md

docs: $(VENV)/.installed-docs ## build the pages into docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

test: setup lint types ## everything .ci/run checks: lint, types, tests, doctests, README
	$(BIN)/python -m pytest $(SPREAD) -m "not network"
	$(BIN)/python tests/instruction_sets.py

test-numeric: setup ## the numeric tests under each instruction set of the processor
	$(BIN)/python tests/instruction_sets.py

test-quick: setup ## only the tests, without those marked slow
	$(BIN)/python -m pytest $(SPREAD) -m "not network and not slow"

fuzz: setup ## random tables and files for longer: ten minutes
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n $(JOBS) -m "not network" -k "propert or fuzz or any_table or hostile" tests

test-network: setup ## only the tests that download something
	$(BIN)/python -m pytest -m network

lint: setup ## ruff: rules and formatting
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

types: setup ## mypy --strict on src
	$(BIN)/mypy

format: setup ## let ruff fix and format the code
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

clean: ## remove caches and build output, keep .venv
	rm -rf build dist docs/_build docs/auto_examples docs/generated .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests $(wildcard benchmarks examples) -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "featuresieve needs Python 3.11 or later, and '$(PYTHON)' is not that." >&2; \
	  echo "Name another interpreter: make setup PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e ".[dev,plot,lab]"
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed
	$(INSTALL) -e ".[dev,plot,lab,bench]"
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(INSTALL) -e ".[dev,plot,lab,docs]"
	@touch $@

# A wheel in an environment with nothing but its dependencies, as a user has it.
WHEEL_VENV := .venv-wheel

wheel: setup ## build the wheel and the source archive into dist/
	rm -rf build dist
	$(BIN)/python -m build --outdir dist .

test-wheel: wheel ## install the wheel in a fresh environment; run the README's example and the command
	rm -rf $(WHEEL_VENV)
	$(PYTHON) -m venv $(WHEEL_VENV)
	$(PYTHON) tests/installed_wheel.py $(WHEEL_VENV)/bin/python constraints.txt $(PIP_OPTIONS)
	rm -rf $(WHEEL_VENV)

# Lower bounds are only true if they are tried: the oldest Python, the oldest libraries.
LOWEST_PYTHON ?= python3.11
LOWEST        := .venv-lowest

.PHONY: test-lowest
test-lowest: $(LOWEST)/.installed ## the quick tests with the lowest versions that pyproject.toml allows
	$(LOWEST)/bin/python -m pytest -n $(JOBS) -m "not network and not slow" tests

$(LOWEST)/bin/python:
	$(LOWEST_PYTHON) -m venv $(LOWEST)

$(LOWEST)/.installed: pyproject.toml constraints.txt tests/lowest_versions.py | $(LOWEST)/bin/python
	$(LOWEST)/bin/python tests/lowest_versions.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --disable-pip-version-check $(PIP_OPTIONS) -c $(LOWEST)/constraints.txt -e ".[dev,cli,completion,excel,onnx,plot,lab,cluster]"
	@touch $@

# An environment of its own: mlflow wants an older pyarrow than the other tests have.
ECOSYSTEM := .venv-ecosystem
.PHONY: test-ecosystem

test-ecosystem: $(ECOSYSTEM)/.installed ## one small use of each package we work beside
	$(ECOSYSTEM)/bin/python -m pytest -n $(JOBS) tests/ecosystem tests/storage/test_onnx_model.py

$(ECOSYSTEM)/.installed: pyproject.toml constraints-ecosystem.txt
	$(PYTHON) -m venv $(ECOSYSTEM)
	$(ECOSYSTEM)/bin/python -m pip install --disable-pip-version-check $(PIP_OPTIONS) \
	  -c constraints-ecosystem.txt -e ".[ecosystem,cli,onnx,plot]" \
	  hypothesis pytest pytest-xdist
	@touch $@
