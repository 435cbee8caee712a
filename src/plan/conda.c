/* SPDX-License-Identifier: Apache-2.0 */
/* conda: PyTorch's own channel as long as it had releases, conda-forge for those that the matrix
 * knows there. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "plan/solve.h"

enum { CHANNEL_PYTHON_MAX = 12 }; /* the channel ended before it had builds for Python 3.13 */

struct conda {
	const struct solver *s;
	const struct torch_row *torch;
	const char *platform; /* "linux-64" */
	const char *cuda;     /* of the build that was found */
	const struct json *row;
	bool unknown; /* a release is there, and the matrix does not know for which GPUs */
};

static const char *platform_of(const char *platform)
{
	if (strcmp(platform, "linux_x86_64") == 0)
		return "linux-64";
	return strcmp(platform, "windows_x86_64") == 0 ? "win-64" : "linux-aarch64";
}

static bool covers(const struct conda *c, const struct json *row)
{
	const char *from = json_get_str(row, "version"), *to = json_get_str(row, "to");

	if (version_cmp_str(c->torch->version, from) < 0)
		return false;
	return version_cmp_str(c->torch->version, to ? to : from) <= 0;
}

/* Does the package's build for `cuda` hold code for every GPU, as far as is known, and start on the
 * driver? */
static bool serves(struct conda *c, const struct json *row, const char *cuda)
{
	const struct json *archs = json_get(json_get(row, "arch_lists"), cuda);
	const char *least = compat_min_driver(c->s->m->c, cuda, c->s->t->windows, NULL);
	const char **list;
	size_t n = 0, i;

	if (c->s->t->driver && !version_at_least(c->s->t->driver_full, least))
		return false;
	list = json_str_list(c->s->a, archs ? archs : json_get(json_get(row, "sass_seen"), cuda),
			     &n);
	for (i = 0; n && i < c->s->t->n_gpus; i++) {
		enum arch_fit fit = compat_arch_fit(list, n, c->s->t->gpus[i].cc, NULL);

		if (fit == ARCH_FIT_NONE || (fit == ARCH_FIT_PTX && c->s->t->driver &&
					     !version_at_least(c->s->t->driver_cuda, cuda)))
			return false;
	}
	c->unknown = c->unknown || !n;
	return n > 0;
}

static bool find(struct conda *c, const char *channel, bool same_cuda)
{
	size_t n = compat_count(c->s->m->c, "torch_conda"), i;
	const struct json *v, *row;
	const char *own;

	for (i = 0; i < n; i++) {
		row = compat_row(c->s->m->c, "torch_conda", i);
		own = json_get_str(row, "platform");
		if (!json_get_str(row, "channel") ||
		    strcmp(json_get_str(row, "channel"), channel) != 0 || !own ||
		    (strcmp(own, c->platform) != 0 && strcmp(own, "any") != 0) || !covers(c, row))
			continue;
		for (v = json_first(json_get(row, "cuda_builds")); v; v = json_next(v)) {
			const char *cuda = json_str(v);
			bool same = cuda && c->torch->cuda && strcmp(cuda, c->torch->cuda) == 0;

			if (!cuda || (same_cuda && !same) || !serves(c, row, cuda))
				continue;
			/* The wheel's own CUDA when it is there, else the newest. */
			c->cuda = cuda;
			c->row = row;
			if (same)
				return true;
		}
	}
	return c->cuda != NULL;
}

/* The first releases chose CUDA by feature packages, which today's conda no longer has. */
static bool selectable(const struct conda *c)
{
	const char *selector = json_get_str(c->row, "selector");

	return selector && (view_starts(view_of(selector), "pytorch-cuda") ||
			    view_starts(view_of(selector), "cudatoolkit"));
}

static void line(struct plan_choice *choice, const struct solver *s, const char *text)
{
	struct plan_commands *c = &choice->commands[TOOL_CONDA];

	*ARENA_APPEND(s->a, c->lines, c->n) = text;
}

static void official(const struct conda *c, struct plan_choice *choice)
{
	const char *selector = json_get_str(c->row, "selector");
	const struct torch_row *r = c->torch;
	struct strbuf b;

	strbuf_init(&b, c->s->a);
	strbuf_printf(&b, "conda create -n torch python=%s pytorch==%s", choice->python->text,
		      r->version);
	if (r->torchvision)
		strbuf_printf(&b, " torchvision==%s", r->torchvision);
	if (r->torchaudio)
		strbuf_printf(&b, " torchaudio==%s", r->torchaudio);
	if (selector && view_starts(view_of(selector), "pytorch-cuda"))
		strbuf_printf(&b, " pytorch-cuda=%s -c pytorch -c nvidia", c->cuda);
	else
		strbuf_printf(&b, " cudatoolkit=%s -c pytorch -c conda-forge", c->cuda);
	line(choice, c->s, b.s);
}

void commands_conda(const struct solver *s, struct plan_choice *choice, const char *rest)
{
	struct conda c = { .s = s,
			   .torch = choice->torch,
			   .platform = platform_of(s->t->platform) };

	if (!c.torch || !c.torch->cuda || choice->python->threaded) {
		choice->commands[TOOL_CONDA].note = _("the matrix holds no conda package of this");
		return;
	}
	if (choice->python->minor <= CHANNEL_PYTHON_MAX && find(&c, "pytorch", true) &&
	    selectable(&c)) {
		official(&c, choice);
	} else if (find(&c, "conda-forge", false)) {
		line(choice, s,
		     arena_printf(s->a,
				  "conda create -n torch -c conda-forge python=%s pytorch=%s "
				  "pytorch-gpu=%s cuda-version=%s",
				  choice->python->text, c.torch->version, c.torch->version,
				  c.cuda));
		if (strcmp(c.cuda, c.torch->cuda) != 0)
			choice->commands[TOOL_CONDA].note = arena_printf(
				s->a, _("conda-forge builds this release for CUDA %s"), c.cuda);
	} else {
		choice->commands[TOOL_CONDA].note = arena_printf(
			s->a,
			c.unknown
				? _("conda-forge has torch %s, but for which GPUs is not in the matrix")
				: _("no channel is known to have torch %s with CUDA for this target"),
			c.torch->version);
		return;
	}
	if (rest)
		line(choice, s, arena_printf(s->a, "conda run -n torch pip install %s", rest));
}
