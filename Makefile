# What a person does here, each with one word. `make help` lists them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest

# Where Python is told to keep nothing that it compiles, as in many images of containers, each start of the command compiles
# the library anew and takes three times as long.
unexport PYTHONDONTWRITEBYTECODE

# What a busy machine kept from measuring is tried once more, and so is the file of each test that failed, alone, when the
# machine is quieter: what passes then is unsteady, is named, and fails nothing. What a kill or a fault leaves behind (`kept`)
# and properties are never tried again.
BUSY_AGAIN   = $(BIN)/python tests/tally.py busy $(1) | xargs --no-run-if-empty --delimiter='\n' $(PYTEST) --record $(1)
FAILED_AGAIN = $(BIN)/python tests/again.py $(1)

# Tests whose outcome hangs on the time or the CPU that they are given are marked `alone` and run one at a time; all others,
# those that sweep among them, run at once, four more than there are cores, for they wait half of their time.
# Of so many at once each computes in one thread: others would wait for a core by keeping another busy.
AT_ONCE = $(shell expr $$(nproc) + 4)
ALONE   = $(sort $(shell grep -rl --include='test_*.py' --exclude-dir=cluster 'pytest\.mark\.alone' tests))

# Which lines of the library the tests reach is counted by slipcover, which costs a twentieth of the time; where its wheel is
# missing, nothing is counted.
REACHED  = $(shell $(BIN)/python -c "import slipcover" 2>/dev/null && echo "-m slipcover --source lib --json --out $(1)")
COUNTED  = $(BIN)/python $(call REACHED,$(1)) -m pytest

# What a file's tests share is made once, for its tests go to one worker; those that take longest begin, so that none is left
# with them in the end.
LONGEST := $(addprefix tests/,torture/test_torture.py test_wheel.py test_gallery.py cli run packs)

# Both halves always run; what became of each test is added up at the end. ONLY names the record of an earlier run,
# of which the tests are run that were skipped there; the checks were made there.
RECORD   := build/tests.jsonl
SKIPPED_IN := $(if $(ONLY),--skipped-in $(ONLY))
RECORDED := --record $(RECORD) $(SKIPPED_IN)
# Of programs of one kind, some run for each change, and all with NIGHT=1.
HERE     := not cluster and not cgroup2$(if $(NIGHT),, and not night)
CHECKED  := $(if $(ONLY),,--ignore tests/test_repository.py)

# The types are checked while the tests run at once, which wait often; where one is wrong, nothing is measured after that.
MEANWHILE := $(if $(ONLY),,types)

# Of benchmarks, names that are gone are looked for, and calls that do not fit.
NAMES := --no-warn-unused-ignores $(addprefix --disable-error-code=,arg-type assignment func-returns-value \
    import-untyped index misc no-untyped-def operator return-value str-bytes-safe var-annotated)

# Tests of what computes, without a program that is measured.
PURE := $(addprefix tests/,analysis study store language steady_state test_repository.py)

# Reading all tests once also compiles them, which each of those that run at once would do for itself.
COLLECT := $(PYTEST) --collect-only -qq tests

# Tests of the cluster wait more than they work, so four run at once, each in a namespace of its own.
CLUSTER_RECORD := build/cluster.jsonl
CGROUP2_RECORD := build/cgroup2.jsonl

# Of the cluster and of the emulated machine, PART=core is what each change is asked: a sweep, a kill, a resume.
PARTLY := $(if $(PART), and $(PART))

.DEFAULT_GOAL := help
.PHONY: help report test at-once torture test-cgroup2 cluster cluster-down test-cluster wheel lab bench docs pages check quick affected types rules format lock clean

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

report: $(VENV)/.main  ## sweep ffmpeg under CPU limits on this machine and publish the report; GRID=1 measures every level five times
	$(BIN)/deadzone run ffmpeg-cpu-limit $(if $(GRID),,--adaptive) || [ $$? -eq 7 ]  # a report without a setting is one too

test: $(VENV)/.dev $(if $(ONLY),,rules)  ## run the checks and every test that needs no cluster and no emulated machine
	@mkdir -p build && rm -f $(RECORD) build/reached-*.json
	@$(MAKE) --no-print-directory --jobs=2 --keep-going at-once $(MEANWHILE)
	-$(call COUNTED,build/reached-2.json) $(RECORDED) -m "$(HERE) and alone" $(ALONE)
	-@$(call BUSY_AGAIN,$(RECORD))
	-@$(call FAILED_AGAIN,$(RECORD)) -m "$(HERE)" $(SKIPPED_IN)
	@$(BIN)/python tests/reached.py build/unreached.txt build/reached-1.json build/reached-2.json
	@$(BIN)/python tests/tally.py total $(RECORD) 2

at-once:  ## of `test`, what no neighbour can change
	-OPENBLAS_NUM_THREADS=1 $(call COUNTED,build/reached-1.json) $(RECORDED) -m "$(HERE) and not alone" -n $(AT_ONCE) --dist loadfile --no-loadscope-reorder $(CHECKED) $(LONGEST) tests

