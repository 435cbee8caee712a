/* SPDX-License-Identifier: Apache-2.0 */
/* fetch: archives of NVIDIA's redist servers for this machine, and what became of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/suggest.h"
#include "cli/fetch_out.h"
#include "cli/judged.h"
#include "cli/opts.h"
#include "fetch/choose.h"
#include "fetch/manifest.h"
#include "report/report.h"

enum { TIMEOUT_S = 30, RETRIES = 4, TIMEOUT_MAX = 3600, RETRIES_MAX = 100 };

#define AT(field) .offset = offsetof(struct options, field)
/* clang-format off */
static const struct opt opt_prefix = { .name = "prefix", .kind = OPT_STRING,
	.arg = "DIR", AT(prefix),
	.help = N_("where installations lie (default: ~/.local/cuvet)") };
static const struct opt opt_cache = { .name = "cache", .kind = OPT_STRING, .arg = "DIR", AT(cache),
	.help = N_("where downloads are kept (default: PREFIX/.cache)") };
static const struct opt opt_mirror = { .name = "mirror", .kind = OPT_STRING,
	.arg = "URL|DIR", AT(mirror),
	.help = N_("stands for " FETCH_BASE) };
static const struct opt opt_fetch_cuda = { .name = "cuda", .kind = OPT_STRING,
	.arg = "VERSION", AT(cuda),
	.help = N_("the build for this CUDA: 12, 13.4") };
static const struct opt opt_platform = { .name = "platform", .kind = OPT_STRING,
	.arg = "NAME", AT(platform),
	.help = N_("linux-x86_64, linux-sbsa, linux-aarch64, windows-x86_64, ...") };
static const struct opt opt_components = { .name = "components", .kind = OPT_STRING,
	.arg = "A,B", AT(components),
	.help = N_("which components of the manifest") };
static const struct opt opt_into = { .name = "into", .kind = OPT_STRING, .arg = "TOOLKIT", AT(into),
	.help = N_("merge into this folder instead; `remove` takes it out again") };
static const struct opt opt_accept = { .name = "accept-license", .kind = OPT_FLAG, AT(accept_license),
	.help = N_("NVIDIA's licence was read and is accepted") };
static const struct opt opt_fetch_dry = { .name = "dry-run", .kind = OPT_FLAG, AT(dry_run),
	.help = N_("only say what would be downloaded, from where, to where") };
static const struct opt opt_offline = { .name = "offline", .kind = OPT_FLAG, AT(offline),
	.help = N_("use no network: what is in the cache, or a folder as mirror") };
static const struct opt opt_fetch_timeout = { .name = "timeout", .kind = OPT_STRING,
	.arg = "S", AT(timeout),
	.help = N_("seconds to wait for a connection, and in silence (30)") };
static const struct opt opt_retries = { .name = "retries", .kind = OPT_STRING,
	.arg = "N", AT(retries),
	.help = N_("how often to try again (4)") };
static const struct opt opt_limit_rate = { .name = "limit-rate", .kind = OPT_STRING,
	.arg = "R", AT(limit_rate),
	.help = N_("bytes a second at most: 500k, 10M") };
static const struct opt opt_max_size = { .name = "max-size", .kind = OPT_STRING,
	.arg = "SIZE", AT(max_size),
	.help = N_("how large it may be when unpacked (8G, and 200 times the archive)") };
static const struct opt opt_ca_bundle = { .name = "ca-bundle", .kind = OPT_STRING,
	.arg = "FILE", AT(ca_bundle),
	.help = N_("certificates of the authorities to trust (PEM)") };
static const struct opt opt_proxy = { .name = "proxy", .kind = OPT_STRING, .arg = "URL", AT(proxy),
	.help = N_("proxy (default: HTTPS_PROXY, ALL_PROXY, NO_PROXY)") };
