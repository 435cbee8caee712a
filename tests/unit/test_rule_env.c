/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about environments: add-ons, libraries that are missing or hidden, pins, what compiling
 * needs. Each fires once and stays silent once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "rule_world.h"

/* The active environment of TORCH with members laid over; those of other kinds follow. */
#define TORCH_IN(torch, members)                                                                \
	"{'pythons':[{'prefix':'/home/ana/v','kind':'venv','version':'3.10.12','active':'yes'," \
	"'interpreter':'/home/ana/v/bin/python','torch':{" torch "}" members "}]}"
#define T251 \
	"'version':'2.5.1+cu124','variant':'cu124','cuda':'12.4','origin':'pip'," \
	"'has_cuda_library':'yes','path':'/home/ana/v/torch','arch_list':['sm_50','sm_60'," \
	"'sm_70'," \
	"'sm_75','sm_80','sm_86','sm_90']"
#define WITH(members) TORCH_IN(T251, "," members)
#define BARE(members) TORCH_IN("'version':{'state':'absent'}", "," members)
#define ENV(name, value) "{'environment':[{'name':'" name "','value':'" value "'}]}"
#define ABSENT "{'state':'absent'}"
#define LOAD(package, name, more)                                                            \
	"{'name':'" name "','by':'/home/ana/v/x.so','package':'" package "'" more "}"
#define KIT(path, version, more)                                                                 \
	"{'toolkits':[{'path':'" path "','version':'" version "','nvcc':'yes','via':'PATH'" more \
	"}]}"

static const struct world_case extension_cases[] = {
	{ .what = "symbols that torch does not have",
	  .layers = { HOST,
		      WITH("'extensions':[{'package':'flash-attn','version':'2.5.7','path':'/x.so',"
			   "'cuda':'12','missing':['_ZN3c104cuda9SetDeviceEi']}]") },
	  .shows = "abi-mismatch-extension" },
	{ .what = "all symbols are there",
	  .layers = { HOST,
		      WITH("'extensions':[{'package':'flash-attn','version':'2.5.7','path':'/x.so',"
			   "'cuda':'12','targets':['sm_80','sm_90']}]") },
	  .hides = "abi-mismatch-extension",
	  .root = "" },
	{ .what = "an add-on that is used by importing it",
	  .layers = { HOST, WITH("'extensions':[{'package':'vllm','version':'0.6.3','path':'/x.so',"
				 "'cuda':'12','missing':['_ZN3c106Symbol']}]") },
	  .root = "abi-mismatch-extension" },
	{ .what = "bitsandbytes with the CPU library alone",
	  .layers = { HOST,
		      WITH("'extensions':[{'package':'bitsandbytes','version':'0.44.0','path':'/b',"
			   "'cuda':" ABSENT ",'variants':['libbitsandbytes_cpu.so']}]") },
	  .shows = "extension-built-without-cuda" },
	{ .what = "one of its files has CUDA",
	  .layers = { HOST,
		      WITH("'extensions':[{'package':'torch-scatter','path':'/a','cuda':" ABSENT
			   "},{'package':'torch-scatter','path':'/b','cuda':'12'}]") },
	  .hides = "extension-built-without-cuda",
	  .root = "" },
	{ .what = "a package that has no CUDA half",
	  .layers = { HOST, WITH("'extensions':[{'package':'torchcodec','path':'/a','cuda':" ABSENT
				 "}]") },
	  .hides = "extension-built-without-cuda" },
	{ .what = "torchvision for the CPU",
	  .layers = { HOST, TORCH_IN(T251 ",'torchvision':'0.20.1+cpu'", "") },
	  .shows = "extension-built-without-cuda" },
	{ .what = "no library for this CUDA",
	  .layers = { HOST,
		      WITH("'extensions':[{'package':'bitsandbytes','version':'0.41.0','path':'/b',"
			   "'cuda':'?','variants':['libbitsandbytes_cuda117.so']}]") },
	  .shows = "extension-no-build-for-cuda" },
	{ .what = "a library for this CUDA",
	  .layers = { HOST,
		      WITH("'extensions':[{'package':'bitsandbytes','version':'0.44.0','path':'/b',"
			   "'cuda':'?','variants':['libbitsandbytes_cuda124.so']}]") },
	  .hides = "extension-no-build-for-cuda" },
	{ .what = "another one is named by a variable",
	  .layers = { HOST, ENV("BNB_CUDA_VERSION", "117"),
		      WITH("'extensions':[{'package':'bitsandbytes','version':'0.41.0','path':'/b',"
			   "'cuda':'?','variants':['libbitsandbytes_cuda117.so']}]") },
	  .hides = "extension-no-build-for-cuda" },
	{ .what = "no code for this GPU",
	  .layers = { HOST, WITH("'extensions':[{'package':'natten','path':'/x.so','cuda':'12',"
				 "'targets':['sm_90']}]") },
	  .shows = "extension-missing-gpu-arch" },
	{ .what = "another file of it has the code",
	  .layers = { HOST,
		      WITH("'extensions':[{'package':'natten','path':'/x.so','cuda':'12',"
			   "'targets':['sm_90']},{'package':'natten','path':'/y.so','cuda':'12',"
			   "'targets':['sm_80']}]") },
	  .hides = "extension-missing-gpu-arch" },
	{ .what = "code for one architecture alone is taken there alone",
	  .layers = { HOST, WITH("'extensions':[{'package':'vllm','path':'/x.so','cuda':'12',"
				 "'targets':['sm_90a']}]") },
	  .hides = "extension-missing-gpu-arch" },
	{ .what = "FlashAttention before Ampere",
	  .layers = { HOST, "{'gpus':[{'pci_id':'10de:1f08','compute_capability':'7.5'}]}",
		      WITH("'extensions':[{'package':'flash-attn','version':'2.7.4','path':'/x.so',"
			   "'cuda':'12','targets':['sm_80','sm_90']}]") },
	  .shows = "gpu-feature-unsupported",
	  .hides = "extension-missing-gpu-arch" },
};