torture: $(VENV)/.dev  ## draw faults at random against real sweeps: make torture FOR=10m SEED=7, or OF=input, OF=cluster
	cd tests && PYTHONPATH=cluster ../$(BIN)/python -m torture $(if $(FOR),--for $(FOR)) $(if $(SEED),--seed $(SEED)) $(if $(SCENE),--scene $(SCENE)) \
	    $(if $(OF),--of $(OF)) $(if $(FAULTS),--faults $(FAULTS)) $(if $(CASES),--cases $(CASES)) $(if $(KIND),--kind "$(KIND)") $(if $(PAGE),--page $(abspath $(PAGE)))

test-cgroup2: $(VENV)/.dev  ## show the cgroup v2 and systemd mechanisms on a small emulated machine; PART=core, one of them
	@rm -f $(CGROUP2_RECORD)
	-$(PYTEST) --record $(CGROUP2_RECORD) tests/cgroup2 -m "cgroup2$(PARTLY)"
	-@$(call FAILED_AGAIN,$(CGROUP2_RECORD)) -m "cgroup2$(PARTLY)"
	@$(BIN)/python tests/tally.py total $(CGROUP2_RECORD) 1

cluster: $(VENV)/.dev  ## bring up a real Kubernetes node on this machine, from packages alone
	$(BIN)/python tests/cluster/node.py up

cluster-down: $(VENV)/.dev  ## remove all of that node
	$(BIN)/python tests/cluster/node.py down

test-cluster: $(VENV)/.dev  ## sweep real pods, on the cluster that KUBECONFIG names or on that node; PART=core, three tests
	@rm -f $(CLUSTER_RECORD)
	-$(PYTEST) --record $(CLUSTER_RECORD) tests/cluster -m "cluster and not alone$(PARTLY)" -n 4
	-$(PYTEST) --record $(CLUSTER_RECORD) tests/cluster -m "cluster and alone$(PARTLY)"
	-@$(call BUSY_AGAIN,$(CLUSTER_RECORD))
	-@$(call FAILED_AGAIN,$(CLUSTER_RECORD)) -m "cluster$(PARTLY)"
	@$(BIN)/python tests/tally.py total $(CLUSTER_RECORD) 2

wheel: $(VENV)/.main  ## build the wheel: build/wheel/deadzone-VERSION-py3-none-any.whl
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .

lab: $(VENV)/.main  ## open the repository in JupyterLab, at notebooks/start.ipynb
	$(BIN)/jupyter lab $(if $(PORT),--port=$(PORT)) --LabApp.default_url=/lab/tree/notebooks/start.ipynb $$([ "$$(id -u)" -ne 0 ] || echo --allow-root)

bench: $(VENV)/.bench  ## measure what the documentation states of speed and accuracy
	$(BIN)/python benchmarks/all.py

docs: $(VENV)/.dev  ## build the site of the documentation, offline: build/site/docs/index.html
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -c docs -d build/doctrees . build/site

pages: $(VENV)/.dev  ## type what README, tutorial and how-to pages tell a reader to type, each in an empty folder
	$(BIN)/python scripts/pages.py

check: $(VENV)/.dev  ## format, lint, types, direction of imports, rules of the repository; seconds
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types rules

types:  ## of `check`, the types
	$(BIN)/mypy --no-error-summary
	$(BIN)/mypy --no-error-summary notebooks/studies/programs scripts
	$(BIN)/mypy --no-error-summary $(NAMES) benchmarks

rules: quick-rules  ## of `check`, the rest
	@$(BIN)/python tests/unsteady.py
	$(PYTEST) -q tests/test_repository.py
	$(COLLECT) >/dev/null || $(COLLECT)

quick: $(VENV)/.dev  ## before a commit: format, lint, types, tests of models, study, store and language; 90 s
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types quick-rules
	OPENBLAS_NUM_THREADS=1 $(PYTEST) -q -m "$(HERE) and not alone and not programs" -n $(shell nproc) --dist worksteal $(PURE)

affected: $(VENV)/.dev  ## between edits: tests that mirror or import what changed since BASE (HEAD), by the import graph
	@$(BIN)/python tests/affected.py $(or $(BASE),HEAD) | xargs --no-run-if-empty --delimiter='\n' \
	    $(PYTEST) -q -m "$(HERE)" -n $(shell nproc) --dist loadfile

quick-rules:
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports --no-cache

format: $(VENV)/.dev  ## put the code into its form
	$(BIN)/ruff format --quiet
	$(BIN)/ruff check --quiet --fix

lock:  ## write the lock files anew from pyproject.toml (needs uv)
	sh scripts/lock

clean:  ## remove the environment and the caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.main: requirements.lock pyproject.toml
	PYTHON="$(PYTHON)" sh scripts/setup requirements.lock
	touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml
	PYTHON="$(PYTHON)" sh scripts/setup requirements-dev.lock
	touch $@ $(VENV)/.main

$(VENV)/.bench: requirements-bench.lock pyproject.toml
	PYTHON="$(PYTHON)" sh scripts/setup requirements-bench.lock
	touch $@ $(VENV)/.dev $(VENV)/.main
