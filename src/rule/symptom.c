/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about codes: those that name their cause by themselves, and a failure that nothing
 * explains, which must never pass for a healthy stack.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/look_log.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- a scheduler that gave the job no GPU */

static const char *const schedulers[] = { "SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID", "LSB_JOBID",
					  "RAY_JOB_ID" };
static const char *const grants[] = { "SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "SLURM_GPUS",
				      "SLURM_GPUS_ON_NODE", "GPU_DEVICE_ORDINAL" };

static const struct fact *first_set(const struct snapshot *s, const char *const *names, size_t n,
				    const char **ret_name)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct fact *f = snapshot_env_fact(s, names[i]);

		if (f && *f->value) {
			*ret_name = names[i];
			return f;
		}
	}
	return NULL;
}

/* The scheduler's cgroup refuses every GPU node. */
static const struct node *refused_node(const struct snapshot *s)
{
	const struct node *refused = NULL;
	size_t i;

	for (i = 0; i < s->n_nodes; i++) {
		const char *name = fact_value(&s->nodes[i].name, "");

		if (strncmp(name, "nvidia", 6) != 0 || name[6] < '0' || name[6] > '9')
			continue;
		if (!fact_is(&s->nodes[i].open, "EPERM"))
			return NULL;
		refused = &s->nodes[i];
	}
	return refused;
}

static void no_gpu(struct judge *j, const char *name, const struct fact *job,
		   const struct node *refused)
{
	const struct fact *visible = snapshot_env_fact(j->s, "CUDA_VISIBLE_DEVICES");
	struct finding *f = finding_add(j, FINDING_SCHEDULER_NO_GPU, name);
	struct remedy *r;

	if (refused)
		finding_message(
			j, f,
			_("The job (%s=%s) was given no GPU: its device cgroup refuses /dev/%s."),
			name, job->value, refused->name.value);
	else
		finding_message(
			j, f,
			_("The job (%s=%s) was given no GPU: CUDA_VISIBLE_DEVICES is \"%s\"."),
			name, job->value, visible ? visible->value : "");
	finding_fact(j, f, name, job, NULL);
	if (visible)
		finding_fact(j, f, "CUDA_VISIBLE_DEVICES", visible, "0");
	if (refused)
		finding_fact(j, f, "node.open", &refused->open, "ok");
	r = finding_remedy(j, f, "%s", _("Ask the scheduler for a GPU."));
	if (strncmp(name, "SLURM", 5) == 0)
		remedy_command(j, r, "srun --gres=gpu:1 COMMAND");
	else if (strncmp(name, "RAY", 3) == 0)
		remedy_command(j, r, "@ray.remote(num_gpus=1)");
	r->risk = RISK_SAFE;
}

/* The job has GPUs, and the number that it was told counts the node's while the container has
 * fewer. */
static void wrong_number(struct judge *j, const char *name, const struct fact *job)
{
	const struct snapshot *s = j->s;
	const struct fact *visible = snapshot_env_fact(s, "CUDA_VISIBLE_DEVICES");
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!visible || !look_in_container(s) || !s->n_gpus || *visible->value < '0' ||
	    *visible->value > '9')
		return;
	for (i = 0; i < s->n_gpus; i++)
		if (look_gpu_used(s, i))
			return;
	f = finding_add(j, FINDING_SCHEDULER_DEVICE_CONSTRAINT, name);
	finding_message(
		j, f,
		_("The scheduler's CUDA_VISIBLE_DEVICES=%s counts the node's GPUs, and this "
		  "container has %zu."),
		visible->value, s->n_gpus);
	finding_fact(j, f, "CUDA_VISIBLE_DEVICES", visible, "0");
	finding_fact(j, f, name, job, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Unset the variable inside the container, whose GPUs are numbered from 0."));
	remedy_command(j, r, "unset CUDA_VISIBLE_DEVICES");
	r->risk = RISK_SAFE;
}

static void run_scheduler_no_gpu(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *visible = snapshot_env_fact(s, "CUDA_VISIBLE_DEVICES"), *job;
	const struct node *refused = refused_node(s);
	const char *name = "", *grant;
	bool granted = first_set(s, grants, ARRAY_LEN(grants), &grant) != NULL;

	job = first_set(s, schedulers, ARRAY_LEN(schedulers), &name);
	if (!job || look_cuda_works(s))
		return;
	if (granted)
		wrong_number(j, name, job);
	/* Empty, or Slurm's word for it; an unset variable means that the site does not set it. */
	else if (refused ||
		 (visible && (!*visible->value || strcmp(visible->value, "NoDevFiles") == 0 ||
			      strcmp(visible->value, "-1") == 0)))
		no_gpu(j, name, job, refused);
}

/* -------- codes that say their cause */

