# Evoca. Two commands on a fresh machine: `make run` shows it at work, `make test` tests it.
# Everything goes into .venv (and node_modules); only the stamps below download anything.

.DEFAULT_GOAL := help
.SILENT:
.PHONY: help run install test check prove bench format docs lock clean

BIN := .venv/bin
RUNTIME := .venv/.stamp-runtime
DEVELOPMENT := .venv/.stamp-development
LOCKS := pyproject.toml requirements/build.txt requirements/runtime.txt scripts/install
# The tools of the checks by name: the venv's first, then those that npm installed.
export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/node_modules/.bin:$(PATH)
export PYTHON

help:
	echo 'make run      import the example memory and tell what came back; prints the configuration of your client'
	echo 'make install  install everything, the tools of the checks and tests too'
	echo 'make test     the tests (PYTEST="-k name" narrows them)'
	echo 'make check    format, lint, types, layers, sizes, documents'
	echo 'make prove    the long runs of the tests: more examples, more kills, more rounds'
	echo 'make bench    Evoca and the official server side by side'
	echo 'make format   put the code into its format'
	echo 'make docs     write the parts of the documents that are made from the code'
	echo 'make lock     write the lock files anew (needs uv and npm)'
	echo 'make clean    remove .venv, node_modules and caches'

$(RUNTIME): $(LOCKS)
	scripts/install runtime
	touch $@

$(DEVELOPMENT): $(LOCKS) requirements/dev.txt requirements/node.txt package-lock.json
	scripts/install development
	touch $(RUNTIME) $@

run: $(RUNTIME)
	$(BIN)/python examples/tour.py

install: $(DEVELOPMENT)

test: $(DEVELOPMENT)
	$(BIN)/python -m pytest $(PYTEST)

check: $(DEVELOPMENT)
	scripts/check

prove: $(DEVELOPMENT)
	EVOCA_PROVE=1 $(BIN)/python -m pytest --timeout=1800 $(PYTEST)

bench: $(DEVELOPMENT)
	$(BIN)/python -m bench.server

format: $(DEVELOPMENT)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix-only

docs: $(DEVELOPMENT)
	$(BIN)/python -m scripts.docs

lock:
	scripts/lock
	npm install --package-lock-only

clean:
	rm -rf .venv node_modules .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist
