# SPDX-License-Identifier: GPL-2.0-only
# Runs in the chroot of a system whose DKMS has built the Rust implementation: breaks one thing at a time and looks at what
# dkms-build, rust-probe and tp2-rust-metadata make of it. One line a case in /tp2/out/results: ok or FAIL, name, what was said.
set -eu
kernel=$(cat /tp2/kernel)
headers=/lib/modules/$kernel/build
metadata=/var/lib/tp2/rust-metadata/$kernel
kept_log=/var/lib/tp2/rust-build-$kernel.log
sources=/tmp/tp2-sources
cp -a /usr/src/tp2_p2pdma-*/ $sources
touch /tp2/out/results

# Usage: verdict NAME SAID CONDITION...: the case passes if the command CONDITION succeeds.
verdict() {
	case=$1
	said=$2
	shift 2
	if "$@"; then
		echo "ok   $case: $said"
	else
		echo "FAIL $case: $said"
		tail -n 20 /tmp/build.log | sed 's/^/     /'
	fi >>/tp2/out/results
}

# One sentence of our own, and nothing of kbuild's before it.
says() {
	[ "$(printf '%s\n' "$said" | grep -c .)" -eq 1 ] && printf '%s\n' "$said" | grep -q -e "$1"
}

run_build() {
	status=0
	(cd / && "$sources/dkms-build" "$kernel" "$headers" "$@") >/tmp/build.log 2>&1 || status=$?
	ko=$sources/rust-kmod/tp2_p2pdma.ko
}

# Usage: falls_back NAME TEXT: with TP2_IMPL=auto C is built and TEXT is its reason, in the log and in the module; with
# TP2_IMPL=rust nothing is built and TEXT is the error.
falls_back() {
	name=$1
	text=$2
	run_build
	said=$(sed -n 's/^dkms-build: building the C implementation: //p' /tmp/build.log)
	built() {
		[ "$status" -eq 0 ] && says "$text" && [ "$(modinfo -F implementation "$ko")" = c ] &&
			modinfo -F implementation_reason "$ko" | grep -q -e "$text"
	}
	verdict "$name, auto" "$said" built
	export TP2_IMPL=rust
	run_build
	unset TP2_IMPL
	said=$(sed -n 's/^dkms-build: \(TP2_IMPL=rust was asked for, but .*\)/\1/p' /tmp/build.log)
	refused() {
		[ "$status" -eq 1 ] && says "$text" && [ ! -e "$ko" ]
	}
	verdict "$name, TP2_IMPL=rust" "$said" refused
}

# Usage: refuses NAME TEXT ARGUMENT...: nothing is built, and the one sentence says TEXT.
refuses() {
	name=$1
	text=$2
	shift 2
	run_build "$@"
	said=$(grep '^dkms-build: ' /tmp/build.log || :)
	nothing_built() {
		[ "$status" -eq 1 ] && says "$text" && [ ! -e "$ko" ]
	}
	verdict "$name" "$said" nothing_built
}

# By another beginning of the name: libraries are looked for by theirs.
hidden() {
	echo "${1%/*}/hidden-${1##*/}"
}

hide() {
	for file; do
		mv "$file" "$(hidden "$file")"
	done
}

# Usage: shorten BYTES FILE
shorten() {
	hide "$2"
	whole=$(hidden "$2")
	head -c "$1" "$whole" >"$2"
}

unhide() {
	for file; do
		rm -f "$file"
		mv "$(hidden "$file")" "$file"
	done
}

# Nothing broken, first: Rust.
run_build
is_rust() {
	[ "$status" -eq 0 ] && [ "$(modinfo -F implementation "$ko")" = rust ]
}
verdict "nothing broken" "$(grep '^dkms-build: built' /tmp/build.log)" is_rust

# The tools.
rustc=$(readlink -f /usr/bin/rustc)
hide "$rustc"
printf '#!/bin/sh\necho "rustc 1.60.0 (7737e0b5c 2022-04-04)"\n' >"$rustc"
chmod 755 "$rustc"
falls_back "wrong rustc" "needs 'rustc .*' but .* is 'rustc 1.60.0"
rm "$rustc"
falls_back "no rustc" "rustc was not found"
unhide "$rustc"
libclang=$(find /usr/lib -name 'libclang*.so*' ! -type l)
# shellcheck disable=SC2086 # a list
hide $libclang
falls_back "no libclang" "cannot read a header, which is mostly for want of libclang"
# shellcheck disable=SC2086
unhide $libclang

