/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity, uname and the variables that a GPU stack looks at, of this process or from the facts
 * file. Variables are taken by an allow-list: an environment holds secrets, and a snapshot is made
 * to be handed on.
 */
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "probe/probe.h"

enum { VARS_MAX = 512, VALUE_MAX = 65536, GIDS_MAX = 1024 };

/* A star at the end: every name that begins so. */
/* clang-format off */
static const char *const wanted[] = {
	"PATH", "HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "LIBRARY_PATH", "CPATH",
	"C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CC", "CXX", "container", "DISPLAY",
	/* CUDA and the driver */
	"CUDA_*", "CUDAHOSTCXX", "CUDACXX", "CUDNN_*", "CUBLAS_*", "CUFFT_*", "CUTENSOR_*", "NVCC_*",
	"NVIDIA_*", "NV_CUDA_LIB_VERSION", "NV_CUDNN_VERSION", "NCCL_*", "NVSHMEM_*", "NVTE_*", "UCX_*", "GPU_DEVICE_ORDINAL",
	"__NV_PRIME_RENDER_OFFLOAD", "__GLX_VENDOR_LIBRARY_NAME", "DRI_PRIME",
	/* other makers, which explain a build */
	"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION", "ROCM_*", "ZE_AFFINITY_MASK",
	/* Python and environments */
	"PYTHON*", "VIRTUAL_ENV", "CONDA_*", "MAMBA_*", "PIXI_*", "PYENV_*", "POETRY_ACTIVE", "UV_*",
	"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT", "PIP_NO_BINARY", "PIP_FIND_LINKS",
	"IPYKERNEL*", "JPY_PARENT_PID", "COLAB_GPU", "COLAB_RELEASE_TAG",
	"KAGGLE_KERNEL_RUN_TYPE",
	/* frameworks */
	"TORCH*", "PYTORCH_*", "TF_*", "XLA_*", "JAX_*", "NUMBA_*", "TRITON_*", "BNB_*", "FLASH_ATTENTION_*",
	"FLASH_ATTN_*", "MAX_JOBS", "FORCE_CUDA", "VLLM_*", "DS_*", "OMP_NUM_THREADS", "MKL_*", "KMP_*",
	"MASTER_ADDR", "MASTER_PORT", "RANK", "LOCAL_RANK", "WORLD_SIZE",
	/* places and schedulers */
	"WSL_*", "WSLENV", "SLURM_*", "PBS_*", "LSB_*", "SGE_*", "RAY_*", "KUBERNETES_SERVICE_HOST",
	"SINGULARITY_*", "APPTAINER_*", "SNAP", "SNAP_NAME", "FLATPAK_ID", "XDG_SESSION_TYPE",
	"MODULEPATH", "LOADEDMODULES", "LMOD_*", "SPACK_ROOT", "EBROOTCUDA", "NVHPC_CUDA_HOME", "GITHUB_ACTIONS", "CI",
};
/* clang-format on */

/* Names that may hold a secret, whatever begins them (NVIDIA_API_KEY). */
static const char *const secret[] = {
	"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH", "JWT"
};

static bool is_wanted(struct view name)
{
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(secret); i++)
		if (view_find(name, secret[i]) >= 0)
			return false;
	for (i = 0; i < ARRAY_LEN(wanted); i++) {
		n = strlen(wanted[i]);
		if (wanted[i][n - 1] == '*'
			    ? name.n >= n - 1 && memcmp(name.p, wanted[i], n - 1) == 0
			    : view_is(name, wanted[i]))
			return true;
	}
	return false;
}

/* "https://user:secret@host/": what stands before the @ is cut out, in each of the addresses of a
 * value. */
static const char *without_login(struct arena *a, const char *value)
{
	const char *at, *scheme, *from = value;
	struct strbuf b;

	if (!strstr(value, "://"))
		return value;
	strbuf_init(&b, a);
	while ((scheme = strstr(from, "://")) != NULL) {
		scheme += 3;
		strbuf_addn(&b, from, (size_t)(scheme - from));
		from = scheme + strcspn(scheme, "/ ");
		at = memrchr(scheme, '@', (size_t)(from - scheme));
		if (at)
			strbuf_add(&b, "***");
		strbuf_addn(&b, at ? at : scheme, (size_t)(from - (at ? at : scheme)));
	}
	strbuf_add(&b, from);
	return b.s;
}

static void add(struct probe_ctx *p, const char *name, const char *value, const char *source)
{
	struct snapshot *s = p->s;
	struct var *v;

	/* As getenv(): the first of two with one name counts. */
	if (s->n_environment >= VARS_MAX || snapshot_env_fact(s, name))
		return;
	v = ARENA_APPEND(p->a, s->environment, s->n_environment);
	fact_set(&v->name, name, source);
	if (strlen(value) > VALUE_MAX)
		fact_broken(&v->value, source, _("longer than 64 KiB"));
	else
		fact_set(&v->value, without_login(p->a, value), source);
}

