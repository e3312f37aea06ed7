# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a system that can build the Rust implementation: rustfmt and clippy with the kernel's own lints, which
# are on kbuild's command line. Any word from them is a failure.
set -eu
kernel=$(cat /tp2/kernel)
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install --yes --no-install-recommends rustfmt rust-clippy
cd /tp2/rust-kmod
rustfmt --check --config-path rustfmt.toml rust/policy.rs rust/topology.rs rust/settings.rs rust/probe.rs rust/bindings.rs
# Named, main.rs would be followed to modules that are not generated yet; from standard input, --check exits with 0 whatever it
# prints (rustfmt 1.8).
rustfmt --check --config-path rustfmt.toml <rust/main.rs >/tp2/rustfmt.log
if [ -s /tp2/rustfmt.log ]; then
	cat /tp2/rustfmt.log
	exit 1
fi
build_dir=$(/tp2/rust-probe "$kernel" | sed -n 's/^BUILD_DIR=//p')
if ! make -C "$build_dir" "M=$PWD" TP2_IMPL=rust CLIPPY=1 V=1 W=1 modules >/tp2/build.log 2>&1; then
	cat /tp2/build.log
	exit 1
fi
grep -q clippy-driver /tp2/build.log || {
	echo "clippy did not run:"
	cat /tp2/build.log
	exit 1
}
if grep -A 12 -E '^(warning|error)' /tp2/build.log; then
	echo "the Rust module is not clean"
	exit 1
fi
