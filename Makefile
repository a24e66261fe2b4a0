# SPDX-License-Identifier: Apache-2.0
# `make run` and `make test` are all that a bare Debian 12 needs: each installs what is missing,
# configures, builds with optimisation, and goes.

BUILD := build
REPORTS := $(BUILD)/reports
JOBS := $(shell nproc)

.PHONY: help
help:
	@echo "make run      build, and check the built-in optimized backend with the default suite"
	@echo "make test     build, and run every test"
	@echo "make build    build everything"
	@echo "make bench    build, and run the benches"
	@echo "make format   format every source with clang-format"
	@echo "make clean    remove all build directories"

.PHONY: configure
configure:
	@.ci/install-packages
	@cmake --preset release > /dev/null

.PHONY: build
build: configure
	@cmake --build --preset release

.PHONY: run
run: configure
	@cmake --build --preset release --target ropecheck ropecheck_backend_tiled
	@mkdir -p $(REPORTS)
	@$(BUILD)/bin/ropecheck run --backend tiled --suite default \
	  --report $(REPORTS)/run.h5 --text $(REPORTS)/run.txt

.PHONY: test
test: build
	@ctest --preset release --parallel $(JOBS)

.PHONY: bench
bench:
	@.ci/install-packages
	@cmake --preset release -DROPECHECK_BUILD_BENCHES=ON > /dev/null
	@cmake --build --preset release
	@for bench in $(BUILD)/bin/*_bench; do echo "== $$bench"; $$bench || exit 1; done

.PHONY: format
format:
	@.ci/check-format --fix

.PHONY: clean
clean:
	@rm -rf $(BUILD) $(BUILD)-*
