# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a Debian system with an older kernel: installs our packages, then a newer kernel, the way apt does it.
set -eu
old=$(cat /tp2/kernel)
new=$(cat /tp2/new-kernel)
export DEBIAN_FRONTEND=noninteractive
list_files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /tp2 \) -prune -o -print | LC_ALL=C sort
}

list_files >/tp2/out/files-before
# No GPU of the guest would bring amdgpu into the image or load it: the user's own list does.
echo amdgpu >>/etc/initramfs-tools/modules
# See install.sh.
apt-get -o Dpkg::Use-Pty=0 install --yes --no-install-recommends /tp2/*.deb
test -n "$(find "/lib/modules/$old/updates" -name 'tp2_p2pdma.ko*')"

apt-get update
start=$(date +%s)
apt-get -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "linux-image-$new" "linux-headers-$new"
echo "upgrade_seconds=$(($(date +%s) - start))" >/tp2/out/timings
dkms status | tee /tp2/out/dkms-status
cp "/boot/vmlinuz-$new" /tp2/out/vmlinuz
cp "/boot/initrd.img-$new" /tp2/out/initrd.img
lsinitramfs "/boot/initrd.img-$new" >/tp2/out/initrd-files
