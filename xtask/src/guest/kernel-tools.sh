# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a Debian system: brings sparse, the kernel's checkpatch, and what compiles for arm64.
set -eu
kernel=$(cat /tp2/kernel)
export DEBIAN_FRONTEND=noninteractive
series=$(echo "$kernel" | cut -d. -f1,2)
apt-get update
apt-get install --yes --no-install-recommends sparse perl gcc-14-aarch64-linux-gnu
cd /tp2
apt-get download "linux-source-$series"
mkdir -p /opt/kernel-style
dpkg-deb --fsys-tarfile linux-source-*.deb | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
	tar -xJ -C /opt/kernel-style --strip-components=1 --wildcards '*/scripts/checkpatch.pl' '*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch'
dpkg --add-architecture arm64
apt-get update
arm64=$(echo "$kernel" | sed 's/-amd64$/-arm64/')
apt-get download "linux-headers-$arm64:arm64"
# Cross builds use the common headers and the host tools of the native package.
dpkg-deb --fsys-tarfile linux-headers-*_arm64.deb | tar -x -C / ./usr/src
dpkg --remove-architecture arm64