static const struct world_case library_cases[] = {
	{ .what = "no cuDNN",
	  .layers = { HOST, BARE("'loads':[" LOAD("onnxruntime-gpu", "libcudnn.so.9",
						  ",'path':" ABSENT) "]") },
	  .root = "cudnn-not-found" },
	{ .what = "cuDNN of another major",
	  .layers = { HOST, BARE("'loads':[" LOAD("onnxruntime-gpu", "libcudnn.so.9",
						  ",'path':" ABSENT
						  ",'other':['/usr/lib/libcudnn.so.8']") "]") },
	  .hides = "cudnn-not-found",
	  .root = "cudnn-major-mismatch" },
	{ .what = "cuDNN where nobody looks",
	  .layers = { HOST, BARE("'loads':[" LOAD("onnxruntime-gpu", "libcudnn.so.9",
						  ",'path':" ABSENT
						  ",'elsewhere':['/opt/libcudnn.so.9']") "]") },
	  .hides = "cudnn-not-found",
	  .root = "lib-path-not-set" },
	{ .what = "wheels that the program can load itself",
	  .layers = { HOST,
		      BARE("'packages':[{'name':'onnxruntime-gpu','version':'1.22.0'}],"
			   "'loads':[" LOAD("onnxruntime-gpu", "libcudnn.so.9",
					    ",'path':" ABSENT ",'own':['/x/libcudnn.so.9']") "]") },
	  .shows = "lib-path-not-set",
	  .root = "" },
	{ .what = "where no GPU is known of",
	  .layers = { IMAGE, BARE("'loads':[" LOAD("tensorflow", "libcudnn.so.9",
						   ",'path':" ABSENT) "]") },
	  .shows = "cudnn-not-found",
	  .root = "" },
	{ .what = "a library of another CUDA",
	  .layers = { HOST, BARE("'loads':[" LOAD("onnxruntime-gpu", "libcublas.so.11",
						  ",'path':" ABSENT
						  ",'other':['/usr/lib/libcublas.so.12']") "]") },
	  .root = "missing-cuda-runtime-lib" },
	{ .what = "the whole build is of another CUDA",
	  .layers = { HOST, BARE("'loads':[" LOAD(
				    "onnxruntime-gpu", "libcublas.so.11",
				    ",'path':" ABSENT) "," LOAD("onnxruntime-gpu", "libcudnn.so.8",
								",'path':" ABSENT) "]") },
	  .root = "missing-cuda-runtime-lib" },
	{ .what = "everything is found",
	  .layers = { HOST, BARE("'loads':[" LOAD(
				    "onnxruntime-gpu", "libcudnn.so.9",
				    ",'path':'/usr/lib/libcudnn.so.9','via':'ld.so.cache'") "]") },
	  .root = "" },
	{ .what = "another copy lacks what is needed",
	  .layers = { HOST, ENV("LD_LIBRARY_PATH", "/usr/local/cuda-12.1/lib64"),
		      WITH("'loads':[" LOAD(
			      "torch", "libnvJitLink.so.12",
			      ",'path':'/usr/local/cuda-12.1/lib64/libnvJitLink.so.12',"
			      "'via':'LD_LIBRARY_PATH','own':['/home/ana/v/libnvJitLink.so.12'],"
			      "'missing':['__nvJitLinkComplete_12_4']") "]") },
	  .root = "lib-shadowing" },
	{ .what = "another copy that has what is needed",
	  .layers = { HOST, ENV("LD_LIBRARY_PATH", "/usr/local/cuda-12.4/lib64"),
		      WITH("'loads':[" LOAD(
			      "torch", "libnvJitLink.so.12",
			      ",'path':'/usr/local/cuda-12.4/lib64/libnvJitLink.so.12',"
			      "'via':'LD_LIBRARY_PATH',"
			      "'own':['/home/ana/v/libnvJitLink.so.12']") "]") },
	  .hides = "lib-shadowing",
	  .root = "" },
	{ .what = "parts of two versions",
	  .layers = { HOST,
		      BARE("'loads':[" LOAD(
			      "onnxruntime-gpu", "libcudnn.so.9",
			      ",'path':'/usr/lib/libcudnn.so.9','parts':['9.1.0 (libcudnn.so.9)',"
			      "'9.5.1 (libcudnn_ops.so.9)']") "]") },
	  .root = "cudnn-version-mismatch" },
	{ .what = "cuDNN older than torch was built with",
	  .layers = { HOST,
		      TORCH_IN(
			      T251
			      ",'cudnn':{'path':'/home/ana/v/libcudnn.so.9','version':'9.0.0.312'}",
			      "") },
	  .root = "cudnn-version-mismatch" },
	{ .what = "cuDNN newer than torch was built with",
	  .layers = { HOST,
		      TORCH_IN(T251
			       ",'cudnn':{'path':'/home/ana/v/libcudnn.so.9','version':'9.5.1.17'}",
			       "") },
	  .hides = "cudnn-version-mismatch" },
};