# The metadata.
hide "$metadata/rust/libcore.rmeta"
falls_back "a missing rmeta" "has no rust/libcore.rmeta"
unhide "$metadata/rust/libcore.rmeta"
shorten 8 "$metadata/rust/libcore.rmeta"
falls_back "a truncated libcore.rmeta" "libcore.rmeta is damaged"
unhide "$metadata/rust/libcore.rmeta"
shorten 5000 "$metadata/rust/libkernel.rmeta"
falls_back "a truncated libkernel.rmeta, past the probe" "the Rust build failed: see $kept_log"
verdict "the log of the failed Rust build is kept" "$(grep -m1 -e '^error' "$kept_log" || echo none)" grep -q libkernel "$kept_log"
unhide "$metadata/rust/libkernel.rmeta"
hide "$metadata/tp2-fingerprint"
echo "1 2" >"$metadata/tp2-fingerprint"
falls_back "metadata of another build of the kernel" "was made for another build of kernel"
unhide "$metadata/tp2-fingerprint"
hide "$metadata"
falls_back "no metadata" "has no rust/libcore.rmeta, which external Rust modules need"
echo RUST_METADATA=auto >>/etc/tp2/build.conf
falls_back "no metadata, RUST_METADATA=auto, no kernel source" "could not be rebuilt: .*linux-source-.* is not there"
sed -i '/^RUST_METADATA=auto$/d' /etc/tp2/build.conf
unhide "$metadata"

# The sources and the call.
chmod -R a+rX $sources
status=0
runuser -u nobody -- $sources/dkms-build "$kernel" "$headers" >/tmp/build.log 2>&1 || status=$?
said=$(cat /tmp/build.log)
read_only() {
	[ "$status" -eq 1 ] && says "cannot be written to"
}
verdict "a source tree that cannot be written" "$said" read_only
mv $sources "/tmp/tp2 sources"
sources="/tmp/tp2 sources"
refuses "blanks in the path" "blanks or colons"
mv "$sources" /tmp/tp2-sources
sources=/tmp/tp2-sources
refuses "LLVM=1 without clang" "the compiler clang .* was not found" LLVM=1
refuses "an unknown argument" "unknown argument 'V=1'" V=1
TP2_IMPL=ada
export TP2_IMPL
refuses "an unknown implementation" "TP2_IMPL=ada is not known"
unset TP2_IMPL
echo RUST_METADATA=maybe >>/etc/tp2/build.conf
refuses "an unknown RUST_METADATA" "RUST_METADATA=maybe in .* is not known"
sed -i '/^RUST_METADATA=maybe$/d' /etc/tp2/build.conf

# Out of the source tree, which kbuild calls MO=.
for impl in rust c; do
	dir=$headers
	[ $impl = c ] || dir=$metadata
	out=/tmp/out-$impl
	mkdir $out
	make -C "$dir" M=$sources/rust-kmod clean >/dev/null
	status=0
	make -C "$dir" M=$sources/rust-kmod MO=$out TP2_IMPL=$impl TP2_IMPL_REASON="it's \"free\" text" modules >/tmp/build.log 2>&1 ||
		status=$?
	in_place() {
		[ "$status" -eq 0 ] && [ "$(modinfo -F implementation "$out/tp2_p2pdma.ko")" = "$impl" ] &&
			[ "$(modinfo -F implementation_reason "$out/tp2_p2pdma.ko")" = "it's \"free\" text" ] &&
			[ -z "$(find $sources/rust-kmod -name '*.o' -o -name '*_generated.*')" ]
	}
	verdict "MO= with $impl" "$(tail -n 1 /tmp/build.log)" in_place
done

# The tool that rebuilds the metadata. It finds them in order first, so they have to be away.
hide "$metadata"
refuses_metadata() {
	name=$1
	text=$2
	shift 2
	status=0
	tp2-rust-metadata "$@" >/tmp/build.log 2>&1 || status=$?
	said=$(grep '^tp2-rust-metadata: ' /tmp/build.log || :)
	nothing_left() {
		[ "$status" -eq 1 ] && says "$text" && [ ! -e "$metadata" ] && [ -z "$(find /var/lib/tp2/rust-metadata -name '.work-*')" ]
	}
	verdict "tp2-rust-metadata: $name" "$said" nothing_left
}
refuses_metadata "no kernel source" "linux-source-.* is not there: install" build "$kernel"
refuses_metadata "missing tools" "not found: .*flex.*bison.*; install the packages" build "$kernel" --source /
for tool in flex bison bc; do
	ln -s /bin/false /usr/bin/$tool
done
mkdir -p /usr/include/openssl
touch /usr/include/gelf.h /usr/include/openssl/evp.h
refuses_metadata "no source of Rust's core library" "install rust-src" build "$kernel" --source /
library=$(rustc --print sysroot)/lib/rustlib/src/rust/library/core/src
mkdir -p "$library"
touch "$library/lib.rs"
mkdir /tmp/other
printf 'VERSION = 5\nPATCHLEVEL = 4\nSUBLEVEL = 0\n' >/tmp/other/Makefile
refuses_metadata "the source of another version" "is Linux 5.4.0, not the source of kernel" build "$kernel" --source /tmp/other
touch /tmp/other/.config
refuses_metadata "a source that was built in" "has been built in" build "$kernel" --source /tmp/other
refuses_metadata "a kernel that is not there" "build files of kernel 1.2.3 are not at" build 1.2.3
refuses_metadata "nothing to remove" "there is no /var/lib/tp2/rust-metadata/1.2.3" remove 1.2.3
unhide "$metadata"
