# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of the upgraded system: purges our packages and lists what is there that was not there before them.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get purge --yes tp2-p2pdma-dkms tp2-verify
find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /tp2 \) -prune -o -print | LC_ALL=C sort >/tp2/files-after
for image in /boot/initrd.img-*; do
	lsinitramfs "$image" | grep tp2 | sed "s|^|$image: |" || :
done >/tp2/out/left-in-images
# Files of packages that are still installed (the new kernel) are not ours to remove.
cat /var/lib/dpkg/info/*.list | sed 's|^/lib/|/usr/lib/|' | LC_ALL=C sort -u >/tp2/files-owned
LC_ALL=C comm -13 /tp2/files-before /tp2/files-after | LC_ALL=C comm -23 - /tp2/files-owned >/tp2/out/left
