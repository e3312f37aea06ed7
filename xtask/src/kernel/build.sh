# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a Debian system: builds a small kernel from Debian's source, as packages of image and headers.
# Inputs in /tp2: series (7.3), label (debug), rust (y or n), and *.config, all merged onto allnoconfig.
# Output in /tp2/out: linux-image-*.deb, linux-headers-*.deb, release (what uname -r will say) and timings.
set -eu
series=$(cat /tp2/series)
label=$(cat /tp2/label)
rust=$(cat /tp2/rust)
start=$(date +%s)
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
mkdir -p /tp2/out

# With this line in a fragment, Clang compiles the kernel, and everything that is built for it later.
llvm=
if cat /tp2/*.config | grep -qx 'CONFIG_CC_IS_CLANG=y'; then
	llvm=LLVM=1
fi
set -- "linux-source-$series" bc bison cpio debhelper dpkg-dev flex gcc kmod libdw-dev libelf-dev libssl-dev make perl \
	python3 rsync xz-utils zstd
[ "$rust" = n ] || set -- "$@" rustc rust-src bindgen libclang-19-dev
[ -z "$llvm" ] || set -- "$@" clang lld llvm
apt-get install --yes --no-install-recommends "$@"

# The packages land beside the source.
work=$(mktemp -d /var/tmp/tp2-kernel-XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/linux"
tar -xJf "/usr/src/linux-source-$series.tar.xz" -C "$work/linux" --strip-components=1
cd "$work/linux"

# Whatever the environment says would get into the kernel's version, or choose another compiler.
unset MAKEFLAGS MFLAGS KBUILD_OUTPUT KERNELRELEASE LLVM CC
export KBUILD_BUILD_USER=tp2 KBUILD_BUILD_HOST=tp2 DEBFULLNAME=tp2 DEBEMAIL=tp2@localhost KDEB_CHANGELOG_DIST=trixie
set -- "LOCALVERSION=-tp2-$label" $llvm
cat /tp2/*.config >"$work/all.config"
make "$@" "KCONFIG_ALLCONFIG=$work/all.config" allnoconfig
make "$@" olddefconfig
[ "$rust" = n ] || make "$@" rustavailable

# Kconfig drops silently what does not exist or lacks something that it depends on.
grep -E '^(CONFIG_[A-Za-z0-9_]+=|# CONFIG_[A-Za-z0-9_]+ is not set$)' "$work/all.config" | while IFS= read -r line; do
	case $line in
		'# '*)
			option=${line#'# '}
			! grep -q "^${option%% *}=" .config || echo "$line"
			;;
		*) grep -qxF -e "$line" .config || echo "$line" ;;
	esac
done >"$work/lost"
if [ -s "$work/lost" ]; then
	echo "build.sh: Linux $series does not accept these lines of the fragments:" >&2
	head -n 10 "$work/lost" >&2
	exit 1
fi

# Nothing here is kept for long: fast compression.
export DPKG_DEB_COMPRESSOR_TYPE=zstd
make "$@" -j "$(nproc)" DPKG_FLAGS=-d bindeb-pkg
release=$(cat include/config/kernel.release)
headers=$(echo "$work/linux-headers-${release}"_*.deb)
image=$(echo "$work/linux-image-${release}"_*.deb)

# Ubuntu and Arch ship them in their headers; the packaging of upstream forgets them.
if [ "$rust" = y ]; then
	tree=$work/headers
	build_dir=usr/src/linux-headers-$release
	dpkg-deb -R "$headers" "$tree"
	for file in rust/*.rmeta rust/*.so scripts/target.json; do
		[ -e "$file" ] || continue
		[ ! -e "$tree/$build_dir/$file" ] || continue
		install -D -m 644 "$file" "$tree/$build_dir/$file"
		(cd "$tree" && md5sum "$build_dir/$file") >>"$tree/DEBIAN/md5sums"
	done
	for file in rust/libkernel.rmeta rust/libmacros.so scripts/target.json; do
		[ -s "$tree/$build_dir/$file" ] || {
			echo "build.sh: the build of Linux $series left no $file" >&2
			exit 1
		}
	done
	dpkg-deb --root-owner-group -b "$tree" "$headers"
fi

mv "$headers" "$image" /tp2/out/
echo "$release" >/tp2/out/release
echo "kernel_seconds=$(($(date +%s) - start))" >/tp2/out/timings
