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
# Of main.rs rustfmt would follow the modules; it is given alone.
rustfmt --check --config-path rustfmt.toml --config skip_children=true rust/main.rs 2>/dev/null ||
	rustfmt --check --config-path rustfmt.toml <rust/main.rs
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