static void run_cuda_init_code(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *pipe = snapshot_env_fact(s, "CUDA_MPS_PIPE_DIRECTORY");
	struct finding *f;
	struct remedy *r;

	if (look_cuda_init(s) == 805) {
		f = finding_add(j, FINDING_MPS_UNREACHABLE, "MPS");
		finding_message(
			j, f, "%s",
			_("cuInit gives 805: this process is a client of MPS and cannot reach its "
			  "daemon."));
		finding_fact(j, f, "driver.cuda_init", &s->driver.cuda_init, "0");
		if (pipe)
			finding_fact(j, f, "CUDA_MPS_PIPE_DIRECTORY", pipe,
				     _("the daemon's directory, or unset"));
		r = finding_remedy(
			j, f, "%s",
			_("Start the daemon with the same pipe directory and user, or unset the "
			  "variable."));
		remedy_command(j, r, "nvidia-cuda-mps-control -d");
		remedy_command(j, r,
			       "unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
	}
	if (look_cuda_init(s) == 3 && look_nvml_init(s) == 0 && look_is_linux_host(j) &&
	    fact_yes(&s->driver.uvm_loaded) && look_node(s, "nvidia-uvm") &&
	    !fact_is(&s->driver.hmm_disabled, "Y")) {
		f = finding_add(j, FINDING_UVM_HMM_INIT_FAILURE, "nvidia_uvm");
		finding_message(
			j, f, "%s",
			_("cuInit gives 3 while NVML works and nvidia_uvm is loaded: HMM in "
			  "nvidia_uvm fails on "
			  "this kernel."));
		finding_fact(j, f, "driver.cuda_init", &s->driver.cuda_init, "0");
		finding_fact(j, f, "host.kernel", &s->host.kernel, NULL);
		if (fact_known(&s->driver.hmm_disabled))
			finding_fact(j, f, "driver.hmm_disabled", &s->driver.hmm_disabled, "Y");
		finding_inferred(f);
		r = finding_remedy(j, f, "%s",
				   _("Switch HMM off for the module and load it anew."));
		remedy_command(
			j, r,
			"echo 'options nvidia_uvm uvm_disable_hmm=1' | sudo tee "
			"/etc/modprobe.d/nvidia-uvm.conf");
		remedy_command(j, r, "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm");
		r->needs_root = true;
	}
}

/* -------- a failure without a cause */

static bool explained(const struct judge *j)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++)
		if (j->findings[i]->severity == SEVERITY_ERROR &&
		    finding_info(j->findings[i]->id)->layer <= LAYER_CLUSTER)
			return true;
	return false;
}

/* A call whose answer means nothing, and that neither hung nor crashed: no rule can read it. */
static const struct fact *senseless(const struct snapshot *s)
{
	const struct driver *d = &s->driver;

	if (d->cuda_init.state == FACT_BROKEN && !fact_known(&d->cuda_end))
		return &d->cuda_init;
	return d->nvml_init.state == FACT_BROKEN && !fact_known(&d->nvml_end) ? &d->nvml_init
									      : NULL;
}

static void run_senseless(struct judge *j, const struct fact *said)
{
	bool cuda = said == &j->s->driver.cuda_init;
	struct finding *f;

	if (look_cuda_works(j->s) || explained(j))
		return;
	f = finding_add(j, FINDING_INSUFFICIENT_EVIDENCE, cuda ? "cuInit" : "nvmlInit");
	f->severity = SEVERITY_INFO;
	finding_message(j, f, _("%s gave no answer that means anything."),
			cuda ? "cuInit" : "nvmlInit");
	finding_fact(j, f, cuda ? "driver.cuda_init" : "driver.nvml_init", said, "0");
	judge_ask(j, "ldconfig -p | grep -E 'libcuda|libnvidia-ml'");
	judge_ask(j, "nvidia-smi -q");
}

static void run_unexplained(struct judge *j)
{
	const struct snapshot *s = j->s;
	bool cuda = look_cuda_init(s) > 0;
	struct finding *f;
	size_t i;

	if (senseless(s))
		run_senseless(j, senseless(s));
	if ((!cuda && look_nvml_init(s) <= 0) || look_cuda_works(s) || explained(j))
		return;
	f = finding_add(j, FINDING_INSUFFICIENT_EVIDENCE, cuda ? "cuInit" : "nvmlInit");
	f->severity = SEVERITY_INFO;
	finding_message(j, f, _("%s fails with %ld, and nothing that was looked at explains it."),
			cuda ? "cuInit" : "nvmlInit", cuda ? look_cuda_init(s) : look_nvml_init(s));
	finding_fact(j, f, cuda ? "driver.cuda_init" : "driver.nvml_init",
		     cuda ? &s->driver.cuda_init : &s->driver.nvml_init, "0");
	/* An Xid alone decides nothing here, and is the first thing that support asks for. */
	for (i = 0; i < s->n_log; i++)
		if (log_xid(&s->log[i]))
			log_evidence(j, f, &s->log[i]);
	judge_ask(j, "sudo dmesg | grep -iE 'nvrm|nvidia|xid'");
	judge_ask(j, "nvidia-smi -q");
}

const struct rule rule_scheduler_no_gpu = {
	.name = "scheduler-no-gpu",
	.needs = NEED_ENVIRONMENT,
	.layer = LAYER_CLUSTER,
	.run = run_scheduler_no_gpu,
};
const struct rule rule_cuda_init_code = {
	.name = "mps-unreachable",
	.needs = NEED_CUDA,
	.layer = LAYER_DRIVER,
	.run = run_cuda_init_code,
};
/* Belongs to no layer that it could pass: it only ever says that something is not known. */
const struct rule rule_unexplained = {
	.name = "insufficient-evidence",
	.layer = LAYER_WORKLOAD,
	.run = run_unexplained,
};
