/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which commands may stand live in a script: those whose every word is plain or quoted, and whose
 * programs are listed here. Everything else is left to the reader.
 */
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "report/fix_script.h"

enum { WORDS = 64 };

/* Expansions that our own remedies write; their output has no blanks. */
static const char *const expansions[] = { "$(uname -r)", "$(dpkg --print-architecture)" };

struct segment {
	const char *words[WORDS]; /* without their quotes */
	size_t n;
};

struct scan {
	struct arena *a;
	const char *p;
	struct segment *segments;
	size_t n;
	bool bad;
};

static bool plain_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_@%+=:,./~^-", c));
}

/* Over an expansion of the list, or NULL. */
static const char *expansion(const char *p)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(expansions); i++)
		if (strncmp(p, expansions[i], strlen(expansions[i])) == 0)
			return p + strlen(expansions[i]);
	return NULL;
}

/* One word with its quotes; false when something in it is neither plain nor quoted. */
static bool word(struct scan *s, struct strbuf *b)
{
	const char *end;

	while (*s->p && *s->p != ' ') {
		if (*s->p == '\'') {
			/* In quotes these do nothing; a path that holds them is for a person. */
			end = s->p + 1 + strcspn(s->p + 1, "'$`\\");
			if (*end != '\'')
				return false;
			strbuf_addn(b, s->p + 1, (size_t)(end - s->p - 1));
			s->p = end + 1;
		} else if (*s->p == '"') {
			end = s->p + 1 + strcspn(s->p + 1, "\"$`\\");
			if (*end != '"')
				return false;
			strbuf_addn(b, s->p + 1, (size_t)(end - s->p - 1));
			s->p = end + 1;
		} else if (s->p[0] == '\\' && s->p[1] == '\'') {
			strbuf_addc(b, '\'');
			s->p += 2;
		} else if (*s->p == '$') {
			end = expansion(s->p);
			if (!end)
				return false;
			strbuf_addn(b, s->p, (size_t)(end - s->p));
			s->p = end;
		} else if (plain_char(*s->p)) {
			strbuf_addc(b, *s->p++);
		} else {
			return false;
		}
	}
	return true;
}

/* "|", "&&" and ";" part segments; "||" and "&" are none of ours. */
static bool separator(struct scan *s)
{
	size_t n = strncmp(s->p, "&&", 2) == 0			      ? 2
		   : (*s->p == '|' && s->p[1] != '|') || *s->p == ';' ? 1
								      : 0;

	s->p += n;
	return n > 0;
}

static bool split(struct scan *s)
{
	struct segment *now = ARENA_APPEND(s->a, s->segments, s->n);
	struct strbuf b;

	for (;;) {
		s->p += strspn(s->p, " ");
		if (!*s->p)
			return now->n > 0;
		if (separator(s)) {
			if (!now->n)
				return false;
			now = ARENA_APPEND(s->a, s->segments, s->n);
			continue;
		}
		strbuf_init(&b, s->a);
		if (now->n == WORDS || !word(s, &b))
			return false;
		now->words[now->n++] = b.s;
	}
}

static bool among(const char *const *list, const char *w)
{
	for (; *list; list++)
		if (strcmp(*list, w) == 0)
			return true;
	return false;
}

static bool has_word(const struct segment *g, const char *const *list)
{
	size_t i;

	for (i = 1; i < g->n; i++)
		if (among(list, g->words[i]))
			return true;
	return false;
}

/* Programs that change something and can be taken back. */
static const char *const changing[] = {
	"apt-get", "apt", "dnf", "yum", "zypper", "pacman", "apt-mark", "pip", "pip3", "conda",
	"mamba", "micromamba", "uv", "pixi", "poetry", "cuvet", "modprobe", "systemctl", "dkms",
	"ldconfig", "akmods", "nvidia-ctk", "nvidia-modprobe", "update-initramfs", "dracut",
	"mkinitcpio", "prime-select", "ubuntu-drivers", "tee", "depmod", "usermod", "echo",
	"printf", "nvidia-smi", "update-grub",
	NULL
};
static const char *const looking[] = { "lspci", "grep", "dmesg", "journalctl", "ausearch", "ls",
				       "cat", "readlink", "ldd", "mokutil", "kubectl", NULL };
static const char *const own_shell[] = { "export", "unset", "eval", "source", ".", "cd", "setenv",
					 "deactivate", "hash", NULL };
static const char *const taking[] = { "rm", "mv", "rmdir", "reboot", "shutdown", "docker", "podman",
				      "kill", "pkill", "rmmod", NULL };
static const char *const taking_words[] = { "purge", "remove", "erase", "autoremove", "-Rns", "-R",
					    "reboot", "poweroff", NULL };

/* NAME=... */
static bool assigns(const char *w)
{
	size_t n = strspn(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return n && w[n] == '=';
}

static enum fix_kind kind_of(struct segment *g)
{
	static const char *const pip_words[] = { "uninstall", NULL };
	const char *program;
	size_t at = 0;

	/* Assignments for this one command. */
	while (at < g->n && assigns(g->words[at]))
		at++;
	if (at < g->n && strcmp(g->words[at], "sudo") == 0)
		at++;
	if (at >= g->n)
		return FIX_OTHER;
	program = path_base(g->words[at]);
	if (among(own_shell, program) ||
	    (at + 1 < g->n && strcmp(g->words[at + 1], "activate") == 0))
		return FIX_OWN_SHELL;
	if (among(looking, program))
		return FIX_LOOKS;
	if (among(taking, program) || (has_word(g, taking_words) && !has_word(g, pip_words)))
		return FIX_TAKES_AWAY;
	if (strcmp(program, "nvidia-smi") == 0 && (at + 1 == g->n || g->words[at + 1][1] == 'L' ||
						   g->words[at + 1][1] == 'q'))
		return FIX_LOOKS;
	/* Not whatever lies under the name of a program: python -m MODULE, and never code. */
	if (strncmp(program, "python", strlen("python")) == 0)
		return at + 2 < g->n && strcmp(g->words[at + 1], "-m") == 0 ? FIX_PLAIN : FIX_OTHER;
	if (program != g->words[at])
		return FIX_OTHER;
	return among(changing, program) ? FIX_PLAIN : FIX_OTHER;
}

enum fix_kind fix_kind_of(struct arena *a, const char *command)
{
	struct scan s = { .a = a, .p = command };
	enum fix_kind worst = FIX_PLAIN, k;
	size_t i;

	/* What would be shown otherwise than it is, controls above all, is never live. */
	if (strcmp(clean(a, command), command) != 0 || !split(&s))
		return FIX_OTHER;
	for (i = 0; i < s.n; i++) {
		k = kind_of(&s.segments[i]);
		worst = k > worst ? k : worst;
	}
	return worst;
}
