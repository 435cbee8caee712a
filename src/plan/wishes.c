/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts requirements by package and refuses names that look like a slip. */
#include "plan/wishes.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/suggest.h"

/*
 * What people install beside the packages of the matrix. An operand outside this list is more
 * likely a slip than a package; in a file any name is passed on.
 */
static const char *const companions[] = {
	"accelerate",
	"aiohttp",
	"albumentations",
	"anthropic",
	"apex",
	"audiocraft",
	"auto-gptq",
	"autoawq",
	"av",
	"bertopic",
	"black",
	"boto3",
	"captum",
	"chromadb",
	"click",
	"cloudpickle",
	"colossalai",
	"compressed-tensors",
	"controlnet-aux",
	"coverage",
	"cuda-python",
	"cudf-cu12",
	"cuml-cu12",
	"cupy",
	"cython",
	"dask",
	"datasets",
	"decord",
	"deepspeed",
	"detectron2",
	"dgl",
	"diffusers",
	"dm-haiku",
	"duckdb",
	"einops",
	"equinox",
	"evaluate",
	"exllamav2",
	"fairscale",
	"faiss-gpu",
	"fastai",
	"fastapi",
	"faster-whisper",
	"filelock",
	"fire",
	"flask",
	"flax",
	"fsspec",
	"ftfy",
	"galore-torch",
	"gensim",
	"gradio",
	"grpcio",
	"gym",
	"gymnasium",
	"h5py",
	"hqq",
	"huggingface-hub",
	"hydra-core",
	"hypothesis",
	"imageio",
	"ipykernel",
	"ipython",
	"ipywidgets",
	"jaxlib",
	"jaxtyping",
	"jinja2",
	"joblib",
	"jupyter",
	"jupyterlab",
	"keras",
	"kornia",
	"langchain",
	"lightgbm",
	"lightning",
	"librosa",
	"litellm",
	"llama-cpp-python",
	"lmdb",
	"lm-eval",
	"loguru",
	"mamba-ssm",
	"matplotlib",
	"mlflow",
	"monai",
	"moviepy",
	"mpi4py",
	"msgpack",
	"mteb",
	"mypy",
	"networkx",
	"ninja",
	"nltk",
	"notebook",
	"numba",
	"numpy",
	"nvidia-ml-py",
	"nvitop",
	"ollama",
	"omegaconf",
	"onnx",
	"onnxruntime",
	"onnxscript",
	"open-clip-torch",
	"openai",
	"openai-whisper",
	"opencv-python",
	"opencv-python-headless",
	"opt-einsum",
	"optax",
	"optimum",
	"optuna",
	"orbax",
	"orjson",
	"packaging",
	"pandas",
	"peft",
	"pillow",
	"pip",
	"plotly",
	"polars",
	"pre-commit",
	"protobuf",
	"psutil",
	"pyarrow",
	"pybind11",
	"pydantic",
	"pydub",
	"pynvml",
	"pytest",
	"pytest-cov",
	"python-dotenv",
	"pytorch-lightning",
	"pytorch-metric-learning",
	"pyyaml",
	"ray",
	"regex",
	"requests",
	"rich",
	"rouge-score",
	"ruff",
	"sacrebleu",
	"safetensors",
	"scikit-image",
	"scikit-learn",
	"scipy",
	"seaborn",
	"segment-anything",
	"sentence-transformers",
	"sentencepiece",
	"seqeval",
	"setuptools",
	"sglang",
	"shap",
	"six",
	"soundfile",
	"spacy",
	"speechbrain",
	"sympy",
	"tabulate",
	"tensorboard",
	"tensorboardx",
	"tensorflow-datasets",
	"tensorflow-hub",
	"tensorflow-io",
	"tensorflow-probability",
	"tensorrt",
	"text-generation",
	"thop",
	"tiktoken",
	"timm",
	"tokenizers",
	"tomli",
	"torch-geometric",
	"torch-scatter",
	"torchao",
	"torchcodec",
	"torchdata",
	"torcheval",
	"torchinfo",
	"torchmetrics",
	"torchrec",
	"torchrl",
	"torchsde",
	"torchsummary",
	"torchtext",
	"torchtune",
	"torchtyping",
	"torchx",
	"tqdm",
	"transformer-engine",
	"transformers",
	"trimesh",
	"trl",
	"typer",
	"typing-extensions",
	"ultralytics",
	"umap-learn",
	"unsloth",
	"uvicorn",
	"wandb",
	"webdataset",
	"wheel",
	"xgboost",
	"yacs",
	"zarr",
	NULL,
};

