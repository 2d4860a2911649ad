# Each target installs what it needs (scripts/setup), so that it works on a fresh Debian 12 machine.
PRESET ?= release
JOBS ?= $(shell nproc)
BIN = build/$(PRESET)/bin
.DEFAULT_GOAL := help
.PHONY: help setup build demo test pytest-sanitize wheel bench peers fuzz format lint clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Variables: PRESET=release|debug|sanitize|gcc, JOBS=N, BASE=branch (lint: only files that differ from it)"

demo: build ## Build, and show what the engine does
	$(BIN)/articula demo

test: build ## Build, and run all tests
	ctest --preset $(PRESET) -j $(JOBS)

pytest-sanitize: setup ## Build the Python package with the address sanitizer, and run pytest
	cmake --preset sanitize-python
	cmake --build --preset sanitize-python -j $(JOBS)
	ctest --preset sanitize-python

wheel: setup ## Build dist/articula-*.whl for python3, with a baseline and an x86-64-v3 build inside
	python3 -m pip wheel . --no-deps -w dist --config-settings=cmake.define.ARTICULA_PYTHON_BASELINE=ON

bench: build ## Build, and measure; rivals take part where `make peers` installed them
	cmake --build --preset $(PRESET) -j $(JOBS) --target peers
	$(BIN)/articula bench dynamics

peers: ## Install the rivals (MuJoCo, Pinocchio) into .venv-peers; `make bench` builds their adapters
	scripts/setup build peers
	scripts/peers

fuzz: setup ## Fuzz the readers of MJCF, URDF, SDF, STL and OBJ: 20 s each; FULL=1: 30 processor minutes each
	JOBS=$(JOBS) scripts/fuzz $(if $(FULL),--full)

format: ## Lay out all sources
	scripts/setup lint
	git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' | xargs clang-format-19 -i

lint: ## Check layout, file length, shell syntax and clang-tidy
	scripts/setup build lint
	JOBS=$(JOBS) scripts/lint $(if $(BASE),--changed $(BASE))

build: setup ## Configure and compile
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) -j $(JOBS)

setup: ## Install missing Debian packages
	scripts/setup build

clean: ## Remove all builds
	rm -rf build
