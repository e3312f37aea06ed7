# SPDX-License-Identifier: GPL-2.0-only
# Front door. Everything but the installer is done by cargo xtask.

CARGO ?= cargo
DESTDIR ?=
PREFIX ?= /usr/local
KDIR ?= /lib/modules/$(shell uname -r)/build

.DEFAULT_GOAL := help

help: ## Name the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20
	@echo 'Variables: DESTDIR PREFIX (install), KDIR (module), CARGO'

demo: ## Show the override at work in a real Debian system on a virtual X99-like machine
	@$(CARGO) xtask demo

test: ## Everything that must pass
	@$(CARGO) xtask test

test-full: ## The test, then every scenario on every kernel we know how to get; writes docs/kernel-support.md (hours)
	@$(CARGO) xtask test-full

check: ## Formatting, lints, licences, versions, kernel style
	@$(CARGO) xtask check

vm: ## Run the VM scenarios
	@$(CARGO) xtask vm

images: ## Read initramfs images that the real tools make in a guest
	@$(CARGO) xtask images

upgrade: ## Run the kernel upgrade path in a guest
	@$(CARGO) xtask upgrade

bench: ## Measure build time, size, memory and cost a call of both implementations
	@$(CARGO) xtask bench

deb: ## Build the Debian packages into target/deb
	@$(CARGO) xtask deb

module: ## Build the kernel module for KDIR
	@test -d '$(KDIR)' || { echo "error: KDIR=$(KDIR) is no directory: install the kernel's headers, or set KDIR" >&2; exit 2; }
	@$(MAKE) -C rust-kmod KDIR=$(KDIR) modules

verify: ## Build tp2-verify
	@$(CARGO) build --release --locked --package tp2-verify

static: ## Build tp2-verify as one static file (x86-64)
	@$(CARGO) xtask static

install: ## Install on this machine (root), or copy into DESTDIR
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' dkms/install install

uninstall: ## Remove what `make install` put there
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' dkms/install uninstall

prepare: ## Install the Debian packages that building and testing need
	@$(CARGO) xtask prepare

clean: ## Remove what was built
	@$(CARGO) clean

.PHONY: help demo test test-full check vm images upgrade bench deb module verify static install uninstall prepare clean