/* Names by which people ask for a package that is called otherwise. */
static const struct {
	const char *name, *instead;
} aliases[] = {
	{ .name = "pytorch", .instead = "torch" },
	{ .name = "pytorch-gpu", .instead = "torch" },
	{ .name = "pytorch-cuda", .instead = "torch" },
	{ .name = "torch-gpu", .instead = "torch" },
	{ .name = "torch-vision", .instead = "torchvision" },
	{ .name = "torch-audio", .instead = "torchaudio" },
	{ .name = "tensorflow-gpu", .instead = "tensorflow" },
	{ .name = "flashattn", .instead = "flash-attn" },
	{ .name = "flash-attention", .instead = "flash-attn" },
	{ .name = "jax-gpu", .instead = "jax" },
	{ .name = "cupy-cuda", .instead = "cupy" },
};

static bool companion(const char *name)
{
	size_t i;

	for (i = 0; companions[i]; i++)
		if (strcmp(companions[i], name) == 0)
			return true;
	return false;
}

/* One slip of the fingers in a short name, two in a long one; the first letter is hardly ever
 * wrong. */
static bool near(const char *a, const char *b)
{
	enum { LONGEST = 24 };
	size_t n = strlen(a), m = strlen(b);

	return n <= LONGEST && m <= LONGEST && a[0] == b[0] &&
	       edit_distance(a, b) <= (m >= 8 ? 2 : 1);
}

static const char *meant(const char *name)
{
	const struct product *p;
	size_t i;

	for (i = 0; i < ARRAY_LEN(aliases); i++)
		if (strcmp(aliases[i].name, name) == 0)
			return aliases[i].instead;
	for (p = products; p->name; p++)
		if (near(name, p->name))
			return p->name;
	return NULL;
}

static int pass_on(struct arena *a, struct wishes *w, const struct requirement *r, struct err *err)
{
	bool known = companion(r->name);
	const char *instead = known ? NULL : meant(r->name);

	if (instead)
		return err_set(err, ERR_UNKNOWN_NAME,
			       _("%.200s: unknown package %.80s; did you mean %s?"), r->from,
			       r->name, instead);
	if (!known && !r->file)
		return err_set(
			err, ERR_UNKNOWN_NAME,
			_("%.200s: unknown package %.80s; the matrix does not hold it (to pass it on all the same, "
			  "name it in a file: -r FILE)"),
			r->from, r->name);
	if (!r->constraint)
		*ARENA_APPEND(a, w->others, w->n_others) = r;
	return 0;
}

static struct wish *wish_of(struct wishes *w, const struct product *p)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (w->v[i].product == p)
			return &w->v[i];
	if (w->n == WISHES_MAX)
		return NULL;
	w->v[w->n].product = p;
	return &w->v[w->n++];
}

static int add(struct arena *a, struct wishes *w, const struct product *p,
	       const struct requirement *r, struct err *err)
{
	struct wish *wish = wish_of(w, p);
	size_t i;

	if (!wish || w->n_limits + r->spec.n > LIMITS_MAX)
		return err_set(err, ERR_TOOBIG,
			       _("%.200s: more than %d conditions on packages of the matrix"),
			       r->from, LIMITS_MAX);
	for (i = 0; i < r->spec.n; i++) {
		const struct pep440_clause *c = &r->spec.clauses[i];

		wish->limits |= UINT64_C(1) << w->n_limits;
		w->limits[w->n_limits++] = (struct limit){
			.requirement = r,
			.clause = c,
			.wish = (size_t)(wish - w->v),
			.text = arena_printf(a, "%s%.*s", r->name, (int)c->text.n, c->text.p),
		};
	}
	if (r->constraint)
		return 0;
	if (wish->n_asked < ARRAY_LEN(wish->asked))
		wish->asked[wish->n_asked++] = r;
	if (r->extras && !wish->extras)
		wish->extras = r->extras;
	return 0;
}

/* Torch is planned unless only frameworks of their own were asked for. */
static bool wants_torch(const struct wishes *w)
{
	bool framework = false;
	size_t i;

	for (i = 0; i < w->n; i++) {
		if (w->v[i].n_asked && w->v[i].product->family != FAMILY_FRAMEWORK)
			return true;
		framework = framework || w->v[i].n_asked;
	}
	return !framework;
}

int plan_wishes(struct arena *a, struct matrix *m, const struct requirement_list *list,
		struct wishes **ret, struct err *err)
{
	struct wishes *w = arena_alloc(a, sizeof(*w));
	const struct product *p;
	size_t i;
	int rc = 0;

	(void)m;
	w->requirements = list->v;
	w->n_requirements = list->n;
	for (i = 0; !rc && i < list->n; i++) {
		p = product_named(list->v[i].name);
		rc = p ? add(a, w, p, &list->v[i], err) : pass_on(a, w, &list->v[i], err);
		w->named = w->named || !list->v[i].constraint;
	}
	if (rc)
		return rc;
	w->torch = wants_torch(w);
	*ret = w;
	return 0;
}
