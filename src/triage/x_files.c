/* SPDX-License-Identifier: Apache-2.0 */
/* Listings: device nodes with their modes, libraries, links; ldconfig, ldd, readlink. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* "crw-rw---- 1 root video 195, 0 /dev/nvidia0". */
static bool mode_line(struct paste *p, struct view s, struct regex_match *m)
{
	return s.n > 10 && strchr("cbdl-", s.p[0]) &&
	       paste_match(p, "^[cbdl-][r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-][.+@]?\\s", s, m);
}

static void node(struct paste *p, struct view name, struct view mode, size_t i)
{
	struct node *n;
	size_t k;

	for (k = 0; k < p->s->n_nodes; k++)
		if (view_is(name, p->s->nodes[k].name.value))
			return;
	if (p->s->n_nodes >= 300)
		return;
	n = ARENA_APPEND(p->a, p->s->nodes, p->s->n_nodes);
	fact_set(&n->name, view_dup(p->a, name), paste_source(p, i));
	if (mode.n)
		fact_set(&n->mode, view_dup(p->a, mode), paste_source(p, i));
	if (view_starts(name, "nvidia-uvm"))
		sign_add(p, "node-uvm", i, name);
	else if (view_starts(name, "nvidia-caps") || view_starts(name, "nvidia-cap"))
		sign_add(p, "node-caps", i, name);
	else if (view_starts(name, "nvidiactl"))
		sign_add(p, "node-ctl", i, name);
	else if (view_starts(name, "nvidia") && name.n > 6 && strchr("0123456789", name.p[6]))
		sign_add(p, "node-gpu", i, name);
	else if (view_starts(name, "dxg"))
		sign_add(p, "node-dxg", i, name);
}

/*
 * Others and the group may not read and write: rw for all is what the driver makes, but for the
 * capability nodes, of which it closes the ones that configure.
 */
static void closed_node(struct paste *p, struct view s, struct view path, size_t i)
{
	if (view_find(path, "nvidia-cap") >= 0)
		return;
	if (view_find(s, "/dev/nv") < 0 && view_find(path, "nvidia") != 0)
		return;
	if (s.p[0] != 'c')
		return;
	sign_add(p, s.p[7] == 'r' && s.p[8] == 'w' ? "node-open" : "node-closed", i, path);
}

/* "nvidia-uvm was added": a sentence that begins with the name, and no listing. */
static bool spoken_of(struct paste *p, struct view s, const struct regex_match *m)
{
	return (m->group[1].p == s.p || m->group[1].p[-1] != '/') &&
	       paste_match(p, "^ (?:was|is|had|has|were|are|does|did|node|device|module)\\b",
			   view_skip(s, m->end), NULL);
}

static void listed_nodes(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	struct view mode = { 0 };

	if (mode_line(p, s, &m)) {
		/* What was made for a bind mount, where there was nothing to mount. */
		if (s.p[0] == '-' && paste_match(p, "\\s0\\s.*\\s/dev/nvidia[\\w-]*$", s, NULL))
			sign_add(p, "node-empty-file", i, (struct view){ 0 });
		if (s.p[0] != 'c')
			return;
		mode = (struct view){ s.p, 10 };
	}
	if (p->t.lines[i].by != NO_COMMAND) {
		struct view cmd = line_cmd(&p->t.lines[p->t.lines[i].by]);

		/* "ls /dev/nvidia[0-9]", "nvidia{0..7}" do not show what else there is. */
		if (paste_match(p, "nvidia[\\[?{\\d]", cmd, &m))
			sign_add(p, "nodes-partial", i, (struct view){ 0 });
	}
	while (paste_match(
		p,
		"(?:^|/dev/|\\s)(nvidia(?:-uvm-tools|-uvm|-modeset|ctl|-caps/nvidia-cap\\d+|-nvswitch\\w*|"
		"-cap\\d+|\\d+)|nvhost-\\w+|nvmap|dxg)(?=[\\s,:]|$)",
		s, &m)) {
		if (mode.n || !spoken_of(p, s, &m))
			node(p, m.group[1], mode, i);
		if (mode.n)
			closed_node(p, p->t.lines[i].s, m.group[1], i);
		s = view_skip(s, m.end);
	}
}

/* "link -> target": remembered, and whether the target is said to be missing. */
static void link_line(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_match(p, "(\\S+) -> (\\S+)", s, &m))
		return;
	if (view_find(m.group[1], "libcuda.so") >= 0)
		sign_add(p, "link-libcuda", i, m.group[2]);
	else if (view_find(m.group[1], "/cuda") >= 0 || view_is(m.group[1], "cuda"))
		sign_add(p, "link-cuda", i, m.group[2]);
	if (view_find(m.group[2], "/tmp/") == 0)
		sign_add(p, "link-into-tmp", i, m.group[2]);
}

