# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a system for which DKMS has built the Rust implementation: takes the rebuilt metadata away, brings what
# they are made from, switches RUST_METADATA=auto on and lets DKMS build.
set -eu
kernel=$(cat /tp2/kernel)
export DEBIAN_FRONTEND=noninteractive
series=$(echo "$kernel" | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
apt-get update
apt-get install --yes --no-install-recommends "linux-source-$series=$(dpkg-query -W -f '${Version}' "linux-headers-$kernel")" \
	rust-src flex bison bc perl libelf-dev libssl-dev openssl python3-minimal
tp2-rust-metadata remove "$kernel"
echo RUST_METADATA=auto >>/etc/tp2/build.conf
version=$(dkms status -m tp2_p2pdma -k "$kernel" | sed -n 's|^tp2_p2pdma/\([^,]*\),.*|\1|p')
start=$(date +%s)
dkms build --force -m tp2_p2pdma -v "$version" -k "$kernel"
{
	echo "dkms build: $(($(date +%s) - start)) s"
	sed -n 's/^dkms-build: //p' "/var/lib/dkms/tp2_p2pdma/$version/$kernel/$(uname -m)/log/make.log"
	tp2-rust-metadata list
	echo "implementation: $(modinfo -F implementation "/var/lib/dkms/tp2_p2pdma/$version/$kernel/$(uname -m)"/module/tp2_p2pdma.ko*)"
} >/tp2/out/result
