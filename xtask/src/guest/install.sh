# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a Debian system: installs our packages the way a user does, then collects what the scenarios need.
set -eu
kernel=$(cat /tp2/kernel)
export DEBIAN_FRONTEND=noninteractive
start=$(date +%s)
# dkms leaves a `sleep 3` behind, which would keep a terminal of apt's busy, and so the chroot's /dev/pts.
apt-get -o Dpkg::Use-Pty=0 install --yes --no-install-recommends /tp2/*.deb || {
	cat /var/lib/dkms/tp2_p2pdma/*/build/make.log
	exit 1
}
echo "install_seconds=$(($(date +%s) - start))" >/tp2/out/timings
dkms status
cp "/boot/vmlinuz-$kernel" /tp2/out/vmlinuz
cp "/boot/initrd.img-$kernel" /tp2/out/initrd.img

# Built here with the guest's own compiler and headers; not in any package.
llvm=
if grep -qx CONFIG_CC_IS_CLANG=y "/boot/config-$kernel"; then llvm=LLVM=1; fi
# shellcheck disable=SC2086 # nothing or one word
make -C /tp2/rust-kmod KDIR="/lib/modules/$kernel/build" $llvm clean selftests
mkdir -p /opt/tp2
cp /tp2/rust-kmod/selftests/*.ko /opt/tp2/

tree=/tp2/out/tree
mkdir -p $tree/bin $tree/usr/bin $tree/opt/tp2 $tree/boot $tree/etc/modprobe.d
mkdir -p $tree/usr/lib/modprobe.d "$tree/lib/modules/$kernel" $tree/var/lib
cp /bin/busybox $tree/bin/
cp /tp2/rust-kmod/selftests/*.ko $tree/opt/tp2/
cp "/lib/modules/$kernel"/modules.* "$tree/lib/modules/$kernel/"
cp "/boot/config-$kernel" $tree/boot/
cp /usr/lib/modprobe.d/tp2_p2pdma.conf $tree/usr/lib/modprobe.d/
# A driver that could use the override, where the kernel has one; Debian's is built without.
if modinfo -k "$kernel" -F parm amdgpu 2>/dev/null | grep -q '^pcie_p2p:'; then
	modprobe -S "$kernel" --show-depends amdgpu | sed -n 's/^insmod \(.*\.ko\) *$/\1/p' | grep -v '/updates/' |
		xargs -I '{}' cp --parents '{}' $tree/
fi
for tool in insmod rmmod modinfo modprobe; do
	ln -s kmod "$tree/usr/bin/$tool"
done
for file in /usr/bin/tp2-verify /usr/bin/kmod $(ldd /usr/bin/tp2-verify /usr/bin/kmod | grep -o '/[^ ]*' | grep -v ':$'); do
	mkdir -p "$tree$(dirname "$file")"
	cp -L "$file" "$tree$file"
done
