/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that a text says are missing, against those that it lists. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "rule/look.h"
#include "rule/triage.h"

/* "libcudart.so.11.0" to name "libcudart" and version "11.0"; false for what is no library of
 * CUDA. */
struct soname {
	char name[48];
	const char *version; /* "" when it has none */
};

static bool parse(const char *s, struct soname *ret)
{
	static const char *const ours[] = { "libcu", "libnv", "libnccl", "libcupti" };
	const char *so = s ? strstr(s, ".so") : NULL;
	const char *slash = so ? memrchr(s, '/', (size_t)(so - s)) : NULL;
	size_t i, n;

	if (!so)
		return false;
	s = slash ? slash + 1 : s;
	n = (size_t)(so - s);
	if (n >= sizeof(ret->name))
		return false;
	memcpy(ret->name, s, n);
	ret->name[n] = '\0';
	ret->version = so[3] == '.' ? so + 4 : "";
	for (i = 0; i < ARRAY_LEN(ours); i++)
		if (strncmp(s, ours[i], strlen(ours[i])) == 0)
			return true;
	return false;
}

enum have { HAVE_NONE, HAVE_OTHER, HAVE_SAME };

/* One that somebody says is there, maybe in the place of another. */
static bool said_there(const struct sign *g)
{
	return fact_is(&g->id, "lib-there-said") || fact_is(&g->id, "lib-there-instead");
}

/* A file in a listing, or one that somebody says is there. */
static bool is_there(const struct sign *g)
{
	return fact_is(&g->id, "lib-listed") || said_there(g);
}

/* Does the text list this library, in this version or in another? */
static enum have listed(struct triage *t, const struct soname *want, const struct sign **ret)
{
	const struct snapshot *s = t->j->s;
	enum have best = HAVE_NONE;
	struct soname have;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		if (!is_there(&s->signs[i]) ||
		    !parse(fact_value(&s->signs[i].value, NULL), &have) ||
		    strcmp(have.name, want->name) != 0)
			continue;
		if (version_within(have.version, want->version) && best < HAVE_SAME) {
			best = HAVE_SAME;
			*ret = &s->signs[i];
		} else if (best == HAVE_NONE) {
			best = HAVE_OTHER;
			*ret = &s->signs[i];
		}
	}
	return best;
}

/* The wheel that brings a library: libcublas.so.12 is of nvidia-cublas-cu12. */
static bool in_wheel(struct triage *t, const struct soname *want)
{
	static const char *const odd[][2] = { { "libcudart", "cuda-runtime" },
					      { "libnvrtc", "cuda-nvrtc" },
					      { "libcupti", "cuda-cupti" },
					      { "libcublasLt", "cublas" } };
	const struct snapshot *s = t->j->s;
	const char *part = want->name + 3;
	const char *wheel;
	size_t i;

	if (!s->n_pythons || strlen(want->name) < 4 || !isdigit((unsigned char)*want->version))
		return false;
	for (i = 0; i < ARRAY_LEN(odd); i++)
		if (strcmp(want->name, odd[i][0]) == 0)
			part = odd[i][1];
	wheel = arena_printf(t->j->a, "nvidia-%s-cu%ld", part, strtol(want->version, NULL, 10));
	for (i = 0; i < s->pythons[0].n_packages; i++)
		if (fact_is(&s->pythons[0].packages[i].name, wheel))
			return true;
	return false;
}

/* TensorRT's libraries came with pip: tensorrt-libs 8.6.1, tensorrt-cu12 10.3.0. */
static bool in_tensorrt_wheel(struct triage *t, const struct soname *want)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	if (!s->n_pythons || !isdigit((unsigned char)*want->version) ||
	    (strncmp(want->name, "libnvinfer", 10) != 0 &&
	     strncmp(want->name, "libnvonnxparser", 15) != 0))
		return false;
	for (i = 0; i < s->pythons[0].n_packages; i++) {
		const struct package *p = &s->pythons[0].packages[i];

		if (strncmp(fact_value(&p->name, ""), "tensorrt", 8) == 0 &&
		    strtol(fact_value(&p->version, "0"), NULL, 10) ==
			    strtol(want->version, NULL, 10))
			return true;
	}
	return false;
}