static const char listed_path[] =
	"(?<![\\w/.-])(\\S*/lib(?:cud|cublas|cufft|cupti|curand|cusolver|cusparse|nvinfer|nvjitlink|"
	"nvrtc|nvvm|nvToolsExt|nvjpeg|nccl)\\w*\\.so[.\\d]*|"
	"lib(?:cud|cublas|cufft|cupti|curand|cusolver|cusparse|nvinfer|nvjitlink|nvrtc|"
	"nvvm|nvToolsExt|nvjpeg|nccl)\\w*\\.so[.\\d]*)";

static void library(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	size_t n;

	if (view_find(s, "No such file") >= 0 || view_find(s, "cannot open") >= 0 ||
	    view_find(s, "not found") >= 0 || view_find(s, "undefined symbol") >= 0 ||
	    view_find(s, "Unable to load") >= 0 || view_find(s, "annot load") >= 0 ||
	    view_find(s, "Error") >= 0 || view_find(s, "error") >= 0)
		return;
	if (paste_match(p, "libnvidia-ml\\.so\\.(\\d{3}\\.\\d+(?:\\.\\d+)?)", s, &m) &&
	    p->t.lines[i].by != NO_COMMAND) {
		if (fact_known(&p->s->driver.libnvml.version) &&
		    !view_is(m.group[1], p->s->driver.libnvml.version.value))
			sign_add(p, "driver-libs-several", i, m.group[1]);
		else
			fact_set(&p->s->driver.libnvml.version, view_dup(p->a, m.group[1]),
				 paste_source(p, i));
	}
	if (paste_match(p, "libcuda\\.so\\.(\\d{3}\\.\\d+(?:\\.\\d+)?)", s, &m) &&
	    p->t.lines[i].by != NO_COMMAND) {
		if (fact_known(&p->s->driver.libcuda.version) &&
		    !view_is(m.group[1], p->s->driver.libcuda.version.value))
			sign_add(p, "driver-libs-several", i, m.group[1]);
		else
			fact_set(&p->s->driver.libcuda.version, view_dup(p->a, m.group[1]),
				 paste_source(p, i));
	}
	if (view_find(s, "->") < 0 && p->t.lines[i].by != NO_COMMAND &&
	    paste_match(p, "(libcuda\\.so\\.\\d{3}\\.[.\\d]+)", s, &m))
		sign_add(p, "libcuda-file", i, m.group[1]);
	for (n = 0; n < 12 && paste_match(p, listed_path, s, &m); n++) {
		if (m.group[1].p[0] == '/' || p->t.lines[i].by != NO_COMMAND)
			sign_add(p, "lib-listed", i, m.group[1]);
		s = view_skip(s, m.end);
	}
}

/* Another file by itself on the line before or behind: such lines are a listing. */
static bool beside_dll(struct paste *p, size_t i)
{
	static const char bare[] = "^\\w[\\w.-]*\\.(?:dll|lib|pyd)$";

	return (i && paste_match(p, bare, p->t.lines[i - 1].s, NULL)) ||
	       (i + 1 < p->t.n && paste_match(p, bare, p->t.lines[i + 1].s, NULL));
}

/*
 * A library of Windows in a listing: "C:\\...\\bin\\cudart64_110.dll" by itself, a row of dir, or
 * one name of several below each other.
 */
static void dll(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(
		    p,
		    "^(?:[A-Za-z]:[\\\\/][^:*?\"<>|]{0,200}[\\\\/]|"
		    "\\d[\\d./-]{7,9}\\s[^\\\\/:]{0,8}:?[^\\\\/:]{0,60}\\s|-a[\\w-]{3,4}\\s.{0,60}\\s|)"
		    "((?:cud|cublas|cufft|curand|cusolver|cusparse|nvrtc|nvinfer)\\w*64_\\w+\\.dll)$",
		    s, &m) &&
	    (m.group[1].p != s.p || beside_dll(p, i)))
		sign_add(p, "dll-listed", i, m.group[1]);
}

/* A container's mounts: the version of the driver's libraries that it was started with. */
static void mounted(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p, "lib(?:cuda|nvidia-ml)\\.so\\.(\\d{3}\\.\\d+(?:\\.\\d+)?)", s, &m))
		sign_add(p, "lib-mounted", i, m.group[1]);
}

