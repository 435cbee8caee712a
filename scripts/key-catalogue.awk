# SPDX-License-Identifier: Apache-2.0
# From a .po file (msgattrib's output) the same with the key of each message (lang_key() in
# src/base/lang.c) in the place of its English, which stands in the program once already.
# To be run with LC_ALL=C: it counts bytes. Products stay below 2^53, so that any awk has them exactly.

function raw(s,   out, c, i) {
	out = ""
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "\\") {
			c = substr(s, ++i, 1)
			if (c == "n")
				c = "\n"
			else if (c == "t")
				c = "\t"
			else if (c != "\"" && c != "\\") {
				print "an escape that is not known: " s >"/dev/stderr"
				bad = 1
				exit
			}
		}
		out = out c
	}
	return out
}

function digits(v,   s, i) {
	s = ""
	for (i = 0; i < 6; i++) {
		s = s substr(alphabet, v % 64 + 1, 1)
		v = int(v / 64)
	}
	return s
}

function key(s,   a, b, c, i) {
	a = b = 1
	for (i = 1; i <= length(s); i++) {
		c = byte[substr(s, i, 1)]
		a = (a * 257 + c) % 2147483647
		b = (b * 16807 + c) % 2147483629
	}
	return digits(a) digits(b)
}

function flush(   k) {
	if (text == "")
		return
	k = ""
	if (id != "") {
		k = (id ~ /^\\n/ ? "\\n" : "") key(raw(id)) (id ~ /\\n$/ ? "\\n" : "")
		if (k in seen && seen[k] != id) {
			print "two messages have one key: " id >"/dev/stderr"
			bad = 1
			exit
		}
		seen[k] = id
	}
	printf "msgid \"%s\"\nmsgstr %s\n", k, text
	id = text = at = ""
}

BEGIN {
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+_"
	for (i = 1; i < 256; i++)
		byte[sprintf("%c", i)] = i
}

/^msgid "/ { flush(); at = "id"; id = substr($0, 8, length($0) - 8); next }
/^msgid_plural "/ { at = ""; next } # known by its first half
/^msgstr(\[0\])? "/ { at = "text"; text = substr($0, index($0, "\"")); next }
/^msgstr\[/ { at = ""; next }
/^msgctxt/ { print "contexts are not known here: " $0 >"/dev/stderr"; bad = 1; exit }
/^"/ {
	if (at == "id")
		id = id substr($0, 2, length($0) - 2)
	else if (at == "text")
		text = text "\n" $0
}

END {
	if (!bad)
		flush()
	exit bad
}
