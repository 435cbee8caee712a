/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a cleaned text into lines, knows prompts, and says which command a line is the output of. */
#include "triage/text.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"

/* -------- prompts */

/* Programs that helpdesks ask for; after "# " these are commands and no comments. */
static const char *const programs[] = {
	"nvidia-smi",
	"ls",
	"cat",
	"docker",
	"podman",
	"lspci",
	"lsmod",
	"dmesg",
	"journalctl",
	"modinfo",
	"modprobe",
	"dkms",
	"uname",
	"python",
	"python3",
	"pip",
	"pip3",
	"conda",
	"mamba",
	"env",
	"echo",
	"ldconfig",
	"ldd",
	"which",
	"nvcc",
	"dpkg",
	"rpm",
	"apt",
	"apt-get",
	"yum",
	"dnf",
	"kubectl",
	"systemctl",
	"mokutil",
	"find",
	"stat",
	"df",
	"ulimit",
	"srun",
	"sbatch",
	"singularity",
	"apptainer",
	"nvidia-container-cli",
	"grep",
	"file",
	"readlink",
	"id",
	"mount",
	"getenforce",
	"ausearch",
	"prime-select",
	"sudo",
	"nvidia-ctk",
	"crictl",
	"microk8s",
	"pacman",
	"emerge",
	"snap",
	"wsl",
	"scontrol",
	"sinfo",
	"ray",
	"cmake",
	"make",
	"nvidia-cuda-mps-control",
	"nerdctl",
	"ctr",
	"lxc",
	"incus",
	"pct",
	"lxc-attach",
	"systemd-nspawn",
	"systemd-detect-virt",
	"enroot",
	"docker-compose",
	"buildah",
	"distrobox",
	"helm",
	"minikube",
	"kind",
	"nomad",
	"salloc",
	"qsub",
	"qrsh",
	"qlogin",
	"bsub",
	"squeue",
	"sacct",
	"strace",
	"nvidia-detect",
	"system76-power",
	"supergfxctl",
	"envycontrol",
	"optimus-manager",
	"optirun",
	"hwinfo",
	"inxi",
	"lshw",
	"zypper",
	"equery",
	"ubuntu-drivers",
	"akmods",
	"dracut",
	"rmmod",
	"insmod",
};

static bool is_program(struct view v)
{
	struct view w, rest = v;
	size_t i;

	if (!view_word(&rest, &w))
		return false;
	if (view_is(w, "sudo") && !view_word(&rest, &w))
		return false;
	for (i = 0; i < ARRAY_LEN(programs); i++)
		if (view_is(w, programs[i]))
			return true;
	return view_starts(w, "./") || view_ends(w, ".py");
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

/* "pop-os:~$ cmd", "larry ~ # cmd", "[nix-shell:~]$ cmd", "~ > cmd", "\xe2\x9e\x9c  ~ cmd". */
static struct view hostless_prompt(struct view v)
{
	size_t i = 0, start;

	if (view_starts(v, "\xe2\x9e\x9c ")) {
		struct view rest = view_trim(view_skip(v, 3)), w;

		while (view_word(&rest, &w))
			if (is_program(rest))
				return view_trim(rest);
		return (struct view){ 0 };
	}
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
	    !is_program(view_skip(v, i + 2)))
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
	    is_program(view_skip(v, i + 2)))
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
		if (is_program(rest))
			return rest;
	}
	if ((at = view_find(v, "> ")) > 2 && at < 16 && isupper((unsigned char)v.p[0]) &&
	    !memchr(v.p, ' ', (size_t)at))
		return view_trim(view_skip(v, (size_t)at + 2));
	if (v.p[0] == '#') {
		rest = view_trim(view_skip(v, 1));
		at = view_find(rest, ": ");
		if (is_program(rest))
			return rest;
		if (at > 0 && at < 60 && is_program(view_skip(rest, (size_t)at + 2)))
			return view_trim(view_skip(rest, (size_t)at + 2));
	}
	return (struct view){ 0 };
}

struct view text_prompt(struct view v)
{
	static const char *const simple[] = { "$ ", ">>> ", "julia> ",	     "PS> ", "% ",
					      "! ", "!",    "\xe2\x9d\xaf ", "+ " };
	struct view cmd;
	size_t i;