static const struct opt opt_allow_http = { .name = "allow-http", .kind = OPT_FLAG, AT(allow_http),
	.help = N_("take plain http too; hashes are checked all the same") };
/* clang-format on */

static int usage(const char *fmt, ...) ATTR_PRINTF(1, 2);
static int usage(const char *fmt, ...)
{
	struct arena *a = arena_new(NULL);
	struct err err;
	va_list ap;
	int code;

	va_start(ap, fmt);
	err_set(&err, ERR_USAGE, "%s", arena_vprintf(a, fmt, ap));
	va_end(ap);
	code = cli_fail(&err);
	arena_free(a);
	return code;
}

/* Bytes with k, M, G (of 1024) and an optional "iB" or "B" behind. */
static bool read_size(const char *text, uint64_t *ret)
{
	static const char letters[] = "kKmMgGtT";
	struct view v = view_of(text);
	const char *letter;
	unsigned shift = 0;

	if (view_ends(v, "iB"))
		v.n -= 2;
	else if (view_ends(v, "B"))
		v.n--;
	letter = v.n ? memchr(letters, v.p[v.n - 1], sizeof(letters) - 1) : NULL;
	if (letter) {
		shift = (unsigned)((letter - letters) / 2 + 1) * 10;
		v.n--;
	}
	if (!view_u64(v, 10, ret) || !*ret || *ret > UINT64_MAX >> shift)
		return false;
	*ret <<= shift;
	return *ret < UINT64_C(1) << 62;
}

/* What the user named, from the root of the file system. */
static int absolute(struct run *r, const char *option, const char *path, const char **ret)
{
	char cwd[4096];

	if (!*path)
		return usage(_("--%s needs the name of a folder"), option);
	if (path[0] == '/') {
		*ret = path;
		return 0;
	}
	if (!getcwd(cwd, sizeof(cwd)))
		return usage(_("--%s %.300s: the working folder has no name (%s)"), option, path,
			     strerror(errno));
	*ret = arena_printf(r->a, "%s/%s", cwd, path);
	return 0;
}

static int find_prefix(struct run *r, const char **ret)
{
	const char *home = getenv("HOME");
	int code;

	if (r->o->prefix) {
		code = absolute(r, "prefix", r->o->prefix, ret);
	} else if (home && home[0] == '/') {
		*ret = arena_printf(r->a, "%s/.local/cuvet", home);
		return 0;
	} else {
		return usage(_("HOME is not set: say where with --prefix DIR"));
	}
	if (!code && strcmp(*ret, "/") != 0) {
		size_t n = strlen(*ret);

		while (n > 1 && (*ret)[n - 1] == '/')
			n--;
		*ret = arena_strndup(r->a, *ret, n);
	}
	return code;
}

static int number(const char *option, const char *text, uint64_t max, uint64_t *ret)
{
	if (view_u64(view_of(text), 10, ret) && *ret <= max)
		return 0;
	return usage(_("--%s %.40s: a whole number up to %llu"), option, text,
		     (unsigned long long)max);
}

static int transfer_options(struct run *r, struct transfer_options *t)
{
	const struct options *o = r->o;
	uint64_t n;
	int code = 0;

	*t = (struct transfer_options){
		.ca_bundle = o->ca_bundle,
		.proxy = o->proxy,
		.timeout_s = TIMEOUT_S,
		.retries = RETRIES,
		.allow_http = o->allow_http,
	};
	if (o->timeout) {
		code = number("timeout", o->timeout, TIMEOUT_MAX, &n);
		if (!code && !n)
			code = usage(_("--timeout 0: at least one second"));
		if (!code)
			t->timeout_s = (long)n;
	}
	if (!code && o->retries) {
		code = number("retries", o->retries, RETRIES_MAX, &n);
		if (!code)
			t->retries = (int)n;
	}
	if (!code && o->limit_rate && !read_size(o->limit_rate, &t->limit_rate))
		code = usage(_("--limit-rate %.40s: bytes a second, as 500k or 10M"),
			     o->limit_rate);
	return code;
}

