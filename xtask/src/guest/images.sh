# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a Debian system with our packages: images made by initramfs-tools and by dracut, what these say is
# in them, and what tp2-verify finds there.
set -eu
kernel=$(cat /tp2/kernel)
export DEBIAN_FRONTEND=noninteractive
apt-get update
# The maker alone: the package dracut would put it in the place of initramfs-tools.
apt-get -o Dpkg::Use-Pty=0 install --yes --no-install-recommends dracut-core

# What a captured machine needs for its image to be read.
tree=/tmp/machine
image="$tree/boot/initrd.img-$kernel"
mkdir -p "$tree/proc/sys/kernel" "$tree/sys" "$tree/boot" "$tree/lib/modules/$kernel"
echo "$kernel" >"$tree/proc/sys/kernel/osrelease"
cp "/lib/modules/$kernel"/modules.* "$tree/lib/modules/$kernel/"
cp -r --parents "/lib/modules/$kernel/updates" "$tree"

# Keeps the files of an image, as its maker lists them, and what tp2-verify makes of it.
keep() {
	"$2" "$image" >"/tp2/out/$1.files"
	tp2-verify report --root "$tree" -o /tmp/report.tar.gz --force >/dev/null
	tar -xzOf /tmp/report.tar.gz "tp2-report/derived/boot/initrd.img-$kernel.json" >"/tp2/out/$1.json"
}

echo amdgpu >>/etc/initramfs-tools/modules
mkinitramfs -o "$image" "$kernel"
keep initramfs-tools lsinitramfs
dracut --force --no-hostonly --add-drivers amdgpu --kver "$kernel" "$image"
keep dracut lsinitrd
# The package's own file adds the driver whatever is omitted.
rm /usr/lib/dracut/dracut.conf.d/*tp2*
dracut --force --no-hostonly --add-drivers amdgpu --omit-drivers tp2_p2pdma --kver "$kernel" "$image"
keep dracut-without-override lsinitrd