	if (v.n < 2)
		return (struct view){ 0 };
	for (i = 0; i < ARRAY_LEN(simple); i++) {
		if (!view_starts(v, simple[i]))
			continue;
		cmd = view_trim(view_skip(v, strlen(simple[i])));
		/* "!" and "+" begin other things too. */
		if (i <= 3 || is_program(cmd))
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

/* Whole lines that nobody writes but as a command, though its prompt was not copied. */
static const char bare[] =
	"^(?:sudo )?(?:nvidia-smi(?: -{1,2}[\\w-]+(?:=\\S+)?| topo -m)*|uname -[a-z]+|dkms status|"
	"mokutil --sb-state|nvcc (?:--version|-V)|echo \"?\\$\\{?[A-Z_]+\\}?\"?|"
	"(?:lsmod|dmesg|journalctl|lspci|dpkg -l|ldconfig -p|env|printenv|pip3? (?:list|freeze)|"
	"conda list|rpm -qa)(?: -\\S+)*(?: ?\\| ?(?:grep|findstr|Select-String|rg)(?: [-/]\\S+)* "
	"(?:\"[^\"]*\"|'[^']*'|[^\\s|]+))+|"
	"ls(?: -\\w+)*(?: /\\S+)+|cat /(?:proc|sys|etc|dev|usr)/\\S+|which(?: -a)? [\\w-]+|"
	"modinfo nvidia\\w*|pip3? show [\\w-]+|pip3? (?:list|freeze)|conda list|"
	"python3? -m torch\\.utils\\.collect_env|(?:(?:uv|poetry|pixi|pdm|conda) run (?:-n \\S+ )?)?"
	"(?:\\S+[\\\\/])?python3?(?:\\.exe)? (?:-\\w )?-c (?:\"[^\"]*\"|'[^']*')|"
	"wsl (?:-l -v|--list --verbose|--version|--status)|getenforce|"
	"(?:kubectl|docker|podman|nomad) logs(?: -\\S+)*(?: [\\w/.-]+){1,3})$";

static bool is_bare(struct regex *re, struct view v)
{
	struct regex_match m;

	return re && v.n >= 7 && v.n <= 160 &&
	       ((islower((unsigned char)v.p[0]) && is_program(v)) ||
		view_find(v, "python") >= 0) &&
	       regex_find(re, v, 0, &m) == REGEX_YES;
}

/* -------- lines */

/* Quotation marks of mail and Markdown; ">>>" is Python's prompt. */
static struct view unquote(struct view v)
{
	while (v.n && v.p[0] == '>' && !view_starts(v, ">>>") &&
	       (v.n == 1 || v.p[1] == ' ' || v.p[1] == '>'))
		v = view_trim(view_skip(v, 1));
	if (v.n > 2 && v.p[0] == '`' && v.p[v.n - 1] == '`' && v.p[1] != '`')
		v = (struct view){ .p = v.p + 1, .n = v.n - 2 };
	return v;
}

/* "- [ ] WSL 1" of a form: what does not hold. */
static bool is_unticked(struct view v)
{
	return view_starts(v, "- [ ] ") || view_starts(v, "* [ ] ") || view_starts(v, "[ ] ");
}

static bool is_fence(struct view v)
{
	return view_starts(v, "```") || view_starts(v, "~~~");
}

static void add_line(struct text *t, struct view s, uint32_t number, int32_t *by, struct regex *re)
{
	struct view cmd;
	struct line *l;

	if (t->n >= TEXT_LINES_MAX) {
		t->cut = true;
		return;
	}
	s = text_unlogged(unquote(view_trim(s)));
	if (is_unticked(s))
		s.n = 0;
	if (is_fence(s)) {
		*by = NO_COMMAND;
		s.n = 0;
	}
	l = &t->lines[t->n++];
	*l = (struct line){
		.s = s, .number = number, .by = *by, .file = (uint16_t)(t->n_files - 1)
	};
	cmd = text_prompt(s);
	if (cmd.n && cmd.p > s.p && cmd.p - s.p < UINT16_MAX) {
		l->cmd_at = (uint16_t)(cmd.p - s.p);
		*by = (int32_t)(t->n - 1);
		l->by = NO_COMMAND;
	} else if (is_bare(re, s)) {
		l->cmd_at = CMD_BARE;
		*by = (int32_t)(t->n - 1);
		l->by = NO_COMMAND;
	}
}

/* Room for as many lines as there are ends of lines. */
static void reserve(struct arena *a, struct text *t, const char *s, size_t n)
{
	size_t i, more = 1;

	for (i = 0; i < n; i++)
		more += s[i] == '\n' || s[i] == '\v';
	if (t->n + more > TEXT_LINES_MAX)
		more = TEXT_LINES_MAX - t->n;
	t->lines = arena_grow(a, t->lines, t->n * sizeof(*t->lines),
			      (t->n + more) * sizeof(*t->lines));
}

/* Marks of quotation become blanks, so that what a mail program broke in two can be read as one. */
static void blank_quotes(char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n && (s[i] == ' ' || s[i] == '>'); i++) {
		if (s[i] == ' ')
			continue;
		if (n - i >= 3 && memcmp(s + i, ">>>", 3) == 0)
			return;
		if (i + 1 < n && s[i + 1] != ' ' && s[i + 1] != '>')
			return;
		s[i] = ' ';
	}
}

static void split(struct text *t, size_t from, char *s, size_t n, struct regex *re)
{
	size_t i, was, start = from;
	uint32_t number = 1;
	int32_t by = NO_COMMAND;

	for (i = from; i <= n; i++) {
		if (i < n && s[i] == '\r') {
			s[i] = ' ';
			number++;
		}
		if (i < n && s[i] != '\n' && s[i] != '\v')
			continue;
		blank_quotes(s + start, i - start);
		was = t->n;
		add_line(t, (struct view){ .p = s + start, .n = i - start }, number, &by, re);
		if (t->n > was && t->lines[was].s.n)
			text_blank_log(s + start, t->lines[was].s.p);
		if (i < n && s[i] == '\n')
			number++;
		if (i < n)
			s[i] = '\n';
		start = i + 1;
	}
}

void text_add(struct arena *a, struct text *t, const char *name, struct view raw)
{
	struct view more = text_clean(text_decode(a, raw));
	size_t i, from = 0;
	char *s = (char *)(uintptr_t)more.p;
	struct regex *re;

	if (regex_new(a, bare, &re, NULL))
		re = NULL;

	*ARENA_APPEND(a, t->files, t->n_files) = name ? name : "pasted";
	if (t->s.n) {
		/* Earlier lines keep pointing into the older copy, whose bytes are the same. */
		from = t->s.n + 1;
		s = arena_alloc(a, from + more.n + 1);
		memcpy(s, t->s.p, t->s.n);
		s[t->s.n] = '\n';
		memcpy(s + from, more.p, more.n);
		for (i = 0; i < t->n; i++)
			t->lines[i].s.p = s + (t->lines[i].s.p - t->s.p);
	}
	text_unwrap(s + from, more.n);
	reserve(a, t, s + from, more.n);
	split(t, from, s, from + more.n, re);
	t->s = (struct view){ .p = s, .n = from + more.n };
}

const char *text_source(struct arena *a, const struct text *t, size_t line)
{
	const struct line *l = &t->lines[line < t->n ? line : t->n - 1];

	return arena_printf(a, "%s line %u", t->n_files > 1 ? t->files[l->file] : "pasted",
			    (unsigned)l->number);
}

size_t text_line_at(const struct text *t, size_t at)
{
	size_t lo = 0, hi = t->n, mid;
	const char *p = t->s.p + at;

	while (lo + 1 < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->lines[mid].s.p <= p)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* A prompt at which nothing was typed: "$", "me@box:~$", "PS C:\\>", ">>>". */
static bool bare_prompt(struct view s)
{
	if (!s.n || s.n > 80 || !strchr("$#%>", s.p[s.n - 1]))
		return false;
	return s.n == 1 || view_is(s, ">>>") || view_starts(s, "PS ") ||
	       (s.n > 3 && s.p[1] == ':' && s.p[2] == '\\') ||
	       view_starts(s, "sh-") || view_starts(s, "bash-") ||
	       (view_chr(s, '@') > 0 && (view_chr(s, ' ') < 0 || s.p[0] == '['));
}

bool text_silent(const struct text *t, size_t i)
{
	size_t k;
	bool sure = t->lines[i].cmd_at != CMD_BARE; /* a list of commands has no answers */

	for (k = i + 1; k < t->n && t->lines[k].file == t->lines[i].file; k++) {
		if (t->lines[k].cmd_at || bare_prompt(t->lines[k].s))
			return sure;
		if (t->lines[k].s.n)
			return view_starts(t->lines[k].s, "# ") ||
			       view_starts(t->lines[k].s, "(no ") ||
			       view_starts(t->lines[k].s, "(empty") ||
			       view_starts(t->lines[k].s, "(nothing") ||
			       view_starts(t->lines[k].s, "<no output");
	}
	return sure;
}
