# The doors: make run, make test, make check, make bench, make soak. Each sets up what it lacks.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?=

.PHONY: setup run test check bench soak docs clean

setup: $(VENV)/.stamp            ## .venv with hopline and its tools, at the locked versions

$(VENV)/.stamp: pyproject.toml uv.lock
	@scripts/setup.sh "$(PYTHON)" "$(VENV)"
	@touch $@

run: setup                       ## the demonstration, or yours: make run ARGS="-- CMD..."
	@test -t 1 || export NO_COLOR=1; $(BIN)/hopline run $(if $(ARGS),$(ARGS),--name demo -- $(BIN)/python -m hopline.demo)

test: setup                      ## every test; installs what is missing when it may
	@scripts/system-packages.sh
	@scripts/test.sh "$(BIN)"

check: setup                     ## format, lint, types, layers, docs
	@$(BIN)/ruff format --check --quiet . || (echo "run: $(BIN)/ruff format ." && exit 1)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/codespell src tests docs benchmarks scripts *.md
	@$(BIN)/pytest -q tests/meta

bench: setup                     ## the figures of docs/performance.md, each beside its reference
	@scripts/system-packages.sh
	@$(BIN)/python -m benchmarks $(ARGS)

soak: setup                      ## what takes longer than CI may
	@$(BIN)/pytest -q tests/soak $(ARGS)

docs: setup                      ## regenerate the tables in docs/ from the code
	@$(BIN)/python scripts/generate_docs.py

clean:
	@rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .coverage*