/* The major of a package of the system, "libcudnn8" or "libcudnn9-cuda-12", or of conda's cudnn. */
static long cudnn_package(const struct triage *t, const struct fact **ret)
{
	const struct snapshot *s = t->j->s;
	const struct package *conda;
	size_t i;

	for (i = 0; i < s->n_os_packages; i++) {
		const char *name = fact_value(&s->os_packages[i].name, "");

		if (strncmp(name, "libcudnn", 8) != 0 || !isdigit((unsigned char)name[8]))
			continue;
		*ret = &s->os_packages[i].name;
		return strtol(name + 8, NULL, 10);
	}
	conda = s->n_pythons ? python_package(&s->pythons[0], "cudnn") : NULL;
	if (!conda || !fact_known(&conda->version))
		return 0;
	*ret = &conda->version;
	return strtol(conda->version.value, NULL, 10);
}

/* A file of cuDNN of another major than `major` in a listing that has none of it. */
static const struct sign *cudnn_listed(const struct triage *t, long major)
{
	const struct snapshot *s = t->j->s;
	const struct sign *other = NULL;
	struct soname have;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		if (!fact_is(&s->signs[i].id, "lib-listed") ||
		    !parse(fact_value(&s->signs[i].value, NULL), &have) ||
		    strncmp(have.name, "libcudnn", 8) != 0 ||
		    !isdigit((unsigned char)*have.version))
			continue;
		if (strtol(have.version, NULL, 10) == major)
			return NULL;
		other = &s->signs[i];
	}
	return other;
}

/* "cuDNN: 8.0.4" of a list of versions, or a package of it, where libcudnn.so.7 is wanted. */
static bool another_cudnn(struct triage *t, const struct soname *want, const struct sign **ret)
{
	const char *said = triage_value(t, "cudnn-said");
	const struct fact *package = NULL;
	long have = cudnn_package(t, &package);

	if (!*want->version)
		return false;
	if (have)
		return have != strtol(want->version, NULL, 10);
	*ret = cudnn_listed(t, strtol(want->version, NULL, 10));
	if (*ret)
		return true;
	if (!said || version_within(said, want->version) ||
	    strtol(said, NULL, 10) == strtol(want->version, NULL, 10))
		return false;
	*ret = triage_sign(t, "cudnn-said");
	return true;
}

/* The shell's LD_LIBRARY_PATH names a toolkit of that major, and what fails does not get it: sudo,
 * systemd and cron start with an environment of their own. */
static bool not_passed(const struct triage *t, const struct soname *want)
{
	const char *path = snapshot_env(t->j->s, "LD_LIBRARY_PATH");
	const char *at = path ? strstr(path, "/cuda-") : NULL;

	return at && isdigit((unsigned char)*want->version) && triage_has(t, "env-not-passed") &&
	       strtol(at + 6, NULL, 10) == strtol(want->version, NULL, 10);
}

/* nvcc answers, and its toolkit brings this library in this version. */
static bool of_toolkit(const struct triage *t, const struct soname *want)
{
	static const char *const names[] = { "libcudart", "libcublas", "libcublasLt" };
	const char *kit = triage_value(t, "nvcc-release");
	size_t i;

	if (!kit || !*want->version || triage_has(t, "container"))
		return false;
	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(want->name, names[i]) == 0)
			return look_branch(kit) == look_branch(want->version) &&
			       (look_branch(kit) >= 11 || version_within(kit, want->version));
	return false;
}

/* The loader looks there without being told: what lies there and is not found is broken. */
static bool default_folder(const struct sign *g)
{
	const char *text = g ? fact_value(&g->text, "") : "";

	return strstr(text, "/usr/lib/x86_64-linux-gnu/libcuda.so") ||
	       strstr(text, "/usr/lib64/libcuda.so") || strstr(text, " -> libcuda.so.1");
}

