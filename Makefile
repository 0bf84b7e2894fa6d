# `make run` opens the editor, `make test` runs the tests; each target sets up what it needs by itself.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test test-slow check bench samples clean setup setup-tests

PYTHON_IN := .venv/bin/python
SAMPLE := resources/projects/humanoid.sinew

help: ## list the targets
	@sed -n 's/^\([a-z-]*\): .*## /  make \1 |- /p' $(MAKEFILE_LIST) | column -t -s '|'

run: setup ## open the editor on the sample character; without a display, render it to out/
	@.ci/run-editor.sh $(SAMPLE)

test: setup-tests ## run the tests, but those of test-slow
	@.ci/test.sh

test-slow: setup-tests ## run the tests that take seconds each
	@.ci/test.sh -m 'slow and not campaign'

check: setup-tests ## style, formatting and types
	@$(PYTHON_IN) -m ruff check .
	@$(PYTHON_IN) -m ruff format --check --quiet .
	@$(PYTHON_IN) -m mypy

bench: setup-tests ## measure on this machine and print a table
	@.ci/with-display.sh $(PYTHON_IN) -m sinew bench

samples: setup ## rebuild the sample models and the images of the sample projects
	@$(PYTHON_IN) -m sinew.resources.make_samples
	@$(PYTHON_IN) -m sinew.app.help.sample_pictures

clean: ## remove the environment and everything that was generated
	@rm -rf .venv .links build dist out *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis tests/golden/actual
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup:
	@.ci/setup.sh editor

setup-tests:
	@.ci/setup.sh tests
