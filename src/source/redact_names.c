/* SPDX-License-Identifier: Apache-2.0 */
/* Finds names in a text by what stands around them; knows nothing of where they are masked. */
#include "source/redact_names.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"

enum { NAMES_MAX = 64, NAME_LONGEST = 64, NAME_SHORTEST = 3, TEXT_READ = 4 << 20 };

struct name {
	struct view s;
	bool host;
};

struct redact_names {
	struct name v[NAMES_MAX];
	size_t n;
};

/* Accounts and words that name nobody. */
static bool is_common(struct view v)
{
	static const char *const words[] = {
		"root",	    "user",    "users",	  "ubuntu",    "admin",	     "nvidia",
		"docker",   "home",    "test",	  "localhost", "host",	     "python",
		"torch",    "cuda",    "conda",	  "base",      "runner",     "jovyan",
		"ec2-user", "debian",  "centos",  "fedora",    "arch",	     "gpu",
		"www-data", "nobody",  "video",	  "render",    "kernel",     "colab",
		"linux",    "windows", "default", "public",    "all",	     "app",
		"appuser",  "vscode",  "kali",	  "container", "github.com", "gitlab.com",
		"pytorch",  "nogroup", "staff",	  "wheel",     "users1",     "work",
		"shared",   "data",    "lib",	  "bin",       "none",	     "local",
		"git",	    "None",    "tesla",	  "quadro",    "geforce",    "rtx",
		"titan",    "jetson",  "orin",	  "deepspeed", "the",	     "and",
		"node",	    "server",  "worker",  "master",    "main",	     "pip",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (view_is_nocase(v, words[i]))
			return true;
	return false;
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

static void add(struct redact_names *n, struct view v, bool host)
{
	bool letter = false;
	size_t i;

	while (v.n && !isalnum((unsigned char)v.p[v.n - 1]))
		v.n--;
	if (v.n < NAME_SHORTEST || v.n > NAME_LONGEST || n->n >= NAMES_MAX || is_common(v))
		return;
	for (i = 0; i < v.n; i++)
		letter = letter || isalpha((unsigned char)v.p[i]);
	if (!letter)
		return;
	for (i = 0; i < n->n; i++)
		if (n->v[i].s.n == v.n && memcmp(n->v[i].s.p, v.p, v.n) == 0)
			return;
	n->v[n->n++] = (struct name){ .s = v, .host = host };
}

static struct view word_at(struct view line, size_t at)
{
	size_t n = at;

	while (n < line.n && in_name(line.p[n]))
		n++;
	return (struct view){ .p = line.p + at, .n = n - at };
}

/* What stands behind "ana@gpu01" in a prompt: a folder and a sign. */
static bool is_prompt(struct view rest)
{
	size_t i;

	if (!rest.n || !strchr(":~ ]$#%", rest.p[0]))
		return false;
	for (i = 0; i < rest.n && i < 80; i++)
		if (strchr("$#%", rest.p[i]) && (i + 1 == rest.n || rest.p[i + 1] == ' '))
			return true;
	return false;
}

/*
 * "ana@gpu01:~$", "[ana@gpu01 x]#": of a prompt both sides; of a mail address the name in front.
 * "git+https://.../transformers@main" and "torch@2.1" are neither.
 */
static void at_sign(struct redact_names *n, struct view line)
{
	ptrdiff_t at = view_chr(line, '@');
	size_t start = at > 0 ? (size_t)at : 0;
	struct view host, user;
	bool dot;

	if (at <= 0 || (size_t)at + 1 >= line.n)
		return;
	while (start && in_name(line.p[start - 1]))
		start--;
	host = word_at(line, (size_t)at + 1);
	user = (struct view){ .p = line.p + start, .n = (size_t)at - start };
	if (!user.n || !host.n || isdigit((unsigned char)host.p[0]) ||
	    (start && !strchr(" [()<\"':;,", line.p[start - 1])))
		return;
	dot = memchr(host.p, '.', host.n) != NULL;
	if (is_prompt(view_skip(line, (size_t)at + 1 + host.n))) {
		add(n, user, false);
		add(n, host, true);
	} else if (dot && isalpha((unsigned char)host.p[host.n - 1])) {
		add(n, user, false);
	}
}

/* The word behind a mark: "/home/ana", "uid=1000(ana)", "HOSTNAME=gpu01", "Host Name: X". */
static void behind(struct redact_names *n, struct view line)
{
	static const struct {
		const char *mark;
		bool host;
	} marks[] = {
		{ "/home/", false },	      { "/Users/", false },    { "\\Users\\", false },
		{ "uid=1000(", false },	      { "uid=1001(", false },  { "\nUSER=", false },
		{ "LOGNAME=", false },	      { "SUDO_USER=", false }, { "USERNAME=", false },
		{ "HOSTNAME=", true },	      { "hostname: ", true },  { "Hostname: ", true },
		{ "COMPUTERNAME=", true },    { "nodename='", true },  { "node='", true },
		{ "SLURMD_NODENAME=", true }, { "NodeName=", true },   { "/media/", false },
	};
	struct view rest;
	ptrdiff_t at;
	size_t i;

	for (i = 0; i < ARRAY_LEN(marks); i++) {
		rest = line;
		while ((at = view_find(rest, marks[i].mark)) >= 0) {
			rest = view_skip(rest, (size_t)at + strlen(marks[i].mark));
			add(n, word_at(rest, 0), marks[i].host);
		}
	}
}

/* "Linux gpu01 5.15.0-91-generic #101-Ubuntu", "Host Name:   DESKTOP-1": a line's form says it. */
static void by_form(struct redact_names *n, struct view line)
{
	struct view rest = line, w[4];
	size_t k = 0;

	if (view_starts(line, "Host Name:"))
		add(n, view_trim(view_skip(line, 10)), true);
	if (view_starts(line, "Registered Owner:"))
		add(n, view_trim(view_skip(line, 17)), false);
	if (!view_starts(line, "Linux "))
		return;
	while (k < 4 && view_word(&rest, &w[k]))
		k++;
	if (k == 4 && isdigit((unsigned char)w[2].p[0]) && w[3].p[0] == '#')
		add(n, w[1], true);
}

/* "crw-rw---- 1 ana video", "drwxr-xr-x 2 ana ana 4096": owner and group of ls -l. */
static void owner(struct redact_names *n, struct view line)
{
	struct view rest = line, w[4];
	size_t k = 0;

	if (line.n < 20 || !strchr("-dlcbsp", line.p[0]) || !strchr("r-", line.p[1]) ||
	    !strchr("w-", line.p[2]))
		return;
	while (k < 4 && view_word(&rest, &w[k]))
		k++;
	if (k == 4 && w[0].n >= 10 && w[0].n <= 11 && isdigit((unsigned char)w[1].p[0])) {
		add(n, w[2], false);
		add(n, w[3], false);
	}
}

/* "May 31 09:35:42 gpu01 kernel: ". */
static void syslog(struct redact_names *n, struct view line)
{
	struct view rest = line, w[5];
	size_t k = 0;

	if (line.n < 20 || !isupper((unsigned char)line.p[0]) || line.p[3] != ' ')
		return;
	while (k < 5 && view_word(&rest, &w[k]))
		k++;
	if (k == 5 && w[0].n == 3 && w[1].n <= 2 && isdigit((unsigned char)w[1].p[0]) &&
	    w[2].n >= 8 && w[2].p[2] == ':' && w[2].p[5] == ':' && w[4].n > 1 &&
	    w[4].p[w[4].n - 1] == ':')
		add(n, w[3], true);
}

struct redact_names *redact_names_of(struct arena *a, struct view text)
{
	struct redact_names *n = arena_alloc(a, sizeof(*n));
	struct view line;

	if (text.n > TEXT_READ)
		text.n = TEXT_READ;
	while (n->n < NAMES_MAX && view_line(&text, &line)) {
		line = view_trim(line);
		if (line.n > 2000)
			line.n = 2000;
		if (line.n < 5)
			continue;
		at_sign(n, line);
		behind(n, line);
		by_form(n, line);
		owner(n, line);
		syslog(n, line);
	}
	return n;
}

void redact_names_drop(struct redact_names *n, const char *word)
{
	size_t i, k = 0;

	for (i = 0; i < n->n; i++)
		if (!view_is_nocase(n->v[i].s, word))
			n->v[k++] = n->v[i];
	n->n = k;
}

bool redact_names_have(const struct redact_names *n, struct view word, bool *ret_host)
{
	size_t i;

	for (i = 0; i < n->n; i++)
		if (n->v[i].s.n == word.n && memcmp(n->v[i].s.p, word.p, word.n) == 0) {
			*ret_host = n->v[i].host;
			return true;
		}
	return false;
}