static const struct world_case pin_cases[] = {
	{ .what = "a pin that is not met",
	  .layers = { HOST,
		      WITH("'packages':[{'name':'torch','version':'2.5.1+cu124'},"
		      	"{'name':'xformers',"
			   "'version':'0.0.27','requires':['torch==2.3.1']}]") },
	  .shows = "conflicting-pins" },
	{ .what = "a pin that is met, whatever the local version",
	  .layers = { HOST,
		      WITH("'packages':[{'name':'torch','version':'2.5.1+cu124'},"
		      	"{'name':'xformers',"
			   "'version':'0.0.28','requires':['torch==2.5.1','numpy']}]") },
	  .hides = "conflicting-pins" },
	{ .what = "a pin for another system",
	  .layers = { HOST,
		      WITH("'packages':[{'name':'torch','version':'2.5.1+cu124'},"
		      	"{'name':'x','version':'1',"
			   "'requires':['torch==2.3.1 ; sys_platform == \\\"win32\\\"']}]") },
	  .hides = "conflicting-pins" },
	{ .what = "plugin and jaxlib apart",
	  .layers = { HOST,
		      BARE("'packages':[{'name':'jaxlib','version':'0.4.34'},"
		      	"{'name':'jax-cuda12-plugin',"
			   "'version':'0.4.35'}]") },
	  .root = "conflicting-pins" },
	{ .what = "TensorFlow for NumPy 1",
	  .layers = { HOST,
		      BARE("'packages':[{'name':'tensorflow','version':'2.16.1'},{'name':'numpy',"
			   "'version':'2.0.1'}]") },
	  .root = "numpy2-abi" },
	{ .what = "TensorFlow for NumPy 2",
	  .layers = { HOST,
		      BARE("'packages':[{'name':'tensorflow','version':'2.18.0'},{'name':'numpy',"
			   "'version':'2.0.1'}]") },
	  .hides = "numpy2-abi" },
};

