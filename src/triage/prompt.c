/* SPDX-License-Identifier: Apache-2.0 */
/* The prompts of shells, interpreters and notebooks: which part of a line was typed. Knows nothing
 * of the lines around it. */
#include <ctype.h>
#include <string.h>

#include "base/attr.h"
#include "triage/text.h"

static const char *const programs[] = {
#define PROGRAM(name) name,
#include "triage/programs.def"
#undef PROGRAM
};

enum { PROGRAM_LONGEST = 23 };

static bool is_listed(struct view w)
{
	size_t lo = 0, hi = ARRAY_LEN(programs), mid;
	int r;

	if (w.n > PROGRAM_LONGEST)
		return false;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		r = strncmp(w.p, programs[mid], w.n);
		if (!r && !programs[mid][w.n])
			return true;
		if (r > 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

bool text_is_program(struct view v)
{
	struct view w, rest = v;

	if (!view_word(&rest, &w))
		return false;
	if (view_is(w, "sudo") && !view_word(&rest, &w))
		return false;
	return is_listed(w) || view_starts(w, "./") || view_ends(w, ".py");
}

/* "user@host:~/x$ cmd", "[user@host x]$ cmd", "root@1a2b:/# cmd", "(env) u@h:~$ cmd". */
static struct view shell_prompt(struct view v)
{
	ptrdiff_t at = view_chr(v, '@');
	size_t i;

	if (at <= 0 || at > 60)
		return (struct view){ 0 };
	for (i = (size_t)at + 1; i < v.n && i < 160; i++) {
		char c = v.p[i];

		if ((c == '$' || c == '#' || c == '%') && i + 1 < v.n && v.p[i + 1] == ' ' &&
		    (memchr(v.p, ':', i) || memchr(v.p, '[', i) || memchr(v.p, ']', i)))
			return view_trim(view_skip(v, i + 1));
		if (c == '=' || c == '"' || c == ',')
			break;
	}
	return (struct view){ 0 };
}

/* "pop-os:~$ cmd", "larry ~ # cmd", "[nix-shell:~]$ cmd", "~ > cmd". */
static struct view hostless_prompt(struct view v)
{
	size_t i = 0, start;

	if (v.p[0] == '[') {
		ptrdiff_t end = view_chr(v, ']');

		i = end > 1 && end < 60 ? (size_t)end + 1 : 0;
		return i && i + 2 < v.n && (v.p[i] == '$' || v.p[i] == '#') && v.p[i + 1] == ' '
			       ? view_trim(view_skip(v, i + 1))
			       : (struct view){ 0 };
	}
	while (i < v.n && i < 40 && (isalnum((unsigned char)v.p[i]) || strchr("._-", v.p[i])))
		i++;
	if (i && i < v.n && (v.p[i] == ':' || v.p[i] == ' '))
		i++;
	start = i;
	if (i >= v.n || (v.p[i] != '~' && v.p[i] != '/'))
		return (struct view){ 0 };
	while (i < v.n && i < 80 && !strchr(" $#%>", v.p[i]))
		i++;
	while (i < v.n && v.p[i] == ' ')
		i++;
	/* A path and a sign may stand in any sentence; a program behind them does not. */
	if (i <= start || i + 2 >= v.n || !strchr("$#%>", v.p[i]) || v.p[i + 1] != ' ' ||
	    !text_is_program(view_skip(v, i + 2)))
		return (struct view){ 0 };
	return view_trim(view_skip(v, i + 1));
}

/* "PS C:\x> cmd", "C:\x> cmd", "(env) C:\x> cmd". */
static struct view windows_prompt(struct view v)
{
	ptrdiff_t drive = view_find(v, ":\\"), end = view_chr(v, '>');

	if (drive < 1 || end < drive || drive > 40 || end > 200)
		return (struct view){ 0 };
	if (drive > 1 && !view_starts(v, "PS ") && v.p[0] != '(')
		return (struct view){ 0 };
	return view_trim(view_skip(v, (size_t)end + 1));
}

/* "In [3]: x". */
static struct view notebook_prompt(struct view v)
{
	ptrdiff_t end = view_find(v, "]:");

	if (!view_starts(v, "In [") || end < 0 || end > 10)
		return (struct view){ 0 };
	return view_trim(view_skip(v, (size_t)end + 2));
}

/* "➜  ~ cmd", "➜  folder git:(main) ✗ cmd" of zsh; "me@box ~/x> cmd" of fish. */
static struct view arrow_prompt(struct view v)
{
	struct view rest, word;
	ptrdiff_t at;

	if (view_starts(v, "\xe2\x9e\x9c ")) {
		rest = view_skip(v, 3);
		if (!view_word(&rest, &word))
			return (struct view){ 0 };
		rest = view_trim(rest);
		if (view_starts(rest, "git:("))
			view_word(&rest, &word);
		rest = view_trim(rest);
		if (view_starts(rest, "\xe2\x9c\x97"))
			rest = view_skip(rest, 3);
		return view_trim(rest);
	}
	at = view_find(v, "> ");
	if (at < 4 || at > 80 || view_chr(v, '@') < 1 || view_chr(v, '@') > at)
		return (struct view){ 0 };
	rest = (struct view){ v.p, (size_t)at };
	if (view_word(&rest, &word) && view_chr(word, '@') > 0 && view_word(&rest, &word) &&
	    strchr("~/", word.p[0]) && !view_trim(rest).n)
		return view_trim(view_skip(v, (size_t)at + 2));
	return (struct view){ 0 };
}

/* "host:~$ ls", "gpu01:/data# ls". */
static struct view path_prompt(struct view v)
{
	size_t i = 0;

	while (i < v.n && i < 40 && (isalnum((unsigned char)v.p[i]) || v.p[i] == '-'))
		i++;
	if (!i || i + 3 >= v.n || v.p[i] != ':' || (v.p[i + 1] != '~' && v.p[i + 1] != '/'))
		return (struct view){ 0 };
	while (i < v.n && i < 120 && v.p[i] != ' ' && v.p[i] != '$' && v.p[i] != '#')
		i++;
	if (i + 2 >= v.n || v.p[i] == ' ' || v.p[i + 1] != ' ')
		return (struct view){ 0 };
	return view_trim(view_skip(v, i + 1));
}

/* "host# ls", "node1$ ls", "bash-5.1$ ls". */
static struct view short_prompt(struct view v)
{
	bool shell = view_starts(v, "sh-") || view_starts(v, "bash-");
	size_t i;

	for (i = 0; i < v.n && i < 30 &&
		    (isalnum((unsigned char)v.p[i]) || v.p[i] == '-' || (shell && v.p[i] == '.'));
	     i++)
		;
	if (i && i + 2 < v.n && (v.p[i] == '#' || v.p[i] == '$') && v.p[i + 1] == ' ' &&
	    text_is_program(view_skip(v, i + 2)))
		return view_trim(view_skip(v, i + 2));
	return (struct view){ 0 };
}

/* "# in container: ls /dev", "Singularity> ls", "(base) $ ls". */
static struct view odd_prompt(struct view v)
{
	ptrdiff_t at;
	struct view rest;

	if (v.p[0] == '(' && (at = view_find(v, ") ")) > 0 && at < 40) {
		rest = view_trim(view_skip(v, (size_t)at + 2));
		if (rest.n > 1 && (rest.p[0] == '$' || rest.p[0] == '#') && rest.p[1] == ' ')
			return view_trim(view_skip(rest, 1));
		if (rest.n > 4 && view_starts(rest, ">>> "))
			return view_trim(view_skip(rest, 4));
		if (text_is_program(rest))
			return rest;
	}
	if ((at = view_find(v, "> ")) > 2 && at < 16 && isupper((unsigned char)v.p[0]) &&
	    !memchr(v.p, ' ', (size_t)at))
		return view_trim(view_skip(v, (size_t)at + 2));
	if (v.p[0] == '#') {
		rest = view_trim(view_skip(v, 1));
		at = view_find(rest, ": ");
		if (text_is_program(rest))
			return rest;
		if (at > 0 && at < 60 && text_is_program(view_skip(rest, (size_t)at + 2)))
			return view_trim(view_skip(rest, (size_t)at + 2));
	}
	return (struct view){ 0 };
}

static struct view prompt(struct view v)
{
	static const char *const simple[] = { "$ ", ">>> ", "julia> ",	     "PS> ", "% ",
					      "! ", "!",    "\xe2\x9d\xaf ", "+ " };
	struct view cmd;
	size_t i;

	if (v.n < 2)
		return (struct view){ 0 };
	for (i = 0; i < ARRAY_LEN(simple); i++) {
		if (v.p[0] != simple[i][0] || !view_starts(v, simple[i]))
			continue;
		cmd = view_trim(view_skip(v, strlen(simple[i])));
		/* "!" and "+" begin other things too. */
		if (i <= 3 || text_is_program(cmd))
			return cmd;
	}
	if (view_starts(v, ">>>") && v.n > 3 && isalpha((unsigned char)v.p[3]))
		return view_skip(v, 3);
	cmd = notebook_prompt(v);
	if (!cmd.n)
		cmd = arrow_prompt(v);
	if (!cmd.n)
		cmd = windows_prompt(v);
	if (!cmd.n)
		cmd = shell_prompt(v);
	if (!cmd.n)
		cmd = hostless_prompt(v);
	if (!cmd.n)
		cmd = odd_prompt(v);
	if (!cmd.n)
		cmd = path_prompt(v);
	if (!cmd.n)
		cmd = short_prompt(v);
	return cmd;
}

struct view text_prompt(struct view v)
{
	enum { LOOK = 4000 };
	struct view cmd = prompt(v.n > LOOK ? (struct view){ .p = v.p, .n = LOOK } : v);

	/* Of an endless line the beginning tells it. */
	return v.n > LOOK && cmd.n ? view_skip(v, (size_t)(cmd.p - v.p)) : cmd;
}