/* "ls: cannot access '/usr/lib/libcuda.so.1': No such file or directory". */
static void gone_path(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_match(
		    p,
		    "(?:cannot (?:access|stat)|stat:|ls:?|cat:?|file:) ['\"`]?(/[^'\":\\s]+)['\"]?: "
		    "No such file",
		    s, &m))
		return;
	sign_add(p, "path-gone", i, m.group[1]);
	if (view_is(m.group[1], "/dev/nvidia*") || view_is(m.group[1], "/dev/nvidia0"))
		sign_add(p, "no-node", i, m.group[1]);
	if (view_starts(m.group[1], "/dev/nvidia-caps"))
		sign_add(p, "mig-caps-gone", i, m.group[1]);
}

/* ls /lib/modules: the kernels that have modules. */
static void kernel_folder(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s, word;

	if (p->t.lines[i].by == NO_COMMAND ||
	    !paste_match(p, "^(?:sudo )?ls (?:-\\w+ )*(?:/usr)?/lib/modules/?$",
			 line_cmd(&p->t.lines[p->t.lines[i].by]), NULL))
		return;
	while (view_word(&s, &word))
		sign_match(p, "kernel-folder", "^(\\d+\\.\\d+\\.\\d+[\\w.+~-]*)/?$", word, i);
}

/* "/usr/local/cuda-12.3" among what a listing of all of them shows. */
static void toolkit_folder(struct paste *p, const struct line *l, size_t i)
{
	struct view cmd, s = l->s;
	struct regex_match m;
	size_t n;

	if (l->by == NO_COMMAND)
		return;
	cmd = line_cmd(&p->t.lines[l->by]);
	if (!paste_match(p, "^(?:sudo )?ls\\b.* /usr/local/?(?:cuda-?\\*)?/?(?:$| \\|| #)", cmd,
			 NULL))
		return;
	for (n = 0; n < 12 && paste_match(p, "(?:^|[\\s/])cuda-(\\d+\\.\\d+)/?(?=\\s|$)", s, &m);
	     n++) {
		if (view_find(l->s, "->") < 0)
			sign_add(p, "toolkit-folder", i, m.group[1]);
		s = view_skip(s, m.end);
	}
}

/* Where "readlink -f /usr/local/cuda" leads, be it there or not. */
static void followed(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (p->t.lines[i].by != NO_COMMAND &&
	    paste_match(p, "^(?:readlink|realpath)(?: -\\w+)* /usr/local/cuda/?$",
			line_cmd(&p->t.lines[p->t.lines[i].by]), NULL) &&
	    paste_match(p, "^/\\S+$", s, NULL))
		sign_add(p, "link-cuda", i, s);
}

static void files_line(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct view s = l->s;

	if (l->cmd_at || s.n > 600 || paste_foreign(p, i, SCOPE_PLACE))
		return;
	if (view_find(s, "cannot access") >= 0 || view_find(s, "o such file") >= 0) {
		gone_path(p, s, i);
		return;
	}
	if (view_find(s, "cuda-") >= 0)
		toolkit_folder(p, l, i);
	kernel_folder(p, i);
	followed(p, i);
	if (s.n > 3 && view_find(s, "nv") >= 0 &&
	    (mode_line(p, s, &(struct regex_match){ 0 }) ||
	     (l->by != NO_COMMAND && (view_find(line_cmd(&p->t.lines[l->by]), "ls ") >= 0 ||
				      view_find(line_cmd(&p->t.lines[l->by]), "dev") >= 0))))
		listed_nodes(p, s, i);
	else if (view_starts(s, "ls ") && view_find(s, ": /dev/nvidia") > 0)
		/* In one line: "ls /dev/nvidia* in the container: /dev/nvidia0 /dev/nvidiactl". */
		listed_nodes(p, view_skip(s, (size_t)view_find(s, ": /dev/nvidia")), i);
	else if (view_starts(s, "/dev/nvidia") || view_is(s, "nvidia0") ||
		 view_is(s, "nvidiactl") || view_starts(s, "/dev/dxg"))
		listed_nodes(p, s, i);
	if (view_find(s, "->") > 0)
		link_line(p, s, i);
	if (view_find(s, ".dll") > 0)
		dll(p, s, i);
	if (view_find(s, ".so") <= 0)
		return;
	if (paste_under(p, i, "mountinfo") || paste_under(p, i, "/mounts") ||
	    paste_under(p, i, "findmnt") || paste_under(p, i, "mount |"))
		mounted(p, s, i);
	else
		library(p, s, i);
}

const struct extractor extract_files = { .name = "files", .line = files_line };
