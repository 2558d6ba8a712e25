# The targets for users; `make` lists them.

SHELL := /bin/bash
CONFIG ?= config/config.yaml
CORES ?= all
PORT ?= 8080
SECONDS ?= 60
ROUNDS ?= 20
SEED ?= 1
PYTHON ?= python3
VENV ?= .venv
TEST_PROCESSES ?= 3
TESTS ?= tests

# An activated conda environment (other than base) replaces the virtual environment.
ifneq ($(filter-out base,$(CONDA_DEFAULT_ENV)),)
  VENV := $(CONDA_PREFIX)
endif
PIP_INSTALL := $(VENV)/bin/python -m pip install --quiet --require-hashes -r
STAMP := $(VENV)/.kneepoint-requirements
INCOMPLETE := $(VENV).incomplete
LOCK := $(VENV).lock
COMMAND := $(VENV)/bin/kneepoint
SITE_STAMP := $(VENV)/.kneepoint-site-requirements
export PATH := $(abspath $(VENV))/bin:$(PATH)
export PYTHONUTF8 := 1
# Recipes read these from the environment, where the shell interprets no character of the values.
export CONFIG CORES PORT NAME
# Without cached bytecode, every short program would recompile its imports.
unexport PYTHONDONTWRITEBYTECODE

FORMATTED_CXX = $(shell find controllers kneepoint/entries/kit tests -name '*.cc' -o -name '*.hh' -o -name '*.h')
CLANG_FORMAT = clang-format --style=file:controllers/.clang-format
SMK = Snakefile kneepoint/workflow/*.smk

.DEFAULT_GOAL := help
.PHONY: help setup compiler build reproduce confirm test test-slow test-long test-without attacks sanitize test-sanitized fuzz-sanitized fuzz fuzz-controllers fuzz-configuration lint format bench bench-grid dashboard site mahimahi mahimahi-remove kernel-rig browser-tools lock clean dashboard-file soak cluster-tools musl-tools cross wasm judge

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

# Of two simultaneous calls, the second finds the environment that the first has made.
setup: ## Python packages at their locked versions, in .venv or an activated conda environment
	@flock $(LOCK) $(MAKE) --silent $(STAMP) $(COMMAND)

# A controller that fails to compile does not prevent other targets.
build: setup compiler ## the emulator, the controllers and everything else in C++
	@controllers/build.sh $(CMAKE_OPTIONS) -- all

reproduce: setup compiler ## everything: searches, repeats, audit, results/report.html and .pdf
	$(check)
	@python -m kneepoint report --cores "$$CORES" --config "$$CONFIG"
	@echo 'For new runs in real mahimahi, which take hours: make confirm'

confirm: setup compiler ## everything, including real-time runs in real mahimahi (hours)
	$(check)
	@python -m kneepoint.engines.mahimahi.diagnosis
	@python -m snakemake confirm --cores "$$CORES" --configfile "$$CONFIG"

test: build ## the tests
	@build/controller_tests
	@python -m pytest -n $(TEST_PROCESSES) -m 'not slow and not long'

test-slow: build ## TESTS=tests: whole workflows, pages followed in a clone, browsers, long searches, other compilers
	@python -m pytest -n $(TEST_PROCESSES) -m 'slow and not long' $(TESTS)

attacks: build ## every attack of a hostile entry or build, those that take minutes included
	@python -m pytest -n $(TEST_PROCESSES) -m attacks

test-long: build ## the tests that take minutes each
	@python -m pytest -n $(TEST_PROCESSES) -m long

test-without: build ## what is left without one question or tool: NAME=sweeps
	@python -m tests.removable "$$NAME"

soak: setup ## a study and a race killed ROUNDS=20 times, on every kind of Ray: the same bytes
	@python -m tests.soak.study --rounds $(ROUNDS) --seed $(SEED)

# Without precompiled headers, to detect missing includes.
sanitize: setup compiler ## the C++ tests and short fuzzing, under the address and undefined-behaviour sanitizers
	@$(BUILD_SANITIZED)
	@$(MAKE) --no-print-directory --output-sync -j2 test-sanitized fuzz-sanitized

test-sanitized:
	@build/sanitize/controller_tests

fuzz-sanitized:
	@$(call FUZZ_CONTROLLERS,-runs=20000 -seed=1)

# A failing input stays in build/fuzz. Add further fuzz targets as prerequisites.
fuzz: fuzz-controllers fuzz-configuration ## every fuzz target in turn, for SECONDS=60 each

fuzz-controllers: setup compiler
	@$(BUILD_SANITIZED)
	@$(call FUZZ_CONTROLLERS,-max_total_time=$(SECONDS) -seed=$$RANDOM)

fuzz-configuration: setup
	@python -m tests.fuzz.configuration --seconds $(SECONDS)

define BUILD_SANITIZED
cmake -S controllers -B build/sanitize -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DKNEEPOINT_SANITIZE=ON -DKNEEPOINT_PRECOMPILE=OFF >/dev/null && \
cmake --build build/sanitize --target controller_tests fuzz_targets
endef

# libFuzzer adds new inputs to the first folder.
define FUZZ_CONTROLLERS
for source in controllers/tests/fuzz/fuzz_*.cc; do \
  target=$$(basename $$source .cc); corpus=build/fuzz/$${target#fuzz_}; \
  mkdir -p $$corpus && \
  build/sanitize/$$target -artifact_prefix=build/fuzz/ $(1) $$corpus controllers/tests/fuzz/seeds/$${target#fuzz_} || exit 1; \
done
endef

lint: setup ## checks formatting and runs linters, without changes
	ruff check .
	ruff format --check .
	mypy
	lint-imports --no-logo
	snakefmt --check $(SMK)
	@$(CLANG_FORMAT) --dry-run --Werror $(FORMATTED_CXX)
	python -m snakemake --lint

format: setup ## formats Python, Snakemake and C++
	ruff check --fix .
	ruff format .
	snakefmt $(SMK)
	$(CLANG_FORMAT) -i $(FORMATTED_CXX)

bench: setup compiler ## the emulator's CPU time, memory and instructions for one flow, three and a hundred, and an entry's switches
	@python -m snakemake --cores "$$CORES" --quiet all -- .kneepoint/networks/contest/network.json
	@python -m tests.benchmarks.emulator

bench-grid: build ## the memory of a workflow with 100,000 grid runs, all processes together
	@python -m tests.benchmarks.grid_memory

dashboard: setup ## Optuna's dashboard over all studies, on this machine only
	@python -m kneepoint.search.dashboard --config "$$CONFIG" --port "$$PORT"

# Warnings are errors, such as broken links and anchors.
site: build $(SITE_STAMP) ## the documentation as a site: build/site/index.html
	@python -m docs.site --into build/site-pages
	@python -m sphinx --builder html --fail-on-warning --keep-going --nitpicky --quiet \
	  --conf-dir docs --doctree-dir build/site-doctrees build/site-pages build/site

dashboard-file: setup ## all studies as one SQLite file, for Optuna's dashboard in a browser
	@python -m kneepoint.search.storage_copy --config "$$CONFIG"

# The system's Python suffices: this needs no .venv and writes nothing here as root.
mahimahi: ## installs and verifies real mahimahi: sudo make mahimahi
	$(need_python)
	@$(PYTHON) -uB -m kneepoint.engines.mahimahi.install

kernel-rig: ## installs the programs for the kernel's own TCP: sudo make kernel-rig
	$(need_python)
	@$(PYTHON) -uB -m kneepoint.engines.kernel.install

mahimahi-remove: ## undoes the changes of `make mahimahi` and `make kernel-rig`
	$(need_python)
	@$(PYTHON) -uB -m kneepoint.engines.mahimahi.install --remove

browser-tools: setup ## what tests in a browser need: chromium (as root, on Debian), axe-core
	@command -v chromium chromium-browser >/dev/null || { apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium; }
	@$(VENV)/bin/python -m pip install --quiet --no-deps --require-hashes -r tests/browser/requirements.txt

cluster-tools: setup ## what tests of PostgreSQL and Slurm need: servers (as root, on Debian), psycopg, a plugin
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && PATH=$$PATH:/usr/sbin command -v slurmd >/dev/null || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	  apt-get install -qq --no-install-recommends postgresql slurm-wlm munge; }
	@$(VENV)/bin/python -m pip install --quiet --no-deps --require-hashes \
	  -r tests/storage/requirements.txt -r tests/slurm/requirements.txt

musl-tools: setup ## what a build against another C library, musl, needs (as root, on Debian): its loader, zig
	@ls /lib/ld-musl-x86_64.so.1 >/dev/null 2>&1 || { apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends musl; }
	@$(VENV)/bin/python -m pip install --quiet --no-deps --require-hashes -r tests/controllers/requirements.txt

cross: build ## builds for glibc 2.28, on x86-64 and arm64, and the emulator for macOS, with zig
	@$(VENV)/bin/python -m pip install --quiet --no-deps --require-hashes -r tests/controllers/requirements.txt
	@python -m pytest -m long tests/controllers/test_cross.py

wasm: setup ## what `kneepoint playground` needs: the emulator as a WebAssembly module, by zig, and uPlot
	@$(VENV)/bin/python -m pip install --quiet --no-deps --require-hashes -r tests/controllers/requirements.txt
	@KNEEPOINT_TARGET=wasm32-wasi controllers/build.sh -- module
	@python -m kneepoint.tools.playground.library

judge: setup ## public QUIC stacks' controllers, beside ours in tests.judge.compare: needs cargo
	@python -m tests.judge.build

lock: setup ## new versions in requirements.txt and environment.yml, from pyproject.toml
	uv pip compile pyproject.toml --extra all --group dev --upgrade --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate \
	  --custom-compile-command 'make lock' --quiet --output-file requirements.txt
	uv pip compile --group site --constraint requirements.txt --upgrade --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate \
	  --custom-compile-command 'make lock' --quiet --output-file docs/requirements.txt
	sed -i.old '/^      - /d' environment.yml
	sed -nE 's/^([a-z0-9.-]+==[^\]*[^ \]) *\\?$$/      - \1/p' requirements.txt >> environment.yml
	rm environment.yml.old

clean: ## removes build products; keeps results and .venv
	rm -rf .kneepoint build .hypothesis .snakemake .mypy_cache .pytest_cache .ruff_cache

compiler:
	@controllers/check_compiler.sh

# Snakemake also reads the configuration, but reports errors as tracebacks.
define check
	@python -m kneepoint.runs.check --config "$$CONFIG" --cores "$$CORES"
endef

define need_python
	@command -v $(PYTHON) >/dev/null || { \
	  echo "error: $(PYTHON) not found; install Python 3.11 or later, or name it: make PYTHON=..." >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || { \
	  echo "error: $(PYTHON) is $$($(PYTHON) -V); Kneepoint needs Python 3.11 to 3.14: install one, or name it: make PYTHON=..." >&2; exit 2; }
endef

# An environment whose installation was interrupted is made again. uv is much faster than pip; if uv
# cannot reach its index, pip may.
$(STAMP): requirements.txt
	$(need_python)
	@if [ ! -x $(VENV)/bin/python ] || [ -e $(INCOMPLETE) ]; then \
	  $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "error: $(PYTHON) has no module venv; install it (Debian: apt-get install python3-venv)" >&2; exit 2; }; \
	  echo "Making $(VENV)"; touch $(INCOMPLETE) && $(PYTHON) -m venv --clear $(VENV); fi
	@echo "Installing the packages of requirements.txt into $(VENV): 1.4 GB, about a minute"
	@awk '/^[a-z]/ { uv = /^uv==/ } uv' requirements.txt > $(VENV)/uv.txt
	@command -v uv >/dev/null || $(PIP_INSTALL) $(VENV)/uv.txt || true
	@$(call INSTALL,requirements.txt)
	@touch $@
	@rm -f $(INCOMPLETE)

# The command `kneepoint`, in any folder once the environment is activated.
$(COMMAND): | $(STAMP)
	@mkdir -p $(@D)
	@packages="$$($(VENV)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" && \
	  pwd > "$$packages/kneepoint.pth"
	@printf '#!/bin/sh\nexec "$$(dirname "$$0")/python" -m kneepoint "$$@"\n' > $@
	@chmod +x $@

$(SITE_STAMP): docs/requirements.txt | $(STAMP)
	@echo "Installing the packages of docs/requirements.txt into $(VENV)"
	@$(call INSTALL,docs/requirements.txt)
	@touch $@

# uv leaves locks in the system's folder of temporary files, where any user may write.
define INSTALL
mkdir -p $(VENV)/tmp; TMPDIR="$(abspath $(VENV))/tmp" uv pip install --quiet --python $(VENV)/bin/python --require-hashes -r $(1) 2>/dev/null \
  || $(PIP_INSTALL) $(1) \
  || { echo "error: the packages cannot be installed; check the network and pip's settings" >&2; exit 2; }
endef
