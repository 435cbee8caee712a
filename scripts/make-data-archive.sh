#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# make-data-archive.sh [--data DIR] [--unchecked] KEY OUT
#
# Packs the tables of DIR (data/compat) into the archive OUT and signs it: OUT.sig is the base64 of
# the Ed25519 signature over its bytes. KEY is the private key, as `openssl genpkey -algorithm
# ed25519` writes it. The tables are checked first (scripts/compat/check.py), but for tests
# --unchecked. Prints the date of the archive. docs/updating-data.md says more. Needs python3 and
# OpenSSL 3.
set -eu

usage() {
	echo "usage: scripts/make-data-archive.sh [--data DIR] [--unchecked] KEY OUT" >&2
	exit 2
}

root=$(cd "$(dirname "$0")/.." && pwd)
data=$root/data/compat checked=yes
while [ $# -gt 0 ]; do
	case $1 in
	--data)
		[ $# -ge 2 ] || usage
		data=$2
		shift 2
		;;
	--unchecked)
		checked=no
		shift
		;;
	-*) usage ;;
	*) break ;;
	esac
done
[ $# -eq 2 ] || usage
key=$1 out=$2

[ $checked = no ] || python3 -B "$root/scripts/compat/check.py" --data "$data" >&2
new=$(mktemp "$out.XXXXXX")
trap 'rm -f "$new" "$new.raw"' EXIT
python3 -B - "$data" "$new" <<'END'
import json
import pathlib
import sys

files = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
tables = {p.stem: p.read_text(encoding="utf-8") for p in files}
if not tables:
    sys.exit("make-data-archive.sh: no tables in " + sys.argv[1])
date = max(json.loads(text)["date"] for text in tables.values())
archive = {"schema": "cuvet.data-archive/1", "date": date, "tables": tables}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(archive, file, ensure_ascii=False, separators=(",", ":"))
    file.write("\n")
print(date)
END
openssl pkeyutl -sign -rawin -inkey "$key" -in "$new" -out "$new.raw"
openssl base64 -A -in "$new.raw" -out "$out.sig"
echo >>"$out.sig"
chmod 644 "$new"
mv "$new" "$out"
