# Two commands for everyone:   make lab     make test
# For us:   make check   make soak   make bench   make pictures   make copies   make docs   make offline   make clean
# CONTRIBUTING.md says what each does. Everything is made in .venv/ and build/.

ENGINE := $(wildcard csrc/*.[ch]) ngram_core/_build.py
PYTHON_HERE := .venv/bin/python
PIP := $(PYTHON_HERE) -m pip --disable-pip-version-check -q install
SETTINGS := ngram_core/cli/lab_settings/overrides.json
FIRST := notebooks/00_start_here.ipynb
INSTALLED := .venv/package.done

# A virtual environment holds its own path: in a checkout that was moved, make it anew.
MADE_IN := $(shell cat .venv/made-in 2>/dev/null || pwd -P)
ifneq ($(MADE_IN),$(shell pwd -P))
$(shell rm -rf .venv)
endif

.NOTPARALLEL:
.PHONY: help lab test check soak bench pictures copies docs offline clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^# //p' Makefile | head -n 3

# Set-up. The Python link comes first; each file below is touched when its step is done. A second
# extra brings its own packages only: ours is there, with its engine.

$(PYTHON_HERE): | tests/preflight.sh
	@python=$$(sh tests/preflight.sh) && "$$python" -m venv --clear .venv

.venv/test.done .venv/dev.done: NOW = --no-compile # Python does it for what is imported, then
.venv/lab.done: SAYS = JupyterLab and the engine
.venv/test.done: SAYS = the engine and what its tests need
.venv/docs.done: SAYS = the engine and what draws its reference
.venv/dev.done: SAYS = everything that our own checks need
.venv/%.done: pyproject.toml setup.py $(SETTINGS) | $(PYTHON_HERE)
	@sh tests/preflight.sh >/dev/null
	@echo "Installing $(SAYS) into .venv (a minute or two, the first time) ..."
	@package='-e .'; \
	if [ $(INSTALLED) -nt pyproject.toml ] && [ $(INSTALLED) -nt setup.py ]; then package=ngram-core; fi; \
	$(PIP) 'setuptools>=77' 'cffi>=2.0' && $(PIP) $(NOW) $$package'[$*]' || { \
	    echo "Could not install; the reason stands above. The first time needs a network." >&2; exit 1; }; \
	[ "$$package" = ngram-core ] || touch $(INSTALLED) .venv/engine.done
	@mkdir -p .venv/share/jupyter/lab/settings
	@cp $(SETTINGS) .venv/share/jupyter/lab/settings/
	@pwd -P >.venv/made-in
	@touch $@

.venv/engine.done: $(ENGINE)
	@echo "The engine has changed: compiling ..."
	@$(PYTHON_HERE) setup.py -q build_ext --inplace
	@touch $@

# Use

DOCUMENTED := ngram_core $(addprefix ngram_core.,inside racing corpora tokenizers token_files \
    machine published reference)

lab: .venv/lab.done .venv/engine.done
	@sh tests/lab.sh $(FIRST)

test: .venv/test.done .venv/engine.done
	$(PYTHON_HERE) -m pytest -n auto --maxprocesses 4 --dist worksteal $(ARGS)

check: .venv/dev.done .venv/engine.done
	$(PYTHON_HERE) -m pytest -m "(browser or slow) and not soak" -n 2 --dist loadfile \
	    --no-loadscope-reorder --durations 20 $(ARGS)

soak: .venv/dev.done .venv/engine.done
	NGRAM_SOAK=1 NGRAM_FUZZ_SECONDS=$${NGRAM_FUZZ_SECONDS:-3600} $(PYTHON_HERE) -m pytest -m "soak or not browser" $(ARGS)

bench: .venv/dev.done .venv/engine.done
	$(PYTHON_HERE) -m ngram_core race $(ARGS)
	$(PYTHON_HERE) -m pytest -q -m "browser and timed"

pictures: .venv/dev.done .venv/engine.done
	$(PYTHON_HERE) tests/pictures.py $(ARGS)

copies:
	python3 tests/copies.py

docs: .venv/docs.done .venv/engine.done
	$(PYTHON_HERE) -m pdoc --docformat google -o build/docs $(DOCUMENTED)
	@echo "Open build/docs/index.html"

# For a class without a network: see tests/offline.py.
offline: .venv/test.done
	$(PYTHON_HERE) tests/offline.py build/offline

clean:
	rm -rf .venv build dist *.egg-info ngram_core/_ngram*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