static const struct world_case env_cases[] = {
	{ .what = "a kernel that starts another Python",
	  .layers = { HOST,
		      "{'pythons':[{'prefix':'/home/ana/ml','active':'yes',"
		      	"'interpreter':'/home/ana/ml/bin/python',"
		      "'torch':{" T251
		      "}},{'prefix':'/usr','torch':{'version':'2.1.2+cpu','variant':'cpu',"
		      	"'cuda':" ABSENT
		      "}}],'kernels':[{'name':'ml','path':'/k/ml/kernel.json',"
		      "'interpreter':'/usr/bin/python3','prefix':'/usr'}]}" },
	  .shows = "multiple-envs" },
	{ .what = "a kernel of its own without torch",
	  .layers = { HOST, "{'pythons':[{'prefix':'/home/ana/ml','active':'yes','torch':{" T251
			    "}},{'prefix':'/usr',"
			    "'torch':{'version':" ABSENT
			    "}}],'kernels':[{'name':'Python 3','path':'/k/python3/kernel.json',"
			    "'interpreter':'/usr/bin/python3','prefix':'/usr'}]}" },
	  .hides = "multiple-envs",
	  .root = "" },
	{ .what = "the user's copy hides the other",
	  .layers = { HOST,
		      TORCH_IN(
			      "'version':'2.1.2+cpu','variant':'cpu','cuda':" ABSENT,
			      ",'packages':[{'name':'torch','version':'2.1.2+cpu','location':"
			      "'/home/ana/.local/lib',"
			      	"'copies':['/usr/lib/torch-2.5.1+cu124.dist-info']}]") },
	  .root = "multiple-envs" },
	{ .what = "torch.py in the way",
	  .layers = { HOST, WITH("'hidden_by':'/home/ana/src/torch.py'") },
	  .root = "multiple-envs" },
	{ .what = "the variable names another environment",
	  .layers = { HOST, ENV("VIRTUAL_ENV", "/home/ana/ml"),
		      "{'pythons':[{'prefix':'/usr','active':'yes','kind':'system',"
		      	"'torch':{'version':" ABSENT
		      "}},{'prefix':'/home/ana/ml','torch':{" T251 "}}]}" },
	  .root = "multiple-envs" },
	{ .what = "what a CUDA build left",
	  .layers = { HOST, TORCH_IN("'version':'2.5.1+cpu','variant':'cpu','cuda':" ABSENT
				     ",'torchvision':'0.20.1+cu124'",
				     "") },
	  .root = "cpu-only-replaced-by-dependency" },
	{ .what = "libraries that JAX brought",
	  .layers = { HOST, TORCH_IN("'version':'2.5.1+cpu','variant':'cpu','cuda':" ABSENT,
				     ",'packages':[{'name':'jax-cuda12-plugin','version':'0.4.35'},"
				     "{'name':'nvidia-cusolver-cu12','version':'11.6.1.9'}]") },
	  .root = "cpu-only-wheel" },
};

