# make demo   a small synthesized corpus, trained, tested, and one recording transcribed
# make test   every test
# make lint   ruff and mypy
#
# Each does its own set-up in .venv, and only what it needs is done again the second time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO ?= demo

native_sources := $(wildcard native_client/*.cc native_client/*.h native_client/*.py native_client/acoustic/* native_client/training/*)

.PHONY: all demo test lint clean lm-tools

all: $(VENV)/.native

demo: $(VENV)/.demo
	PYTHON=$(BIN)/python bin/run-demo.sh --work $(DEMO)

test: $(VENV)/.test
	$(BIN)/python -m pytest

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lm-tools:
	$(MAKE) -C native_client lm-tools

clean:
	rm -rf $(VENV) build demo deepspeech/*.so

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

# The editable install builds the native decoder too; later changes of its sources rebuild just that.
$(VENV)/.installed: $(BIN)/python pyproject.toml
	$(BIN)/pip install --quiet --group build
	$(BIN)/pip install --quiet --no-build-isolation --editable .
	touch $@

$(VENV)/.native: $(VENV)/.installed setup.py $(native_sources)
	$(BIN)/python setup.py --quiet build_ext --inplace
	touch $@

$(VENV)/.demo: $(VENV)/.native
	$(BIN)/pip install --quiet --group demo
	touch $@

$(VENV)/.test: $(VENV)/.native
	$(BIN)/pip install --quiet --group test --group lint
	touch $@