static void live_variables(struct probe_ctx *p)
{
	struct view name, value;
	char **e;

	for (e = environ; e && *e; e++) {
		name = view_cut(view_of(*e), '=', &value);
		if (is_wanted(name))
			add(p, view_dup(p->a, name), arena_strndup(p->a, value.p, value.n),
			    "environment");
	}
}

static void live_groups(struct probe_ctx *p)
{
	int n = getgroups(0, NULL), i;
	const char **list;
	gid_t *gids;
	size_t k = 0;
	bool own = false;

	n = n < 0 ? 0 : n;
	list = arena_calloc(p->a, (size_t)n + 1, sizeof(*list));
	gids = arena_calloc(p->a, (size_t)n + 1, sizeof(*gids));
	n = getgroups(n, gids);
	for (i = 0; i < n; i++) {
		list[k++] = arena_printf(p->a, "%u", (unsigned)gids[i]);
		own |= gids[i] == getegid();
	}
	/* The effective group need not be among the others. */
	if (!own)
		list[k++] = arena_printf(p->a, "%u", (unsigned)getegid());
	fact_list_set(&p->s->host.gids, list, k, "getgroups");
}

static void live(struct probe_ctx *p)
{
	struct host *h = &p->s->host;
	struct utsname *u = arena_alloc(p->a, sizeof(*u));

	if (uname(u) == 0) {
		fact_set(&h->kernel, u->release, "uname");
		fact_set(&h->arch, u->machine, "uname");
	}
	fact_int(p->a, &h->euid, (int64_t)geteuid(), "geteuid");
	live_groups(p);
	live_variables(p);
	fact_flag(&p->s->parts.environment, true, "environment");
}

/* "Linux 6.8.0-45-generic x86_64", as uname -srm prints it. */
static void file_uname(struct probe_ctx *p, const char *text)
{
	const char *source = arena_printf(p->a, "%s: uname", p->facts_name);
	struct view rest = view_of(text), word;

	if (!view_word(&rest, &word) || !view_word(&rest, &word))
		return;
	fact_set(&p->s->host.kernel, view_dup(p->a, word), source);
	if (view_word(&rest, &word))
		fact_set(&p->s->host.arch, view_dup(p->a, word), source);
}

static void file_groups(struct probe_ctx *p)
{
	const struct json *gids = json_get(p->facts, "gids"), *j;
	const char **list;
	size_t n = 0;
	int64_t gid;

	if (json_type(gids) != JSON_ARRAY)
		return;
	list = arena_calloc(p->a, GIDS_MAX, sizeof(*list));
	for (j = json_first(gids); j && n < GIDS_MAX; j = json_next(j))
		if (json_int(j, &gid))
			list[n++] = arena_printf(p->a, "%lld", (long long)gid);
	fact_list_set(&p->s->host.gids, list, n, arena_printf(p->a, "%s: gids", p->facts_name));
}

static void from_file(struct probe_ctx *p)
{
	const char *source = arena_printf(p->a, "%s: env", p->facts_name);
	const struct json *env = json_get(p->facts, "env"), *j;
	int64_t euid;

	if (json_get_str(p->facts, "uname"))
		file_uname(p, json_get_str(p->facts, "uname"));
	if (json_get_int(p->facts, "euid", &euid))
		fact_int(p->a, &p->s->host.euid, euid,
			 arena_printf(p->a, "%s: euid", p->facts_name));
	file_groups(p);
	if (json_type(env) != JSON_OBJECT)
		return;
	for (j = json_first(env); j; j = json_next(j))
		if (json_str(j) && is_wanted(view_of(json_key(j))))
			add(p, json_key(j), json_str(j), source);
	fact_flag(&p->s->parts.environment, true, source);
}

/* What an image sets for every process that is started from it. */
static void from_image(struct probe_ctx *p)
{
	size_t i;

	for (i = 0; i < p->n_env; i++) {
		struct view value, name = view_cut(view_of(p->env[i]), '=', &value);

		if (is_wanted(name))
			add(p, view_dup(p->a, name), view_dup(p->a, value), p->env_source);
	}
	fact_flag(&p->s->parts.environment, true, p->env_source);
}

static void run(struct probe_ctx *p)
{
	if (p->root->live)
		live(p);
	else if (p->facts)
		from_file(p);
	else if (p->env)
		from_image(p);
}

const struct probe probe_environ = { .name = "environment", .run = run };