static const struct world_case build_cases[] = {
	{ .what = "a link that leads nowhere",
	  .layers = { HOST,
		      "{'toolkits':[{'path':'/usr/local/cuda','version':" ABSENT ",'nvcc':'no',"
		      "'link':{'state':'broken','why':'dangling'}}]}" },
	  .shows = "toolkit-symlink-broken" },
	{ .what = "gcc beyond nvcc",
	  .layers = { HOST, KIT("/usr/local/cuda-12.2", "12.2.140", ""), "{'host':{'gcc':'14'}}" },
	  .shows = "host-compiler-too-new" },
	{ .what = "gcc that nvcc accepts",
	  .layers = { HOST, KIT("/usr/local/cuda-12.4", "12.4.127", ""), "{'host':{'gcc':'11'}}" },
	  .hides = "host-compiler-too-new" },
	{ .what = "another compiler was chosen",
	  .layers = { HOST, KIT("/usr/local/cuda-12.2", "12.2.140", ""), "{'host':{'gcc':'14'}}",
		      ENV("NVCC_PREPEND_FLAGS", "-ccbin g++-12") },
	  .hides = "host-compiler-too-new" },
	{ .what = "what compiles, without nvcc",
	  .layers = { HOST, WITH("'packages':[{'name':'deepspeed','version':'0.15.0'}]") },
	  .shows = "nvcc-missing" },
	{ .what = "what compiles, with nvcc",
	  .layers = { HOST, KIT("/usr/local/cuda-12.4", "12.4.127", ""),
		      WITH("'packages':[{'name':'deepspeed','version':'0.15.0'}]") },
	  .hides = "nvcc-missing" },
	{ .what = "no compiler for Triton is only mentioned",
	  .layers = { HOST, WITH("'triton':{'version':'3.1.0'}"), "{'host':{'gcc':" ABSENT "}}" },
	  .shows = "jit-build-prereq-missing",
	  .root = "" },
	{ .what = "TensorFlow without libdevice",
	  .layers = { HOST,
		      BARE("'packages':[{'name':'tensorflow','version':'2.18.0'}],'loads':[" LOAD(
			      "tensorflow", "libcudnn.so.9", ",'path':'/x/libcudnn.so.9'") "]") },
	  .shows = "libdevice-missing" },
	{ .what = "TensorFlow with its wheel",
	  .layers = { HOST, BARE("'packages':[{'name':'tensorflow','version':'2.18.0'},{'name':"
				 "'nvidia-cuda-nvcc-cu12','version':'12.5.82'}],'loads':[" LOAD(
					 "tensorflow", "libcudnn.so.9",
					 ",'path':'/x/libcudnn.so.9'") "]") },
	  .hides = "libdevice-missing" },
	{ .what = "a pair that is known to be wrong",
	  .layers = { HOST,
		      WITH("'packages':[{'name':'nvidia-cudnn-cu12','version':'9.10.0.56'}]") },
	  .shows = "known-bad-library-pair" },
	{ .what = "two GPUs make it wrong",
	  .layers = { HOST,
		      "{'gpus':[{'pci_id':'10de:2684','compute_capability':'8.9'},"
		      "{'pci_id':'10de:2684','compute_capability':'8.9'}]}",
		      WITH("'packages':[{'name':'nvidia-cudnn-cu12','version':'9.9.0.52'},"
			   "{'name':'nvidia-cublas-cu12','version':'12.9.1.4'}]") },
	  .shows = "known-bad-library-pair" },
	{ .what = "one GPU does not",
	  .layers = { HOST, WITH("'packages':[{'name':'nvidia-cudnn-cu12','version':'9.9.0.52'},"
				 "{'name':'nvidia-cublas-cu12','version':'12.9.1.4'}]") },
	  .hides = "known-bad-library-pair" },
};

static void extensions(void **state)
{
	(void)state;
	world_cases(extension_cases, ARRAY_LEN(extension_cases));
}

static void libraries(void **state)
{
	(void)state;
	world_cases(library_cases, ARRAY_LEN(library_cases));
}

static void pins(void **state)
{
	(void)state;
	world_cases(pin_cases, ARRAY_LEN(pin_cases));
}

static void envs(void **state)
{
	(void)state;
	world_cases(env_cases, ARRAY_LEN(env_cases));
}

static void build(void **state)
{
	(void)state;
	world_cases(build_cases, ARRAY_LEN(build_cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extensions), cmocka_unit_test(libraries), cmocka_unit_test(pins),
		cmocka_unit_test(envs),	      cmocka_unit_test(build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
