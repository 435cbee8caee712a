#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# inside.sh sources|libraries|program [TARGET [FOLDER]]: runs inside the root that build.sh made.
#   sources               fetch the Debian source packages of packaging/portable/sources, once
#   libraries TARGET      build them as archives into /build/TARGET, once
#   program TARGET DIR    build the source tree DIR against them; leaves DIR/build/portable/NAME
# TARGET is x86_64, aarch64 (cross-built), or audit (x86_64, musl, nothing dynamic).
# shellcheck disable=SC2086 # lists of flags are to be split
set -eu

here=$(cd "$(dirname "$0")" && pwd)
src=/build/src
step=$1 target=${2:-}
jobs=${JOBS:-2}
prefix=/build/$target

say() {
	echo "portable: $*"
}

# The newest version that the mirror really has: a list may name one that it does not.
fetch_one() { # package
	for v in $(apt-cache showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -Vru); do
		if apt-get source -qq --only-source "$1=$v" </dev/null >/dev/null \
			2>"$src/.log"; then
			set -- "$1" "$v" "$1"-*/ "$1"_*.dsc
			mv "$3" "$src/$1"
			echo "$1 $2 $(sha256sum "$4" | cut -d' ' -f1) $4" >>"$src/versions.new"
			say "source: $1 $2"
			return 0
		fi
	done
	cat "$src/.log" >&2
	return 1
}

sources() {
	[ ! -e "$src/versions" ] || return 0
	rm -rf "$src"
	mkdir -p "$src/.get"
	: >"$src/versions.new"
	sed -n 's/^\([a-z0-9-]*\) .*/\1/p' "$here/sources" | while read -r p; do
		rm -rf "$src/.get" && mkdir "$src/.get"
		(cd "$src/.get" && fetch_one "$p")
	done
	rm -rf "$src/.get" "$src/.log"
	mv "$src/versions.new" "$src/versions"
}

# What a target is compiled with. No symbol of a newer libc than the root's can get in; which ones
# did is looked at afterwards.
tools() {
	flags="-O2 -fPIC -fno-common -fvisibility=hidden -ffunction-sections -fdata-sections"
	flags="$flags -fstack-protector-strong -ffile-prefix-map=/build=."
	host='' cmake_cross='' after=''
	case $target in
	x86_64) CC=gcc openssl=linux-x86_64 ;;
	aarch64)
		CC=aarch64-linux-gnu-gcc openssl=linux-aarch64 host=--host=aarch64-linux-gnu
		AR=aarch64-linux-gnu-ar RANLIB=aarch64-linux-gnu-ranlib
		OBJCOPY=aarch64-linux-gnu-objcopy
		cmake_cross="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64"
		;;
	audit)
		# musl has no headers of the kernel; those of the root are the same.
		CC=musl-gcc openssl=linux-x86_64 host=--host=x86_64-linux-musl
		after=/build/kernel-headers
		mkdir -p $after
		ln -sfn /usr/include/linux $after/linux
		ln -sfn /usr/include/asm-generic $after/asm-generic
		ln -sfn /usr/include/x86_64-linux-gnu/asm $after/asm
		flags="$flags -idirafter $after"
		;;
	*)
		echo "inside.sh: no such target: $target" >&2
		exit 2
		;;
	esac
	[ "$target" = audit ] || flags="$flags -D_FORTIFY_SOURCE=2"
	AR=${AR:-ar} RANLIB=${RANLIB:-ranlib} OBJCOPY=${OBJCOPY:-objcopy}
	export CC AR RANLIB
}

# copy PACKAGE: a fresh tree of its sources, so that targets do not meet.
copy() {
	rm -rf "${work:?}/$1"
	cp -a "$src/$1" "$work/$1"
	cd "$work/$1"
}

with_cmake() { # package options...
	copy "$1"
	shift
	cmake -S . -B _build $cmake_cross -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$CC" \
		-DCMAKE_C_FLAGS="$flags" -DCMAKE_AR="$(command -v "$AR")" \
		-DCMAKE_RANLIB="$(command -v "$RANLIB")" -DCMAKE_INSTALL_PREFIX="$prefix" \
		-DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$prefix" \
		-DCMAKE_FIND_ROOT_PATH="$prefix" -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
		-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DBUILD_SHARED_LIBS=OFF "$@"
	make -C _build -j"$jobs" install
}

