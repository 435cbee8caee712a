#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The quick part of a release (packaging/release.sh does the rest): the source tarball holds what it
# should and the same bytes each time, the version stands in one place, the checks of the portable
# program see what they are for.
. "$(dirname "$0")/tap.sh"

version=$(cat VERSION)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

tap "VERSION is a semantic version, and NEWS.md begins with it" \
	"$(grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' VERSION || cat VERSION
	[ "$(sed -n 's/^## //p' NEWS.md | head -n 1)" = "$version" ] || grep -m1 '^## ' NEWS.md)"
tap "packaging takes the version from VERSION" "$(
	grep -rnF --exclude=deb.sh "$version" packaging/ | grep -v '/portable/'
	mkdir "$scratch/filled"
	cp packaging/cuvet.spec packaging/PKGBUILD packaging/cuvet.rb packaging/cuvet.nix \
		packaging/conda/meta.yaml packaging/debian/control packaging/debian/changelog \
		"$scratch/filled/"
	(cd "$scratch/filled" && TARBALL=/dev/null sh "$OLDPWD/packaging/fill.sh" ./*)
	if command -v ruby >/dev/null; then
		said=$(ruby -c "$scratch/filled/cuvet.rb" 2>&1) || echo "$said"
	fi
	if command -v nix-instantiate >/dev/null; then
		said=$(nix-instantiate --parse "$scratch/filled/cuvet.nix" 2>&1) || echo "$said"
	fi
	bash -n "$scratch/filled/PKGBUILD" 2>&1
	grep -n '@[A-Z_0-9]*@' "$scratch"/filled/*
	grep -qx "Version: *$version" "$scratch/filled/cuvet.spec" || echo "cuvet.spec"
	grep -qx "pkgver=$version" "$scratch/filled/PKGBUILD" || echo "PKGBUILD"
	grep -q "^cuvet ($version-1) " "$scratch/filled/changelog" || echo "debian/changelog")"

# dash stops at the first array, and no test runs what is heavy.
tap "a script for bash is not run by sh" "$(
	grep -rnoE --include={Makefile,run,rules} --include="*.sh" --include="*.md" \
		'(^|[^a-z])sh [^ ]*(packaging|scripts)/[a-z/-]+\.sh' \
		Makefile packaging scripts tests docs README.md .ci | while IFS= read -r said; do
		script=$(printf '%s\n' "$said" | grep -oE '(packaging|scripts)/[a-z/-]+\.sh$')
		[ ! -f "$script" ] || ! head -n 1 "$script" | grep -q bash || echo "$said"
	done)"

# -------- the source tarball

if git rev-parse --git-dir >/dev/null 2>&1; then
	first=$(sh packaging/dist.sh "$scratch/first")
	tap "the tarball is what git knows, no more and no less" "$(diff \
		<(git ls-files | sort) <(tar -tzf "$first" | sed "s,^cuvet-$version/,," | sort))"
	tar -xzf "$first" -C "$scratch"
	tree=$scratch/cuvet-$version
	again=$(sh "$tree/packaging/dist.sh" "$scratch/again")
	tap "its own tree, without git, gives the same bytes" "$(cmp "$first" "$again" 2>&1)"
	tap "modes, owner and date are the release's" "$(tar -tvzf "$first" --full-time |
		grep -vE '^-rw(-r--r--|xr-xr-x) 0/0 ' | head -n 3
		tar -tvzf "$first" --full-time | awk '{ print $4, $5 }' | sort -u | sed 1d)"
	echo '-----BEGIN PRIVATE KEY-----' >"$tree/data/keys/oops.key"
	tap "a private key is refused" "$(sh "$tree/packaging/dist.sh" "$scratch/bad" \
		>/dev/null 2>&1 && echo "it was packed")"
fi

# -------- the portable programs, as far as it can be seen without building them

# Functions that musl does not have (the static program), or that glibc 2.28 did not have yet.
absent='renameat2|preadv2|pwritev2|sigabbrev_np|sigdescr_np|strerrorname_np|strerrordesc_np|gettid'
absent+='|close_range|closefrom|pidfd_[a-z]*|strlcpy|strlcat|mallinfo2?|execveat|twalk_r'
absent+='|__isoc23_[a-z]*|arc4random[a-z_]*'
tap "no function that an older glibc or musl lacks" "$(
	[ -e build/libcuvet.a ] || echo "build/libcuvet.a: not built"
	nm -A -u build/libcuvet.a 2>/dev/null | grep -E " U ($absent)(@.*)?\$")"

if command -v readelf >/dev/null && [ -x build/cuvet ]; then
	said=$(sh packaging/check-symbols.sh -m 2.2.4 build/cuvet 2>&1)
	tap "a symbol of too new a glibc fails the build, and is named" \
		"$([ $? -eq 1 ] && [[ $said == *'at most GLIBC_2.2.4 is allowed: '*@GLIBC_* ]] ||
			echo "$said")"
	said=$(sh packaging/check-symbols.sh -s build/cuvet 2>&1)
	tap "a program that is not static is seen" \
		"$([ $? -eq 1 ] && [[ $said == *'has a loader'* ]] || echo "$said")"
	echo 'int main(void) { return 0; }' | cc -x c - -o "$scratch/small" 2>/dev/null
	tap "one that needs libc alone passes" \
		"$(sh packaging/check-symbols.sh -m 9.9 "$scratch/small" 2>&1)"
	echo 'int main(void) { return 0; }' |
		cc -x c - -o "$scratch/other" -Wl,--no-as-needed -lresolv 2>/dev/null
	said=$(sh packaging/check-symbols.sh -m 9.9 "$scratch/other" 2>&1)
	tap "another library is refused" "$([[ $said == *'needs libresolv.so.2'* ]] || echo "$said")"
fi

if command -v python3 >/dev/null; then
	mkdir "$scratch/give"
	awk '!/^#/ { print $1, "1.0-1", "00", $1 ".dsc" }' packaging/portable/sources \
		>"$scratch/give/.sources"
	echo program >"$scratch/give/cuvet-x86_64"
	export SOURCE_DATE_EPOCH=1
	tap "the SBOM names every source and the program, the same each time" "$(
		python3 packaging/portable/sbom.py "$scratch/give" >"$scratch/a.json" 2>&1
		python3 packaging/portable/sbom.py "$scratch/give" | cmp - "$scratch/a.json"
		python3 - "$scratch/a.json" <<-'END' 2>&1
			import json, sys
			d = json.load(open(sys.argv[1]))
			names = {p["name"] for p in d["packages"]}
			lines = open("packaging/portable/sources").read().splitlines()
			wanted = {l.split()[0] for l in lines if not l.startswith("#")} | {"cuvet"}
			assert names == wanted, names ^ wanted
			assert [f["fileName"] for f in d["files"]] == ["./cuvet-x86_64"], d["files"]
			assert d["spdxVersion"] == "SPDX-2.3"
		END
	)"
fi
tap_end
