# What a person types. Needs make and Python 3.11 to 3.13, no root; everything else comes into .venv by hash.

ENV := .venv
BIN := $(ENV)/bin
PACKAGES := $(ENV)/.packages
STAMP := $(ENV)/.installed
# The first Python that will do; `make env PYTHON=/path/to/python` chooses another.
ifndef PYTHON
PYTHON := $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
endif

.PHONY: help env run test soak fuzz lint format lock bench bench-peers clean

help:
	@echo "make run    the demo: a shop that fails in every way, saywhy before it, and a tour"
	@echo "make test   all tests (what is not installed here is skipped, by name)"
	@echo "make soak   the tests that take minutes: storms, floods, replaced sites (about a quarter of an hour)"
	@echo "make fuzz   coverage-guided fuzzing of the relay for SECONDS=600 (fetches atheris); new finds go to tests/fuzz"
	@echo "make lint   ruff, mypy, the strata"
	@echo "make bench  CPU and requests a second beside the proxies that are installed here (bench-peers fetches some)"
	@echo "make env    the environment in $(ENV), from requirements.lock"
	@echo "make lock   requirements.lock anew from pyproject.toml (needs uv)"

env: $(STAMP)

# Wheels alone, so that nothing is built; sniffpy (of httplint) has none and is built, from a pinned source, by no compiler.
# Each stamp is written last: an installation that broke off is begun again.
$(PACKAGES): requirements.lock
	@test -n "$(PYTHON)" || { echo "saywhy needs Python 3.11, 3.12 or 3.13 with its venv module (on Debian: apt install python3-venv); none was found. Name one with: make env PYTHON=/path/to/python" >&2; exit 2; }
	@echo "Making $(ENV) with $(PYTHON): about half a minute, once."
	@$(PYTHON) -m venv --clear $(ENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --no-binary sniffpy -r requirements.lock
	@touch $@

$(STAMP): $(PACKAGES) pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

run: $(STAMP)
	$(BIN)/saywhy demo

test: $(STAMP)
	$(BIN)/python -m pytest $(ARGS)

# A folder that is named is collected; `norecursedirs` keeps it out of `make test`.
soak: $(STAMP)
	$(BIN)/python -m pytest tests/soak --durations=0 --durations-min=1 $(ARGS)

# Not in the lock: 35 MB that nobody else needs.
SECONDS ?= 600
fuzz: $(STAMP)
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'atheris>=3.0,<4'
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m tests.bench $(ARGS)

# Into an environment of their own, tests/bench/.peers: nothing of theirs is ever beside saywhy.
bench-peers: $(STAMP)
	$(BIN)/python -m tests.bench.install

# No index address is written: the lock serves whatever mirror a machine is set up for.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--no-annotate --group test --group lint --group build pyproject.toml -o requirements.lock

clean:
	rm -rf $(ENV) tests/bench/.peers dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
