# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a system for which DKMS has built the Rust implementation: takes away what it was built with, the
# rebuilt metadata or (where the kernel's own headers have them) the permission, and lets DKMS build once more.
set -eu
kernel=$(cat /tp2/kernel)
if [ -d "/var/lib/tp2/rust-metadata/$kernel" ]; then
	tp2-rust-metadata remove "$kernel"
else
	echo TP2_IMPL=c >>/etc/tp2/build.conf
fi
version=$(dkms status -m tp2_p2pdma -k "$kernel" | sed -n 's|^tp2_p2pdma/\([^,]*\),.*|\1|p')
start=$(date +%s)
dkms build --force -m tp2_p2pdma -v "$version" -k "$kernel"
dkms install --force -m tp2_p2pdma -v "$version" -k "$kernel"
echo "takeover_seconds=$(($(date +%s) - start))" >/tp2/out/timings