static int split_components(struct run *r, struct fetch_options *f)
{
	struct view rest = view_of(r->o->components), one;
	const char **names = NULL;
	size_t n = 0, i;

	while (rest.n) {
		const char *name;

		one = view_trim(view_cut(rest, ',', &rest));
		name = view_dup(r->a, one);
		if (!manifest_name_ok(name))
			return usage(_("--components %.200s: not the name of a component"), name);
		for (i = 0; i < n && strcmp(names[i], name) != 0; i++)
			;
		if (i == n)
			*ARENA_APPEND(r->a, names, n) = name;
	}
	if (r->o->components && !n)
		return usage(_("--components needs names, separated by commas"));
	f->components = names;
	f->n_components = n;
	return 0;
}

static int gather(struct run *r, struct fetch_options *f)
{
	const struct options *o = r->o;
	int code = find_prefix(r, &f->prefix);

	if (!code && o->cache)
		code = absolute(r, "cache", o->cache, &f->cache);
	if (!code && o->into)
		code = absolute(r, "into", o->into, &f->into);
	if (!code)
		code = transfer_options(r, &f->transfer);
	if (!code)
		code = split_components(r, f);
	if (!code && o->max_size && !read_size(o->max_size, &f->max_size))
		code = usage(_("--max-size %.40s: bytes, as 12G"), o->max_size);
	if (!code && o->cuda && !manifest_label_ok(o->cuda))
		code = usage(_("--cuda %.40s: a version, as 12 or 13.4"), o->cuda);
	if (!code && o->platform && !manifest_name_ok(o->platform))
		code = usage(_("--platform %.80s: a name, as linux-x86_64"), o->platform);
	f->mirror = o->mirror;
	f->cuda = o->cuda;
	f->platform = o->platform;
	f->offline = o->offline;
	f->accept = o->accept_license;
	f->dry_run = o->dry_run;
	f->strict = o->strict;
	return code;
}

/* -------- getting */

/* The machine that it is for: found, or assumed. */
static int machine(struct run *r, struct compat **ret_c, struct snapshot *ret)
{
	struct options o = *r->o;
	struct run inner = *r;

	o.args = (struct str_list){ 0 };
	o.timeout = NULL;
	inner.o = &o;
	return judged_snapshot(&inner, ret_c, ret);
}

static bool whole_version(const char *text)
{
	struct version v;

	return text && version_parse(view_of(text), &v) && v.n >= 3;
}

/* Is it there already? Then nothing has to be asked of the machine or the network. */
static int already(struct run *r, const struct fetch_options *f, bool *ret_done)
{
	struct fetch_options q = *f;
	struct fetch_item *item = NULL;
	struct err err = { 0 };

	*ret_done = false;
	if (f->dry_run || f->n_components || !whole_version(f->label) || r->o->assume.n ||
	    r->o->root)
		return 0;
	if (!q.platform)
		q.platform = choose_platform(NULL);
	if (fetch_installed(r->a, &q, &item, &err))
		return cli_fail(&err);
	*ret_done = item != NULL;
	return item ? fetch_say(r, f, item, 1, NULL) : 0;
}

static int get(struct run *r, const char *product)
{
	const struct options *o = r->o;
	struct fetch_options f = { .product = product };
	struct snapshot s = { 0 };
	struct compat *c;
	struct err err = { 0 };
	bool done, cudnn = strcmp(product, "cudnn") == 0;
	bool judged = cudnn || o->assume.n || o->root;
	int code = gather(r, &f);

	if (code)
		return code;
	f.label = o->args.n > 1 ? o->args.v[1] : NULL;
	if (f.label && !manifest_label_ok(f.label))
		return usage(_("fetch %.64s %.64s: not a version"), product, f.label);
	if (!f.label && !cudnn)
		return usage(
			_("fetch %.64s: needs a version, as `cuvet fetch cuda 12.4.1 --components cuda_nvcc`"),
			product);
	code = already(r, &f, &done);
	if (code || done)
		return code;
	if (judged)
		code = machine(r, &c, &s);
	else if (compat_open(r->a, o->data, &c, &err))
		code = cli_fail(&err);
	if (!code && compat_error(c))
		code = cli_fail(compat_error(c));
	return code ? code : fetch_get(r, c, judged ? &s : NULL, &f);
}

