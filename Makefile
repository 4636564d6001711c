PROFILE ?=
RECORDS ?=
JOBS ?= 3

# Both set up what they need first; see tools/python.sh.
PY := sh tools/python.sh
DEV := sh tools/python.sh --extra dev
WHAT = $(if $(PROFILE),--profile "$(PROFILE)") $(if $(RECORDS),--records "$(RECORDS)")

.DEFAULT_GOAL := help
.PHONY: help ready book pdf test check format lock clean distclean

help:
	@echo "make book                     run the study and render it: build/html/index.html"
	@echo "     PROFILE=quick            smoke (a few minutes), quick, full (an hour and three quarters) or paper (a cluster)"
	@echo "     RECORDS=folder           draw from a folder of records, measure nothing"
	@echo "make pdf                      the book that was run, or RECORDS=folder drawn, rendered and printed:"
	@echo "                              build/hyperslab.pdf"
	@echo "make test                     the tests"
	@echo "     JOBS=3                   how many at a time"
	@echo "make check                    ruff, mypy, the import directions"
	@echo "make format                   mend what ruff can mend"
	@echo "make lock [UPGRADE=--upgrade] write requirements.lock from pyproject.toml"
	@echo "make clean                    remove what rendering and the checks made; keep data and results"
	@echo "make distclean                remove build/ and .venv too"
	@echo "     PYTHON=python3.12        with any of them, first time: the Python to set up with"

ready:
	@$(PY) --why

# A notebook that failed does not keep the others' pages from being rendered.
book:
	@$(PY) --why
	@failed=0; $(PY) -m hyperslab run $(WHAT) || \
	  failed=$$?; [ $$failed -le 1 ] || exit $$failed; \
	  $(PY) -m hyperslab book $(WHAT) && exit $$failed

pdf:
	@$(DEV) --why
	@$(if $(RECORDS),$(DEV) -m hyperslab run $(WHAT))
	@$(DEV) -m hyperslab book --pdf $(WHAT)

test:
	@$(DEV) --why
	@$(DEV) -m pytest -n $(JOBS) --dist loadscope --no-loadscope-reorder

check:
	@$(DEV) --why
	$(DEV) -m ruff check .
	$(DEV) -m ruff format --check .
	$(DEV) -m mypy
	$(DEV) -m pytest -q tests/test_imports.py

format:
	@$(DEV) --why
	$(DEV) -m ruff check --fix .
	$(DEV) -m ruff format .

# Universal, hashed and naming no host, so that plain pip installs it anywhere. The other extras are
# within these, or have no wheels for each Python.
lock:
	@$(PY) --why
	$(PY) -m venv .tools/uv
	.tools/uv/bin/python -m pip install -q uv==0.13.8
	.tools/uv/bin/uv pip compile --universal --extra study --extra dev --generate-hashes \
	  --python-version 3.11 \
	  --no-header --no-emit-index-url --no-emit-find-links $(UPGRADE) -q -o requirements.lock pyproject.toml

clean:
	rm -rf build/book build/html dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

distclean: clean
	rm -rf build .venv .tools
