# Two commands do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BROWSER := $(VENV)/.browser
MODULES := node_modules/.package-lock.json

.PHONY: browser demo docs docs-write test test-slow check format lint types page bench peers wheel clean

demo: $(STAMP)
	$(BIN)/python examples/demo.py

test: $(STAMP) $(BROWSER)
	$(BIN)/python -m pytest -n 2

test-slow: $(STAMP) $(BROWSER)
	$(BIN)/python -m pytest -n 2 -m "slow or not slow"

check: lint types page test docs

# The documentation site, in build/docs: every page's code is run and compared with what the page shows, then the
# site is built, without a warning. `make docs-write` puts into the pages what their code prints.
docs: $(STAMP)
	$(BIN)/python scripts/docs_snippets.py --check
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -b html docs build/docs
	@echo "open build/docs/index.html"

docs-write: $(STAMP)
	$(BIN)/python scripts/docs_snippets.py --write

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

# The page's modules are served as they are: nothing is built. TypeScript reads them for names, arguments and types,
# where npm can have it.
page:
	@if command -v npm >/dev/null && $(MAKE) --silent $(MODULES); then npm test --silent; \
	else echo "npm has no TypeScript here: the types of the page's modules are not checked" >&2; fi

$(MODULES): package.json package-lock.json
	@npm ci --silent --no-audit --no-fund
	@touch $@

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)
	@for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# Debian and Ubuntu keep the venv module in a package of its own: fetch it where we may.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("bayescout needs Python 3.11 or later, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq python3-venv; \
	  else echo "the Python module venv is missing: sudo apt-get install python3-venv, then try again" >&2; exit 1; fi; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,plot]'
	@touch $@

# The pages are tested in a real browser, Debian's: fetch it where we may. Without it those tests are skipped,
# save in CI.
$(BROWSER): $(STAMP)
	@for try in 1 2 3; do \
	  command -v chromium >/dev/null && command -v chromedriver >/dev/null && break; \
	  if [ "$$(id -u)" != 0 ]; then \
	    echo "to test the pages in a browser: sudo apt-get install chromium chromium-driver" >&2; break; fi; \
	  apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null || sleep 5; \
	done
	@! command -v chromedriver >/dev/null || touch $@

browser: $(BROWSER)

clean:
	rm -rf $(VENV) node_modules build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The wheel as a stranger has it: built, installed with the core dependencies alone, and used. Needs the package index.
wheel: $(STAMP)
	$(BIN)/python scripts/check_wheel.py

# The other libraries of the field, in an environment of their own: for benchmarks, and to read what we write.
peers:
	$(PYTHON) -m venv .peers
	.peers/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers/requirements.txt -e .
	.peers/bin/python scripts/peers_read.py
	.peers/bin/python scripts/peers_convert.py