/* -------- what is installed */

static int verify(struct run *r, bool compare)
{
	const char *wanted = r->o->args.n > 1 ? r->o->args.v[1] : NULL, *prefix;
	struct installed_item *items;
	struct err err = { 0 };
	size_t n;
	int code = find_prefix(r, &prefix);

	if (code)
		return code;
	if (fetch_list(r->a, prefix, wanted, compare, NULL, &items, &n, &err)) {
		code = cli_fail(&err);
		return err.code == ERR_NOENT ? EXIT_USAGE : code;
	}
	return fetch_show_installed(r, items, n, compare, prefix);
}

static int list(struct run *r)
{
	return verify(r, false);
}

static int verify_files(struct run *r)
{
	return verify(r, true);
}

static int say_done(struct run *r, const struct installed_item *item, const char *text)
{
	struct strbuf out;

	if (r->o->json)
		return fetch_show_installed(r, item, 1, false, "");
	strbuf_init(&out, r->a);
	put_clean(&out, text);
	strbuf_addc(&out, '\n');
	return cli_write(r, out.s, out.n);
}

static int change(struct run *r, bool removing)
{
	const char *prefix, *into = NULL, *verb = removing ? "remove" : "use";
	struct installed_item item = { 0 };
	struct fetch_progress p;
	const struct fetch_watch watch = { .note = fetch_note, .ctx = &p };
	struct err err = { 0 };
	size_t kept = 0;
	int code = find_prefix(r, &prefix), e;

	if (!code && r->o->into)
		code = absolute(r, "into", r->o->into, &into);
	if (code)
		return code;
	if (r->o->args.n < 2)
		return usage(_("fetch %s: needs NAME/VERSION, as `cuvet fetch list` shows it"),
			     verb);
	fetch_progress_init(&p, r);
	e = removing ? fetch_remove(r->a, prefix, r->o->args.v[1], into, &watch, &item, &kept, &err)
		     : fetch_use(r->a, prefix, r->o->args.v[1], &watch, &item, &err);
	if (e) {
		code = cli_fail(&err);
		return err.code == ERR_NOENT ? EXIT_USAGE : code;
	}
	if (!removing)
		return say_done(r, &item,
				arena_printf(r->a, _("%s/%s is the current one of %s/%s"),
					     item.name, item.dir, prefix, item.name));
	item.current = false;
	if (kept)
		return say_done(
			r, &item,
			arena_printf(r->a,
				     _("removed %s/%s; %zu files that others put into %s stay"),
				     item.name, item.dir, kept, item.path));
	return say_done(r, &item,
			arena_printf(r->a, _("removed %s/%s from %s"), item.name, item.dir,
				     item.into ? item.into : prefix));
}

static int remove_one(struct run *r)
{
	return change(r, true);
}

static int use(struct run *r)
{
	return change(r, false);
}

static const struct {
	const char *name;
	int (*run)(struct run *r);
} verbs[] = {
	{ .name = "list", .run = list },
	{ .name = "verify", .run = verify_files },
	{ .name = "remove", .run = remove_one },
	{ .name = "use", .run = use },
};