small() {
	copy cjson
	"$CC" $flags -c cJSON.c -o cJSON.o
	"$AR" rcs "$prefix/lib/libcjson.a" cJSON.o
	mkdir -p "$prefix/include/cjson"
	cp cJSON.h "$prefix/include/cjson/"

	copy libyaml
	# shellcheck disable=SC2046
	set -- $(sed -n 's/^set (YAML_VERSION_[MP][A-Z]* \([0-9]*\))/\1/p' CMakeLists.txt)
	for f in src/*.c; do
		"$CC" $flags -Iinclude -DYAML_VERSION_STRING="\"$1.$2.$3\"" \
			-DYAML_VERSION_MAJOR="$1" -DYAML_VERSION_MINOR="$2" \
			-DYAML_VERSION_PATCH="$3" -c "$f" -o "${f%.c}.o"
	done
	"$AR" rcs "$prefix/lib/libyaml.a" src/*.o
	cp include/yaml.h "$prefix/include/"

	copy zlib
	CFLAGS="$flags" ./configure --static --prefix="$prefix"
	make -j"$jobs" libz.a && make install

	copy bzip2
	make -j"$jobs" CC="$CC" AR="$AR" RANLIB="$RANLIB" libbz2.a \
		CFLAGS="$flags -D_FILE_OFFSET_BITS=64"
	cp libbz2.a "$prefix/lib/" && cp bzlib.h "$prefix/include/"

	copy libzstd
	make -C lib -j"$jobs" CC="$CC" AR="$AR" CFLAGS="$flags" PREFIX="$prefix" \
		ZSTD_LEGACY_SUPPORT=0 libzstd.a
	cp lib/libzstd.a "$prefix/lib/" && cp lib/*.h "$prefix/include/"

	copy xz-utils
	CFLAGS="$flags" ./configure $host --prefix="$prefix" --disable-dependency-tracking \
		--disable-shared --disable-xz --disable-xzdec --disable-lzmadec --disable-lzmainfo \
		--disable-scripts --disable-doc --disable-nls --disable-microlzma \
		--disable-lzip-decoder
	make -j"$jobs" && make install
}

# A TLS client with today's algorithms. It reads no openssl.cnf of the system it runs on: that one
# is written for another build. No DSO, no engine, nothing that loads code.
openssl_build() {
	copy openssl
	# AES-GCM for AVX-512 alone is 700 KiB, more than curl; the rest is faster than any disk.
	for f in crypto/modes/asm/aes-gcm-avx512.pl crypto/aes/asm/aesni-xts-avx512.pl; do
		# shellcheck disable=SC2016
		sed -i 's/^if (\$avx512vaes\(>0\)\{0,1\}) {/if (0) {/' $f
		grep -q '^if (0) {' $f
	done
	CC="$CC" ./Configure "$openssl" --prefix="$prefix" --libdir=lib --openssldir=/etc/ssl \
		no-shared no-module no-dso no-engine no-legacy no-autoload-config no-tests \
		no-docs no-apps no-afalgeng no-async no-cmp no-cms no-comp no-ct no-dtls \
		no-gost no-idea no-md4 no-mdc2 no-nextprotoneg no-ocb no-psk no-quic no-rc2 \
		no-rc4 no-rmd160 no-scrypt no-seed no-siphash no-siv no-sm2 no-sm3 no-sm4 \
		no-srp no-srtp no-ssl3 no-tls1 no-tls1_1 no-ts no-ui-console no-whirlpool \
		no-blake2 no-bf no-cast no-camellia no-aria no-des no-dsa no-ec2m no-rfc3779 \
		no-ml-dsa no-slh-dsa $flags -Os
	make -j"$jobs" build_libs
	make install_dev >/dev/null
}

# Nothing here unwinds a stack: no exceptions, no cancelled threads. The tables for it: 600 KiB.
no_unwinding() {
	for a in "$prefix"/lib/*.a; do
		"$OBJCOPY" -D -R .eh_frame -R .rela.eh_frame "$a"
	done
}

libraries() {
	tools
	[ ! -e "$prefix/.done" ] || return 0
	work=/build/work-$target
	rm -rf "$prefix" "$work"
	mkdir -p "$prefix/lib" "$prefix/include" "$work"
	SOURCE_DATE_EPOCH=0
	export SOURCE_DATE_EPOCH
	small
	openssl_build
	with_cmake pcre2 -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF \
		-DPCRE2_SUPPORT_JIT=OFF -DPCRE2_SUPPORT_LIBBZ2=OFF -DPCRE2_SUPPORT_LIBZ=OFF \
		-DPCRE2_SUPPORT_LIBEDIT=OFF \
		-DPCRE2_SUPPORT_LIBREADLINE=OFF
	flags="$flags -Os"
	with_cmake curl -DBUILD_CURL_EXE=OFF -DBUILD_STATIC_LIBS=ON -DHTTP_ONLY=ON \
		-DCURL_USE_OPENSSL=ON -DCURL_USE_LIBPSL=OFF -DCURL_USE_LIBSSH2=OFF \
		-DCURL_USE_LIBSSH=OFF \
		-DCURL_USE_GSSAPI=OFF -DUSE_LIBIDN2=OFF -DUSE_NGHTTP2=OFF -DCURL_BROTLI=OFF \
		-DCURL_ZSTD=OFF -DCURL_ZLIB=OFF -DCURL_DISABLE_LDAP=ON -DENABLE_UNIX_SOCKETS=OFF \
		-DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none -DCURL_DISABLE_NTLM=ON \
		-DCURL_DISABLE_ALTSVC=ON -DCURL_DISABLE_HSTS=ON -DCURL_DISABLE_DOH=ON \
		-DCURL_DISABLE_WEBSOCKETS=ON -DCURL_DISABLE_AWS=ON -DCURL_DISABLE_COOKIES=ON \
		-DENABLE_CURL_MANUAL=OFF -DBUILD_LIBCURL_DOCS=OFF -DBUILD_MISC_DOCS=OFF \
		-DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF -DENABLE_THREADED_RESOLVER=ON \
		-DOPENSSL_ROOT_DIR="$prefix" -DOPENSSL_USE_STATIC_LIBS=ON
	with_cmake libarchive -DENABLE_OPENSSL=OFF -DENABLE_MBEDTLS=OFF -DENABLE_NETTLE=OFF \
		-DENABLE_LIBB2=OFF -DENABLE_LZ4=OFF -DENABLE_LZO=OFF -DENABLE_EXPAT=OFF \
		-DENABLE_LIBXML2=OFF -DENABLE_PCREPOSIX=OFF -DENABLE_PCRE2POSIX=OFF \
		-DENABLE_TAR=OFF -DENABLE_CPIO=OFF -DENABLE_CAT=OFF -DENABLE_UNZIP=OFF \
		-DENABLE_TEST=OFF \
		-DENABLE_ACL=OFF -DENABLE_XATTR=OFF -DENABLE_WERROR=OFF -DENABLE_INSTALL=ON
	rm -rf "$work"
	no_unwinding
	: >"$prefix/.done"
}

# The linker takes of each archive what is used, and of that what is reached.
program() { # folder
	tools
	cd "$1"
	out=build/portable
	mkdir -p $out
	l=$prefix/lib
	libs="$l/libcurl.a $l/libssl.a $l/libcrypto.a $l/libarchive.a $l/liblzma.a $l/libzstd.a \
		$l/libbz2.a $l/libz.a $l/libpcre2-8.a $l/libyaml.a $l/libcjson.a"
	name=cuvet-$target static=''
	defines="-I$prefix/include -DCUVET_LINKED -DCURL_STATICLIB -DPCRE2_STATIC"
	if [ "$target" = audit ]; then
		# The specs of musl-gcc know no static PIE, so that this one has fixed addresses.
		name=cuvet-audit-x86_64
		static="-static -no-pie"
		defines="$defines -DCUVET_STATIC"
		libs="$libs -lm"
	else
		libs="$libs -ldl -lm -lpthread"
	fi
	map="-ffile-prefix-map=$PWD=. -ffunction-sections -fdata-sections"
	# Only the library unwinds its stack (src/api/guard.c): 180 KiB of tables less.
	map="$map -fno-exceptions -fno-unwind-tables -fno-asynchronous-unwind-tables"
	# For size: a short run takes the same, and 64 MiB of text a tenth more.
	make --no-print-directory -j"$jobs" build/cuvet CC="$CC" AR="$AR" CFLAGS="-Os $map" \
		CPPFLAGS="$defines ${after:+-idirafter $after}" \
		LDFLAGS="-Wl,--gc-sections,--no-eh-frame-hdr,--build-id=sha1 -s $static" \
		LIBS="$libs" \
		${static:+HARDENING_LD=-Wl,-z,relro,-z,now,-z,noexecstack}
	cp build/cuvet "$out/$name"
}

case $step in
sources) sources ;;
libraries) libraries ;;
program) program "$3" ;;
*)
	sed -n '4,8s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
