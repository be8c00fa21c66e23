# make demo   a small synthesized corpus, trained, tested, and one recording transcribed
# make test   every test
# make lint   ruff and mypy
# make wheel  the source distribution and wheels for other machines, in dist (docs/wheels.md)
#
# Each does its own set-up in .venv, and only what it needs is done again the second time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO ?= demo
TEST_PROCESSES ?= 3
WHEEL_PYTHONS ?= python3.10 python3.11 python3.12 python3.13

native_sources := $(shell find native_client -name '*.cc' -o -name '*.h' -o -name '*.inc' -o -name '*.py')

.PHONY: all demo test lint wheel clean lm-tools

all: $(VENV)/.native

demo: $(VENV)/.demo
	PYTHON=$(BIN)/python bin/run-demo.sh --work $(DEMO)

# Tests start many programs, which would each compile all modules again.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

wheel: $(VENV)/.wheel
	$(BIN)/python bin/release/build_wheels.py $(WHEEL_PYTHONS) --to dist

lm-tools:
	$(MAKE) -C native_client lm-tools

clean:
	rm -rf $(VENV) build demo dist deepspeech/*.so

# An environment that could not be completed, for example without Debian's python3-venv, is made anew the next time.
.DELETE_ON_ERROR:

$(BIN)/python:
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

# The editable install builds the C++ code too; later changes of its sources rebuild just that.
$(VENV)/.installed: $(BIN)/python pyproject.toml
	$(BIN)/pip install --quiet --group build
	PYTHONWARNINGS=ignore $(BIN)/pip install --quiet --no-build-isolation --editable '.[train]'
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

$(VENV)/.wheel: $(BIN)/python pyproject.toml
	$(BIN)/pip install --quiet --group wheel
	touch $@