static int run(struct run *r)
{
	/* What is named most; others have manifests of the same shape. */
	static const char *const known[] = { "cudnn",	"cuda", "cutensor", "cusparselt", "nvshmem",
					     "list",	"verify", "remove", "use",	NULL };
	const char *what = r->o->args.n ? r->o->args.v[0] : NULL, *near;
	size_t i;

	if (!what)
		return usage(_(
			"fetch: what? cudnn, cuda LABEL, another product and its label, list, verify, remove or use"));
	if (r->o->args.n > 2)
		return usage(_("fetch %.64s: one operand too many: %.200s"), what, r->o->args.v[2]);
	for (i = 0; i < ARRAY_LEN(verbs); i++)
		if (strcmp(verbs[i].name, what) == 0)
			return verbs[i].run(r);
	if (!manifest_name_ok(what))
		return usage(_("fetch %.64s: not the name of a product"), what);
	near = suggest(what, known);
	for (i = 0; known[i] && strcmp(known[i], what) != 0; i++)
		;
	if (!known[i] && near && r->o->args.n < 2)
		return usage(_("fetch %.64s: did you mean %s?"), what, near);
	return get(r, what);
}

static const struct opt *const opts[] = {
	&opt_prefix,   &opt_cache,     &opt_mirror,	   &opt_fetch_cuda, &opt_platform,
	&opt_components, &opt_into,    &opt_accept,	   &opt_fetch_dry,  &opt_offline,
	&opt_fetch_timeout, &opt_retries, &opt_limit_rate, &opt_max_size,  &opt_ca_bundle,
	&opt_proxy,    &opt_allow_http, NULL,
};

extern const struct cmd cmd_fetch;
const struct cmd cmd_fetch = {
	.name = "fetch",
	.args = "PRODUCT [VERSION] | list | verify | remove | use",
	.words = "cudnn|cuda|list|verify|remove|use",
	.summary =
		N_("the cuDNN, or another archive of NVIDIA's, that fits: verified and unpacked"),
	.details = N_(
		"Downloads an archive of NVIDIA's redist servers, verifies its SHA-256 while it arrives, unpacks it "
		"and gives it its name only when all of it is right. Without a version the newest cuDNN is taken that "
		"fits the GPUs, the driver and the CUDA that were found or assumed. What is interrupted leaves no "
		"half installation, and the next run goes on where it was.\n"
		"\n"
		"  cuvet fetch cudnn --accept-license\n"
		"  cuvet fetch cudnn 9.1.1 --cuda 12 --prefix /opt/cuvet --accept-license\n"
		"  cuvet fetch cudnn --assume gpu='GTX 1080 Ti' --dry-run\n"
		"  cuvet fetch cuda 12.4.1 --components cuda_nvcc,cuda_cudart \\\n"
		"      --into ~/cuda-12.4 --accept-license\n"
		"  cuvet fetch list\n"
		"  cuvet fetch verify cudnn/9.1.1\n"
		"  cuvet fetch use cudnn/9.1.1.17-cuda12\n"
		"  cuvet fetch remove cudnn/9.1.1.17-cuda12\n"
		"\n"
		"NVIDIA's licence has to be accepted: by --accept-license, or on the terminal when asked; nothing is "
		"downloaded before. Installations lie in PREFIX/NAME/VERSION-cudaN side by side; `use` switches "
		"PREFIX/NAME/current. `verify` names every file that was changed, is missing or does not belong, and "
		"exits 4 then. `remove` takes away what was put there, and nothing else. The line for the shell is "
		"printed after installing; until it is in force `cuvet check` says lib-path-not-set.\n"
		"\n"
		"Only https is spoken (http to this machine itself); proxies and certificates as curl takes them: "
		"HTTPS_PROXY, NO_PROXY, CURL_CA_BUNDLE, SSL_CERT_FILE. A folder with the same layout as the server "
		"serves as --mirror, the cache of another machine too.\n"
		"\n"
		"Exits 0 when it is installed, 1 when nothing fits, 2 when the licence is not accepted or the command is "
		"not right, 4 when it could not be done (then nothing was changed) or when `verify` found a "
		"difference.\n"),
	.opts = opts,
	.run = run,
};
