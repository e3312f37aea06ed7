# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a Debian system: installs our packages the way a user does, then collects what the scenarios need.
set -eu
kernel=$(cat /tp2/kernel)
export DEBIAN_FRONTEND=noninteractive
start=$(date +%s)
apt-get install --yes --no-install-recommends /tp2/*.deb
echo "install_seconds=$(($(date +%s) - start))" >/tp2/out/timings
dkms status
cp "/boot/vmlinuz-$kernel" /tp2/out/vmlinuz
cp "/boot/initrd.img-$kernel" /tp2/out/initrd.img

# Built here with the guest's own compiler and headers; not in any package.
make -C /tp2/rust-kmod KDIR="/lib/modules/$kernel/build" clean selftests
mkdir -p /opt/tp2
cp /tp2/rust-kmod/selftests/*.ko /opt/tp2/

tree=/tp2/out/tree
mkdir -p $tree/bin $tree/usr/bin $tree/opt/tp2 $tree/boot $tree/etc/modprobe.d
mkdir -p "$tree/usr/lib/modprobe.d" "$tree/lib/modules/$kernel/updates/dkms" "$tree/var/lib"
cp /bin/busybox $tree/bin/
cp /tp2/rust-kmod/selftests/*.ko $tree/opt/tp2/
cp "/lib/modules/$kernel"/modules.* "$tree/lib/modules/$kernel/"
cp "/lib/modules/$kernel"/updates/dkms/tp2_p2pdma.ko* "$tree/lib/modules/$kernel/updates/dkms/"
cp "/lib/modules/$kernel"/updates/dkms/tp2_p2pdma.ko* $tree/opt/tp2/
if [ -e $tree/opt/tp2/tp2_p2pdma.ko.xz ]; then xz -d $tree/opt/tp2/tp2_p2pdma.ko.xz; fi
# Without debug information, for loading it a thousand times under emulation.
strip -g -o $tree/opt/tp2/tp2_p2pdma-stripped.ko $tree/opt/tp2/tp2_p2pdma.ko
cp "/boot/config-$kernel" $tree/boot/
cp /usr/lib/modprobe.d/tp2_p2pdma.conf $tree/usr/lib/modprobe.d/
# The build tree of dkms links to kernel sources that the guest does not carry.
cp -a --parents /var/lib/dkms/tp2_p2pdma $tree/
find $tree/var/lib/dkms -type l ! -exec test -e {} \; -delete
for tool in insmod rmmod; do
	ln -s kmod "$tree/usr/bin/$tool"
done
for file in /usr/bin/tp2-verify /usr/bin/kmod $(ldd /usr/bin/tp2-verify /usr/bin/kmod | grep -o '/[^ ]*' | grep -v ':$'); do
	mkdir -p "$tree$(dirname "$file")"
	cp -L "$file" "$tree$file"
done