static void missing(struct triage *t, const struct sign *g)
{
	const struct sign *where = NULL;
	struct soname want;
	struct finding *f;
	enum have have;
	bool cudnn;

	if (!parse(fact_value(&g->value, NULL), &want))
		return;
	if (strcmp(want.name, "libcuda") == 0 && listed(t, &want, &where) == HAVE_SAME &&
	    !triage_has(t, "wsl")) {
		/* Google's clusters put the driver there, and in no cache of the loader. */
		if (strncmp(fact_value(&where->value, ""), "/usr/local/nvidia/", 18) == 0)
			triage_add(t, FINDING_LIB_PATH_NOT_SET, 88, "libcuda-missing");
		else if (!triage_has(t, "container") && !default_folder(where))
			triage_add(t, FINDING_LIB_PATH_NOT_SET, 66, NULL);
	}
	if (strcmp(want.name, "libcuda") == 0 || strcmp(want.name, "libnvidia-ml") == 0 ||
	    strncmp(want.name, "libnvidia", 9) == 0 || strncmp(want.name, "libnvcuvid", 10) == 0)
		return;
	/* TensorFlow and ONNX Runtime look for TensorRT, and need none. */
	if (strncmp(want.name, "libnvinfer", 10) == 0 &&
	    (triage_has(t, "tf-trt-libs") ||
	     (triage_has(t, "ort-trt-optional") && triage_has(t, "ort-cuda-applied"))))
		return;
	cudnn = strncmp(want.name, "libcudnn", 8) == 0;
	have = listed(t, &want, &where);
	if (have != HAVE_SAME && !cudnn &&
	    (in_wheel(t, &want) || in_tensorrt_wheel(t, &want) || not_passed(t, &want) ||
	     of_toolkit(t, &want)))
		have = HAVE_SAME;
	if (cudnn && have == HAVE_NONE && another_cudnn(t, &want, &where))
		have = HAVE_OTHER;
	if (have == HAVE_SAME)
		f = triage_add(t, FINDING_LIB_PATH_NOT_SET, 84, NULL);
	else if (have == HAVE_OTHER && cudnn)
		f = triage_add(t, FINDING_CUDNN_MAJOR_MISMATCH, 80, NULL);
	else if (cudnn)
		f = triage_add(t, FINDING_CUDNN_NOT_FOUND, 76, NULL);
	else
		f = triage_add(t, FINDING_MISSING_CUDA_RUNTIME_LIB, have == HAVE_OTHER ? 82 : 70,
			       NULL);
	finding_evidence(t->j, f, "text", g->text.value, NULL, g->text.source);
	if (where)
		finding_evidence(t->j, f, "text", where->text.value, NULL, where->text.source);
	finding_message(t->j, f,
			have == HAVE_SAME ? _("%s%s%s is there and not where the loader looks.")
			: have == HAVE_OTHER
				? _("%s%s%s is wanted, and only another version is there.")
				: _("%s%s%s is wanted and not there."),
			want.name, *want.version ? ".so." : ".so", want.version);
}

/* The cuDNN wheel in the list of packages. */
static int cudnn_wheel(const struct python *p)
{
	size_t i;

	for (i = 0; i < p->n_packages; i++)
		if (strncmp(fact_value(&p->packages[i].name, ""), "nvidia-cudnn", 12) == 0)
			return (int)look_branch(fact_value(&p->packages[i].version, "0"));
	return 0;
}

/* A file of that major of cuDNN: "libcudnn.so.9", "cudnn_ops_infer64_8.dll". */
static bool cudnn_of(const struct sign *g, int major)
{
	const char *value = fact_value(&g->value, ""), *at;
	struct soname have;

	if (fact_is(&g->id, "dll-listed") || strstr(value, ".dll")) {
		at = strncmp(value, "cudnn", 5) == 0 ? strstr(value, "64_") : NULL;
		return at && strtol(at + 3, NULL, 10) == major;
	}
	return is_there(g) && parse(value, &have) && strncmp(have.name, "libcudnn", 8) == 0 &&
	       strtol(have.version, NULL, 10) == major;
}

/* A file of cuDNN among the libraries of Windows that the text lists: "cudnn_ops64_9.dll". */
static const struct sign *cudnn_dll(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	for (i = 0; i < s->n_signs; i++)
		if ((fact_is(&s->signs[i].id, "dll-listed") || said_there(&s->signs[i])) &&
		    (cudnn_of(&s->signs[i], 8) || cudnn_of(&s->signs[i], 9)))
			return &s->signs[i];
	return NULL;
}

