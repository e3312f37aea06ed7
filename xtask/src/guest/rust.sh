# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a Debian system: what builds the Rust implementation. Where the kernel's headers lack the Rust
# metadata, as Debian's do, they are rebuilt by the tool of our package from Debian's source of that kernel.
set -eu
kernel=$(cat /tp2/kernel)
export DEBIAN_FRONTEND=noninteractive
series=$(echo "$kernel" | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
start=$(date +%s)
apt-get update
apt-get install --yes --no-install-recommends rustc bindgen libclang-19-dev
# A kernel built with Clang has its modules built with Clang.
if grep -qx CONFIG_CC_IS_CLANG=y "/boot/config-$kernel"; then
	apt-get install --yes --no-install-recommends clang lld llvm
fi
if ! /tp2/rust-probe "$kernel"; then
	version=$(dpkg-query -W -f '${Version}' "linux-headers-$kernel")
	apt-get install --yes --no-install-recommends "linux-source-$series=$version" gcc rust-src flex bison bc perl libelf-dev \
		libssl-dev openssl python3-minimal
	/tp2/tp2-rust-metadata build "$kernel"
	# Only for the metadata; the module's own build has to do without.
	apt-get purge --yes "linux-source-$series" rust-src flex bison bc libelf-dev libssl-dev
	apt-get clean
fi
/tp2/rust-probe "$kernel"
echo "rust_seconds=$(($(date +%s) - start))" >/tp2/out/timings
