# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a system whose DKMS can build both implementations: times `dkms build` of each and measures the modules.
# One line a value in /tp2/out/numbers: NAME IMPLEMENTATION VALUE.
set -eu
kernel=$(cat /tp2/kernel)
version=$(dkms status -m tp2_p2pdma -k "$kernel" | sed -n 's|^tp2_p2pdma/\([^,]*\),.*|\1|p')
built=/var/lib/dkms/tp2_p2pdma/$version/$kernel/$(uname -m)/module
now_ms() {
	echo $(($(date +%s%N) / 1000000))
}
for round in 1 2 3; do
	for impl in rust c; do
		export TP2_IMPL=$impl
		start=$(now_ms)
		dkms build --force -m tp2_p2pdma -v "$version" -k "$kernel"
		echo "build_ms $impl $(($(now_ms) - start))"
		[ $round -eq 1 ] || continue
		rm -f /tmp/tp2_p2pdma.ko*
		cp "$built"/tp2_p2pdma.ko* /tmp/
		if [ -e /tmp/tp2_p2pdma.ko.xz ]; then xz -d /tmp/tp2_p2pdma.ko.xz; fi
		echo "file_bytes $impl $(stat -c %s /tmp/tp2_p2pdma.ko)"
		echo "text_bytes $impl $(size /tmp/tp2_p2pdma.ko | awk 'NR == 2 { print $1 }')"
		echo "code_bytes $impl $(size -A /tmp/tp2_p2pdma.ko | awk '/^\.(text|init\.text|exit\.text|noinstr\.text)/ { n += $2 } END { print n }')"
		strip --strip-debug -R .BTF -R .BTF.base -o /tmp/stripped.ko /tmp/tp2_p2pdma.ko
		echo "stripped_bytes $impl $(stat -c %s /tmp/stripped.ko)"
		strip --strip-unneeded -R .BTF -R .BTF.base -o /tmp/unneeded.ko /tmp/tp2_p2pdma.ko
		echo "unneeded_bytes $impl $(stat -c %s /tmp/unneeded.ko)"
	done
done >/tmp/numbers.log
grep -E '^[a-z]+_(ms|bytes) (rust|c) [0-9]+$' /tmp/numbers.log >/tp2/out/numbers
