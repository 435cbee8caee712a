/* SPDX-License-Identifier: Apache-2.0 */
/* Machines for the tests of rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "model/snapshot_json.h"
#include "rule_world.h"

#define ALL_PARTS                                                                                  \
	"'parts':{'host':'yes','pci':'yes','kernel':'yes','nodes':'yes','userlib':'yes',"          \
	"'cuda':'yes','nvml':'yes','container':'yes','environment':'yes','services':'yes',"        \
	"'toolkit':'yes','python':'yes'}"
#define NODES                                                                                      \
	"'nodes':[{'name':'nvidia0','mode':'0666'},{'name':'nvidiactl','mode':'0666'},"            \
	"{'name':'nvidia-uvm','mode':'0666'}]"
#define RTX4090 \
	"'gpus':[{'pci_id':'10de:2684','name':'NVIDIA GeForce RTX 4090'," \
	"'compute_capability':'8.9'," \
	"'address':'0000:01:00.0','kernel_driver':'nvidia','power_state':'D0'," \
	"'config':'ok'," \
	"'bars':'ok','nvml_index':'0','uuid':'GPU-aaaaaaaa','compute_mode':'Default'}]"

const char HOST[] =
	"{'source':'root'," ALL_PARTS
	",'host':{'system':'linux','kernel':'6.8.0-45-generic','arch':'x86_64',"
	"'os_id':'ubuntu','os_version':'22.04','os_like':'debian','libc':'glibc','glibc':'2.35',"
	"'euid':'1000',"
	"'gids':['1000','44']},'container':{'kind':'none'}," RTX4090
	",'driver':{'version':'550.90.07',"
	"'flavor':'proprietary','module_loaded':'yes','uvm_loaded':'yes','nouveau_loaded':'no',"
	"'installed':'yes',"
	"'modules':[{'name':'nvidia','version':'550.90.07','loaded':'yes',"
	"'path':'/lib/modules/6.8.0-45-generic/nvidia.ko',"
	"'kernel':'6.8.0-45-generic','flavor':'proprietary'},{'name':'nvidia_uvm',"
	"'version':'550.90.07','loaded':'yes',"
	"'path':'/lib/modules/6.8.0-45-generic/nvidia-uvm.ko','kernel':'6.8.0-45-generic'}],"
	"'libcuda':{'path':'/usr/lib/x86_64-linux-gnu/libcuda.so.1','version':'550.90.07'},"
	"'libnvml':{'path':'/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1','version':'550.90.07'},"
	"'cuda_init':'0','cuda_ceiling':'12.4','nvml_init':'0'}," NODES "}";

const char TORCH[] =
	"{'pythons':[{'prefix':'/home/ana/v','kind':'venv','version':'3.10.12','active':'yes',"
	"'interpreter':'/home/ana/v/bin/python','torch':{'version':'2.5.1+cu124',"
	"'variant':'cu124','cuda':'12.4',"
	"'origin':'pip','has_cuda_library':'yes','min_glibc':'2.17','arch_list':['sm_50','sm_60',"
	"'sm_70','sm_75',"
	"'sm_80','sm_86','sm_90'],'torchvision':'0.20.1'},'packages':[{'name':'torch',"
	"'version':'2.5.1+cu124'}]}]}";

const char CONTAINER[] =
	"{'source':'root'," ALL_PARTS
	",'host':{'system':'linux','kernel':'6.8.0-45-generic','arch':'x86_64',"
	"'os_id':'ubuntu','os_version':'22.04','libc':'glibc','glibc':'2.35','euid':'0'},"
	"'container':{'kind':'docker'}," RTX4090
	",'driver':{'version':'550.90.07','module_loaded':'yes',"
	"'libcuda':{'path':'/usr/lib/x86_64-linux-gnu/libcuda.so.1','version':'550.90.07'},"
	"'libnvml':{'path':'/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1','version':'550.90.07'},"
	"'cuda_init':'0','cuda_ceiling':'12.4','nvml_init':'0'},"
	"'environment':[{'name':'NVIDIA_VISIBLE_DEVICES',"
	"'value':'all'},{'name':'NVIDIA_DRIVER_CAPABILITIES','value':'compute,utility'}]," NODES
	"}";

const char WSL[] =
	"{'source':'root'," ALL_PARTS
	",'host':{'system':'wsl2','kernel':'5.15.153.1-microsoft-standard-WSL2',"
	"'arch':'x86_64','os_id':'ubuntu','os_version':'22.04','libc':'glibc','glibc':'2.35',"
	"'euid':'1000'},"
	"'container':{'kind':'none'},'gpus':[{'name':'NVIDIA GeForce RTX 4070',"
	"'compute_capability':'8.9',"
	"'nvml_index':'0'}],'driver':{'windows_driver':'560.94','module_loaded':'no',"
	"'installed':'no',"
	"'libcuda':{'path':'/usr/lib/wsl/lib/libcuda.so.1'},'cuda_init':'0','cuda_ceiling':'12.6',"
	"'nvml_init':'0'},"
	"'nodes':[{'name':'dxg','mode':'0666'}]}";

const char IMAGE[] =
	"{'source':'image','parts':{'host':'yes','userlib':'yes','container':'yes',"
	"'toolkit':'yes','python':'yes'},"
	"'host':{'system':'linux','arch':'x86_64','os_id':'ubuntu','os_version':'22.04',"
	"'libc':'glibc','glibc':'2.35'},"
	"'container':{'kind':'image'},'driver':{'libcuda':{'path':{'state':'absent'}},"
	"'libnvml':{'path':{'state':'absent'}}}}";

const char DECLARED[] = "{'source':'assumed','parts':{'pci':'yes','python':'yes'},'driver':{}}";

/* Copies a value, laying `over` over `base` member by member where both are objects. */
static void put_over(struct jsonw *w, const struct json *base, const struct json *over)
{
	const struct json *m;
	int64_t n;

	if (over && (json_type(over) != JSON_OBJECT || json_type(base) != JSON_OBJECT))
		base = over;
	switch (json_type(base)) {
	case JSON_OBJECT:
		jsonw_object(w);
		for (m = json_first(base); m; m = json_next(m)) {
			const struct json *o =
				over && over != base ? json_get(over, json_key(m)) : NULL;

			if (o && json_type(o) == JSON_NULL)
				continue;
			jsonw_key(w, json_key(m));
			put_over(w, m, o);
		}
		for (m = over != base ? json_first(over) : NULL; m; m = json_next(m)) {
			if (json_get(base, json_key(m)) || json_type(m) == JSON_NULL)
				continue;
			jsonw_key(w, json_key(m));
			put_over(w, m, NULL);
		}
		jsonw_end_object(w);
		break;
	case JSON_ARRAY:
		jsonw_array(w);
		for (m = json_first(base); m; m = json_next(m))
			put_over(w, m, NULL);
		jsonw_end_array(w);
		break;
	case JSON_STRING:
		jsonw_str(w, json_str(base));
		break;
	default:
		if (json_int(base, &n))
			jsonw_int(w, n);
		else
			jsonw_null(w);
	}
}