/* The cuDNN that is asked for is among the files that the text lists. */
static void cudnn_there(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	int want = triage_has(t, "wants-cudnn-9") ? 9 : triage_has(t, "wants-cudnn-8") ? 8 : 0;
	struct finding *f;
	size_t i;

	for (i = 0; want && i < s->n_signs; i++) {
		if (!cudnn_of(&s->signs[i], want))
			continue;
		f = triage_add(t, FINDING_LIB_PATH_NOT_SET, 82, "wants-cudnn-9|wants-cudnn-8");
		finding_evidence(t->j, f, "text", s->signs[i].text.value, NULL,
				 s->signs[i].text.source);
		return;
	}
}

/* The cuDNN that the text shows, PyTorch's first, against the one that is asked for. */
static void cudnn_major(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct torch *torch = s->n_pythons ? &s->pythons[0].torch : NULL;
	const char *release = torch ? look_torch_release(t->j, torch) : NULL;
	int want = triage_has(t, "wants-cudnn-9") ? 9 : triage_has(t, "wants-cudnn-8") ? 8 : 0;
	const struct sign *dll = cudnn_dll(t);
	const struct fact *package = NULL;
	struct finding *f;
	int brings = 0;

	if (!want)
		return;
	if (torch)
		brings = cudnn_wheel(&s->pythons[0]);
	/* PyTorch changed from cuDNN 8 to 9 with 2.4. */
	if (!brings && release)
		brings = look_driver_below(release, "2.4") ? 8 : 9;
	if (!brings)
		brings = (int)cudnn_package(t, &package);
	if (!brings && dll && !cudnn_of(dll, want)) {
		brings = cudnn_of(dll, 8) ? 8 : 9;
		package = &dll->value;
	}
	if (!brings && triage_value(t, "cudnn-said")) {
		brings = (int)strtol(triage_value(t, "cudnn-said"), NULL, 10);
		package = &triage_sign(t, "cudnn-said")->value;
	}
	if (!brings)
		return;
	if (brings == want)
		return;
	f = triage_add(t, FINDING_CUDNN_MAJOR_MISMATCH, 84, "wants-cudnn-9|wants-cudnn-8");
	if (release)
		finding_fact(t->j, f, "torch.version", &torch->version, NULL);
	else if (package)
		finding_fact(t->j, f, "cudnn", package, NULL);
	finding_message(t->j, f, _("cuDNN %d is asked for, and the environment brings cuDNN %d."),
			want, brings);
}

/* Lua's Torch names the release of cuDNN that it wants: "libcudnn (R4)". */
static void cudnn_release(struct triage *t)
{
	const char *want = triage_value(t, "cudnn-release-wanted");
	const struct sign *other = want ? cudnn_listed(t, strtol(want, NULL, 10)) : NULL;
	struct finding *f;

	if (!want)
		return;
	f = triage_add(t, other ? FINDING_CUDNN_MAJOR_MISMATCH : FINDING_CUDNN_NOT_FOUND, 80,
		       "cudnn-release-wanted");
	if (other)
		finding_evidence(t->j, f, "text", other->text.value, NULL, other->text.source);
}

/* What is for CUDA 11 does not want libraries of CUDA 12: something else of that name was taken. */
static void of_another_major(struct triage *t, const struct sign *g)
{
	const char *major = triage_value(t, "cupy-cuda");
	const char *by = "cupy-cuda";
	struct soname want;

	/* TensorFlow of CUDA 11: libcusolver has the soname 11 in CUDA 12, too. */
	if (!major && triage_has(t, "opened-cudart")) {
		major = triage_value(t, "opened-cudart");
		by = "opened-cudart";
	}
	if (major && parse(fact_value(&g->value, NULL), &want) && *want.version &&
	    strcmp(want.name, "libnvJitLink") == 0 &&
	    strtol(major, NULL, 10) < strtol(want.version, NULL, 10))
		triage_add(t, FINDING_LIB_SHADOWING, 86, by);
}

