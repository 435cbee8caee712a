#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# try.sh [--static] FILE [RUNNER]: runs a portable program where it has to run: in clean roots of
# Debian 11, 12 and 13 and in an image with nothing but the C library (--static: an empty one).
# RUNNER is the static emulator that a program of another architecture takes. Prints TAP.
# Needs root, debootstrap, buildah, openssl and python3.
set -u
unset SSL_CERT_FILE
cd "$(dirname "$0")/../.." || exit 1
work=${RELEASE_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/cuvet-release}
static='' alone=libc
if [ "$1" = --static ]; then
	static=yes alone="the program"
	shift
fi
file=$(realpath "$1") runner=${2:-}
version=$(cat VERSION)
scratch=$(mktemp -d "$work/try.XXXXXX")
count=0 failed=0 server=

finish() {
	[ -z "$server" ] || kill "$server"
	[ -z "${box:-}" ] || buildah rm "$box" >/dev/null
	rm -rf "$scratch"
}
trap finish EXIT

tap() { # name problem
	count=$((count + 1))
	if [ -z "$2" ]; then
		echo "ok $count - $1"
	else
		failed=$((failed + 1))
		echo "not ok $count - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

# says EXIT TEXT OUTPUT-AND-EXIT: empty when both are as they should be.
says() {
	[ "${3##*$'\n'}" = "$1" ] && [[ $3 == *"$2"* ]] || printf '%s\n' "$3"
}

# What the roots get: a pasted report, an image archive, the certificates of an own authority.
things() {
	mkdir "$scratch/things"
	cp docs/examples/paste.txt "$scratch/things/"
	mkdir -p "$scratch/image/etc"
	echo 'ID=debian' >"$scratch/image/etc/os-release"
	tar -C "$scratch/image" -c etc | xz >"$scratch/things/root.tar.xz"
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
		-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$scratch/key.pem" \
		-out "$scratch/things/ca.pem" 2>/dev/null
	python3 - "$scratch" <<-'END' &
		import http.server, ssl, sys
		s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
		c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		c.load_cert_chain(sys.argv[1] + "/things/ca.pem", sys.argv[1] + "/key.pem")
		s.socket = c.wrap_socket(s.socket, server_side=True)
		open(sys.argv[1] + "/port.new", "w").write(str(s.server_port))
		import os
		os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
		sys.stderr = open("/dev/null", "w")
		s.serve_forever()
	END
	server=$!
	for _ in $(seq 100); do
		[ -e "$scratch/port" ] && break
		sleep 0.1
	done
	url=https://127.0.0.1:$(cat "$scratch/port")/nothing-here
}

inside() { # arguments of cuvet, in the root $where
	shift
	# shellcheck disable=SC2086
	env -i ${SSL_CERT_FILE:+SSL_CERT_FILE="$SSL_CERT_FILE"} /usr/sbin/chroot "$where" \
		${runner:+/usr/bin/${runner##*/}} /usr/bin/cuvet "$@" </dev/null
}

# The questions, the same everywhere.
questions() { # name
	tap "$1: --version" "$(says 0 "cuvet $version" "$(inside cuvet --version 2>&1; echo $?)")"
	tap "$1: judges what is assumed" "$(says 1 gpu-too-new-for-build "$(inside cuvet check \
		--no-live --assume gpu='RTX 5090' --assume driver=580 --assume torch=2.6.0+cu124 \
		--assume python=3.12 2>&1; echo $?)")"
	tap "$1: judges this machine" "$(out=$(inside cuvet check --json 2>&1); rc=$?
		[[ $rc == [013] && $out == *'"verdict"'* ]] || echo "$rc $out")"
	tap "$1: reads a paste" "$(says 1 gpu-too-new-for-build \
		"$(inside cuvet triage /things/paste.txt 2>&1; echo $?)")"
	tap "$1: looks into a packed image" "$(out=$(inside cuvet check /things/root.tar.xz 2>&1)
		rc=$?; [[ $rc == [013] && $out == *debian* || $out == *Debian* ]] || echo "$rc $out")"
	tap "$1: an unknown authority is refused" "$(says 4 certificate \
		"$(inside cuvet data update --from "$url" 2>&1; echo $?)")"
	[ -z "$static" ] || tap "$1: prove says why not" \
		"$(says 4 'static build' "$(inside cuvet prove 2>&1; echo $?)")"
	tap "$1: SSL_CERT_FILE" "$(says 4 'answered 404' \
		"$(SSL_CERT_FILE=/things/ca.pem inside cuvet data update --from "$url" 2>&1
			echo $?)")"
}

usual_place() { # name place
	mkdir -p "$where/$(dirname "$2")"
	cp "$scratch/things/ca.pem" "$where/$2"
	tap "$1: certificates in /$2" "$(says 4 'answered 404' \
		"$(inside cuvet data update --from "$url" 2>&1; echo $?)")"
	rm "$where/$2"
}

install_into() { # root
	where=$1
	mkdir -p "$where/usr/bin"
	cp "$file" "$where/usr/bin/cuvet"
	cp -r "$scratch/things" "$where/"
	[ -z "$runner" ] || cp "$runner" "$where/usr/bin/"
}

# Nothing but the program and, unless it is static, the files of the C library, from a clean root
# (or, for another architecture, from the build root's cross libraries).
libc_alone() {
	box=$(buildah from scratch)
	install_into "$(buildah mount "$box")"
	if [ -z "$static" ] && [ -n "$runner" ]; then
		mkdir -p "$where/lib"
		cp -L "$work/root/usr/aarch64-linux-gnu/lib"/{ld-linux-aarch64.so.1,lib{c,m}.so.6} \
			"$work/root/usr/aarch64-linux-gnu/lib"/lib{dl.so.2,pthread.so.0} "$where/lib/"
	elif [ -z "$static" ]; then
		mkdir -p "$where/lib64" "$where/lib/x86_64-linux-gnu"
		cp -L "$scratch/bookworm/lib64/ld-linux-x86-64.so.2" "$where/lib64/"
		cp -L "$scratch/bookworm/lib/x86_64-linux-gnu"/lib{c.so.6,m.so.6,dl.so.2,pthread.so.0} \
			"$where/lib/x86_64-linux-gnu/"
	fi
	questions "an image with $alone alone"
	for p in etc/ssl/certs/ca-certificates.crt etc/pki/tls/certs/ca-bundle.crt \
		etc/ssl/ca-bundle.pem etc/ssl/cert.pem; do
		usual_place "image" $p
	done
}

things
if [ -z "$runner" ]; then
	for suite in bullseye bookworm trixie; do
		sh packaging/clean-root.sh $suite "$scratch/$suite" || exit 1
		install_into "$scratch/$suite"
		questions $suite
	done
fi
libc_alone
echo "1..$count"
[ $failed -eq 0 ]