static const struct json *parse(struct arena *a, const char *text)
{
	char *copy = arena_strdup(a, text), *p;
	const struct json *v;
	struct err err;

	for (p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	if (json_parse(a, view_of(copy), "machine", &v, &err) != 0)
		fail_msg("%s in %s", err.msg, copy);
	return v;
}

void world_judge(struct world *w, const char *const *json, size_t n, const struct judge_options *o)
{
	const struct json *machine;
	struct strbuf b;
	struct jsonw jw;
	struct err err;
	size_t i;

	*w = (struct world){ .a = arena_new(NULL) };
	machine = parse(w->a, json[0]);
	for (i = 1; i < n && json[i]; i++) {
		strbuf_init(&b, w->a);
		jsonw_init(&jw, &b, false);
		put_over(&jw, machine, parse(w->a, json[i]));
		if (json_parse(w->a, view_of(b.s), "merged", &machine, &err) != 0)
			fail_msg("%s", err.msg);
	}
	if (snapshot_load(w->a, machine, "test", &w->s, &err) != 0 ||
	    compat_open(w->a, NULL, &w->c, &err) != 0)
		fail_msg("%s", err.msg);
	judge_run(w->a, &w->s, w->c, o, &w->r);
	assert_null(compat_error(w->c));
}

void world_free(struct world *w)
{
	arena_free(w->a);
}

const struct finding *world_find(const struct world *w, const char *name)
{
	size_t i;

	for (i = 0; i < w->r.n_findings; i++)
		if (strcmp(finding_info(w->r.findings[i]->id)->name, name) == 0)
			return w->r.findings[i];
	return NULL;
}

/* What every finding has to hold, whatever it is about. */
static void check_form(const struct world *w, const char *what)
{
	size_t i, k;

	for (i = 0; i < w->r.n_findings; i++) {
		const struct finding *f = w->r.findings[i];
		const char *name = finding_info(f->id)->name;

		if (!f->subject || !f->message || !*f->message || !f->n_evidence)
			fail_msg("%s: %s has no subject, message or evidence", what, name);
		for (k = 0; k < f->n_evidence; k++)
			if (!f->evidence[k].field || !f->evidence[k].seen || !f->evidence[k].source)
				fail_msg("%s: %s has half an evidence", what, name);
		if (f->severity == SEVERITY_ERROR && !f->n_remedies)
			fail_msg("%s: %s has no remedy", what, name);
		if (f->severity == SEVERITY_ERROR && !f->has_cause && w->r.root && f != w->r.root &&
		    f->id != w->r.root->id)
			fail_msg("%s: %s is a second cause", what, name);
	}
	if (w->r.verdict == VERDICT_UNDETERMINED && !w->r.n_asks)
		fail_msg("%s: undetermined without asks", what);
}

void world_cases(const struct world_case *cases, size_t n)
{
	struct world w;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct world_case *c = &cases[i];
		const char *root;

		world_judge(&w, c->layers, ARRAY_LEN(c->layers), NULL);
		check_form(&w, c->what);
		if (c->shows && !world_find(&w, c->shows))
			fail_msg("%s: %s did not fire", c->what, c->shows);
		if (c->hides && world_find(&w, c->hides))
			fail_msg("%s: %s fired: %s", c->what, c->hides,
				 world_find(&w, c->hides)->message);
		root = w.r.root ? finding_info(w.r.root->id)->name : "";
		if (c->root && strcmp(c->root, root) != 0)
			fail_msg("%s: root cause is \"%s\", not \"%s\"", c->what, root, c->root);
		world_free(&w);
	}
}