/* onnxruntime-gpu says which CUDA and cuDNN it needs. */
static void ort(struct triage *t)
{
	const struct sign *g = triage_sign(t, "ort-needs");
	const char *said = g ? triage_value(t, "cudnn-said") : NULL;

	if (said && fact_known(&g->value) &&
	    strtol(said, NULL, 10) != strtol(g->value.value, NULL, 10))
		triage_add(t, FINDING_CUDNN_MAJOR_MISMATCH, 82, "ort-needs cudnn-said");
	if (g && triage_has(t, "wants-cudnn-9"))
		triage_add(t, FINDING_CUDNN_NOT_FOUND, 70, "ort-needs");
	/* It lists all that it needs; the file that is named is the one that it lacks. */
	if ((triage_has(t, "wants-cudnn-9") || triage_has(t, "wants-cudnn-8")) &&
	    !triage_has(t, "lib-missing"))
		t->against[FINDING_MISSING_CUDA_RUNTIME_LIB] = true;
}

/* A library of Windows that is not found, and that the text may show to be there. */
static void dll_missing(struct triage *t, const struct sign *g)
{
	const struct snapshot *s = t->j->s;
	const char *name = fact_value(&g->value, "");
	struct finding *f;
	size_t i;

	for (i = 0; i < s->n_signs && *name; i++) {
		const struct sign *at = &s->signs[i];

		if ((!fact_is(&at->id, "dll-listed") && !said_there(at)) ||
		    strcasecmp(fact_value(&at->value, ""), name) != 0)
			continue;
		f = triage_add(t, FINDING_LIB_PATH_NOT_SET, 84, NULL);
		finding_evidence(t->j, f, "text", g->text.value, NULL, g->text.source);
		finding_evidence(t->j, f, "text", at->text.value, NULL, at->text.source);
		finding_message(t->j, f, _("%s%s%s is there and not where the loader looks."), name,
				"", "");
		return;
	}
	triage_add(t, FINDING_MISSING_CUDA_RUNTIME_LIB, 66, "dll-missing");
}

static void missing_and(struct triage *t, const struct sign *g)
{
	missing(t, g);
	of_another_major(t, g);
}

/* -------- packages of one name for two CUDAs */

/* Where "-cu118" or "-cuda12x" begins in the name of a package; 0: it says no CUDA. */
static size_t cuda_suffix(const char *name)
{
	const char *at = strstr(name, "-cu");

	if (!at || at == name)
		return 0;
	at += strncmp(at, "-cuda", 5) == 0 ? 5 : 3;
	return at[strspn(at, "0123456789x")] == '\0' && *at >= '1' && *at <= '9'
		       ? (size_t)(strstr(name, "-cu") - name)
		       : 0;
}

/* spconv-cu113 and spconv-cu118: both write the same files, and what fails is half of each. */
static void one_name_twice(struct triage *t)
{
	const struct python *p = t->j->s->n_pythons ? &t->j->s->pythons[0] : NULL;
	struct finding *f;
	size_t i, k, n;

	if (!p || !triage_holds(t, "error-seen|no-kernel-image|lib-missing|crash-said", NULL))
		return;
	for (i = 0; i < p->n_packages; i++) {
		const char *name = fact_value(&p->packages[i].name, "");

		n = strncmp(name, "nvidia-", 7) == 0 ? 0 : cuda_suffix(name);
		for (k = 0; n && k < i; k++) {
			const char *other = fact_value(&p->packages[k].name, "");

			if (cuda_suffix(other) != n || strncmp(name, other, n) != 0 ||
			    strcmp(name, other) == 0)
				continue;
			f = triage_add(t, FINDING_MIXED_CUDA_WHEELS, 78, NULL);
			finding_fact(t->j, f, other, &p->packages[k].version, NULL);
			finding_fact(t->j, f, name, &p->packages[i].version, NULL);
			return;
		}
	}
}

void triage_libraries(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	for (i = 0; i < s->n_signs; i++)
		if (fact_is(&s->signs[i].id, "shared-missing") ||
		    fact_is(&s->signs[i].id, "none-loads") ||
		    fact_is(&s->signs[i].id, "ldd-not-found") ||
		    fact_is(&s->signs[i].id, "ld-needed-not-found") ||
		    fact_is(&s->signs[i].id, "library-not-found-said"))
			missing_and(t, &s->signs[i]);
		else if (fact_is(&s->signs[i].id, "nvjitlink-wanted"))
			of_another_major(t, &s->signs[i]);
		else if (fact_is(&s->signs[i].id, "dll-missing"))
			dll_missing(t, &s->signs[i]);
	cudnn_there(t);
	cudnn_major(t);
	cudnn_release(t);
	ort(t);
	one_name_twice(t);
}
