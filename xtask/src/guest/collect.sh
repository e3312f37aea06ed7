# SPDX-License-Identifier: GPL-2.0-only
# The end of every script that lets DKMS build: what DKMS chose, and the module with DKMS's records.
kernel=$(cat /tp2/kernel)
version=$(dkms status -m tp2_p2pdma -k "$kernel" | sed -n 's|^tp2_p2pdma/\([^,]*\),.*: installed.*|\1|p')
log="/var/lib/dkms/tp2_p2pdma/$version/$kernel/$(uname -m)/log/make.log"
sed -n 's/^dkms-build: //p' "$log" >/tp2/out/choice
own=/tp2/out/implementation
mkdir -p "$own/system/lib/modules/$kernel/updates/dkms"
cp "/lib/modules/$kernel"/updates/dkms/tp2_p2pdma.ko* "$own/system/lib/modules/$kernel/updates/dkms/"
cp "/lib/modules/$kernel"/updates/dkms/tp2_p2pdma.ko* $own/
if [ -e $own/tp2_p2pdma.ko.xz ]; then xz -d $own/tp2_p2pdma.ko.xz; fi
# Without debug information, for loading it a thousand times under emulation.
strip -g -o $own/tp2_p2pdma-stripped.ko $own/tp2_p2pdma.ko
# The build tree of dkms links to kernel sources that the guest does not carry.
cp -a --parents /var/lib/dkms/tp2_p2pdma $own/system/
find $own/system/var/lib/dkms -type l ! -exec test -e {} \; -delete
