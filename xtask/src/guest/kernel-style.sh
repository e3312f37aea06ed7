# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot with the kernel's tools: W=1, sparse, checkpatch and an arm64 build. Any word from them is a failure.
set -eu
kernel=$(cat /tp2/kernel)
arm64=$(echo "$kernel" | sed 's/-amd64$/-arm64/')
cd /tp2/rust-kmod

build() {
	what=$1
	shift
	if ! { make "$@" clean && make "$@" W=1 modules selftests; } >/tp2/build.log 2>&1; then
		echo "$what does not build:"
		cat /tp2/build.log
		exit 1
	fi
	# sparse 0.6.4 takes the static_assert of the kernel's own MODULE_INFO (7.3) for no constant.
	if grep -E 'warning:|error:' /tp2/build.log | grep -v 'error: bad constant expression$'; then
		echo "$what is not clean"
		exit 1
	fi
}

build "the amd64 build" KDIR="/lib/modules/$kernel/build"
# Debian ships no copy of kbuild's trial of sparse, without which kbuild passes over sparse; the run below is the trial.
trial=$(readlink -f "/lib/modules/$kernel/build/scripts")/checker-valid.sh
printf '#!/bin/sh\necho 1\n' >"$trial"
chmod 755 "$trial"
# sparse 0.6.4 does not know __typeof_unqual__.
build "sparse" KDIR="/lib/modules/$kernel/build" C=2 CF=-D__typeof_unqual__=__typeof__
grep -q CHECK /tp2/build.log || {
	echo "sparse did not run:"
	cat /tp2/build.log
	exit 1
}
build "the arm64 build" KDIR="/usr/src/linux-headers-$arm64" ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc-14
make KDIR="/lib/modules/$kernel/build" clean >/dev/null
perl /opt/kernel-style/scripts/checkpatch.pl --no-tree --strict --terse --no-summary -f common/*.[ch] c/*.[ch] selftests/*.c
