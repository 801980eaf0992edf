# Everything runs in .venv; `make setup` builds it from the lock, nothing else is needed but Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
# Processes that share the tests; each starts a Kafka and a Redis of its own.
WORKERS ?= 2

.PHONY: setup demo test check bench bench-kafka lock schemas reference clean

setup: .venv/ready

.venv/ready: deploy/dev.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 13) else "Trainmaster needs Python 3.11 to 3.13, this is " + sys.version.split()[0])'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r deploy/dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable . --config-settings editable_mode=compat
	touch $@

demo: setup
	$(BIN)/trainmaster demo $(ARGS)

# Every check and every test, with a real Kafka and Redis; see CONTRIBUTING.md for what runs where.
test: setup check
	deploy/test-services.sh
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/trainmaster schemas --check
	$(BIN)/trainmaster reference --check
	$(BIN)/trainmaster playbooks check

bench: setup
	$(BIN)/python -m bench $(if $(DATA),--data $(DATA))

bench-kafka: setup
	deploy/test-services.sh
	$(BIN)/python -m bench.kafka

lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header pyproject.toml -o deploy/run.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --group dev pyproject.toml -o deploy/dev.lock

schemas: setup
	$(BIN)/trainmaster schemas --write

reference: setup
	$(BIN)/trainmaster reference --write

clean:
	rm -rf .venv .trainmaster .mypy_cache .ruff_cache .pytest_cache .hypothesis
