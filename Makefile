# The doors: make run, make test, make check, make bench, make soak. Each sets up what it lacks.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?=

.PHONY: setup run test check check-web vendor bench soak docs clean

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

check-web: node_modules/.stamp   ## types of the page's modules; needs Node.js and npm
	@npm run --silent check

vendor: node_modules/.stamp      ## copy the page's libraries anew, at the versions of package.json
	@$(PYTHON) scripts/vendor.py

node_modules/.stamp: package.json package-lock.json
	@npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

bench: setup                     ## the figures of docs/performance.md, each beside its reference
	@scripts/system-packages.sh bench
	@$(BIN)/python -m benchmarks $(ARGS)

soak: setup                      ## what takes longer than CI may
	@$(BIN)/pytest -q tests/soak $(ARGS)

docs: setup                      ## regenerate the tables and schemas in docs/ from the code
	@$(BIN)/python scripts/generate_docs.py
	@$(BIN)/python scripts/generate_schema.py

clean:
	@rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .coverage*
