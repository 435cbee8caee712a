/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about WSL: no kernel module and no PCI device is normal there; /dev/dxg and Windows'
 * libcuda are what counts. */
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

static void run_wsl1_no_gpu(struct judge *j)
{
	struct finding *f;
	struct remedy *r;

	if (!fact_is(&j->s->host.system, "wsl1"))
		return;
	f = finding_add(j, FINDING_WSL1_NO_GPU, _("this distribution"));
	finding_message(j, f, "%s",
			_("This distribution runs under WSL 1, which has no GPU; WSL 2 does."));
	finding_fact(j, f, "host.system", &j->s->host.system, "wsl2");
	finding_fact(j, f, "host.kernel", &j->s->host.kernel, NULL);
	r = finding_remedy(j, f, "%s", _("Convert the distribution to WSL 2 (in PowerShell)."));
	remedy_command(j, r, "wsl --list --verbose");
	remedy_command(j, r, "wsl --set-version DISTRIBUTION 2");
}

static void run_wsl_no_dxg(struct judge *j)
{
	struct finding *f;
	struct remedy *r;

	if (!fact_is(&j->s->host.system, "wsl2") || look_in_container(j->s) ||
	    look_node(j->s, "dxg"))
		return;
	f = finding_add(j, FINDING_WSL_NO_DXG, _("this distribution"));
	finding_message(
		j, f, "%s",
		_("/dev/dxg is not there, so Windows gives this WSL 2 distribution no GPU."));
	finding_evidence(j, f, "nodes", _("absent"), "/dev/dxg", "/dev");
	finding_fact(j, f, "host.kernel", &j->s->host.kernel, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Bring WSL and its kernel up to date (in PowerShell), and install the present "
		  "NVIDIA "
		  "driver for Windows; Windows 10 needs build 21H2 or later."));
	remedy_command(j, r, "wsl --update");
	remedy_command(j, r, "wsl --shutdown");
}

static bool of_windows(const struct snapshot *s)
{
	const struct library *l = &s->driver.libcuda;

	return strstr(fact_value(&l->real, ""), "/usr/lib/wsl/") ||
	       strstr(fact_value(&l->path, ""), "/usr/lib/wsl/");
}

static void run_wsl_libcuda(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct library *l = &s->driver.libcuda;
	struct finding *f;
	struct remedy *r;

	if (!fact_is(&s->host.system, "wsl2") || look_in_container(s) || !look_node(s, "dxg") ||
	    judge_has(j, FINDING_LIBCUDA_STUB_LOADED))
		return;
	if (fact_known(&l->path) && !of_windows(s)) {
		f = finding_add(j, FINDING_WSL_LIBCUDA_SHADOWED, _("this distribution"));
		finding_message(
			j, f,
			_("The loader takes %s instead of Windows' libcuda in /usr/lib/wsl/lib; a "
			  "Linux driver "
			  "does not work inside WSL."),
			l->path.value);
		finding_fact(j, f, "driver.libcuda.path", &l->path,
			     "/usr/lib/wsl/lib/libcuda.so.1");
		finding_fact(j, f, "driver.cuda_init", &s->driver.cuda_init, "0");
		r = finding_remedy(
			j, f, "%s",
			_("Remove the Linux driver packages from the distribution, so that "
			  "Windows' "
			  "libraries are found."));
		distro_remove(j, r,
			      &(struct distro_names){
				      .debian = "'nvidia-driver-*' 'libnvidia-compute-*' libcuda1",
				      .rhel = "'nvidia-driver*'",
				      .fedora = "'xorg-x11-drv-nvidia*' 'akmod-nvidia*'",
				      .suse = "'nvidia-*G0*'",
				      .arch = "nvidia-utils" });
		remedy_command(j, r, "sudo ldconfig");
		r->needs_root = true;
		return;
	}
	if (l->path.state != FACT_ABSENT && l->path.state != FACT_BROKEN)
		return;
	f = finding_add(j, FINDING_WSL_LIBCUDA_NOT_ON_PATH, _("this distribution"));
	finding_message(
		j, f, "%s",
		_("/dev/dxg is there, and the loader does not find libcuda.so.1: /usr/lib/wsl/lib "
		  "is not on "
		  "its path."));
	finding_fact(j, f, "driver.libcuda.path", &l->path, "/usr/lib/wsl/lib/libcuda.so.1");
	r = finding_remedy(j, f, "%s", _("Put Windows' libraries on the loader's path."));
	remedy_command(
		j, r,
		"echo /usr/lib/wsl/lib | sudo tee /etc/ld.so.conf.d/ld.wsl.conf && sudo ldconfig");
	r->needs_root = true;
}

const struct rule rule_wsl1_no_gpu = {
	.name = "wsl1-no-gpu",
	.needs = NEED_HOST,
	.layer = LAYER_DRIVER,
	.run = run_wsl1_no_gpu,
};
const struct rule rule_wsl_no_dxg = {
	.name = "wsl-no-dxg",
	.needs = NEED_HOST | NEED_NODES,
	.layer = LAYER_DRIVER,
	.run = run_wsl_no_dxg,
};
const struct rule rule_wsl_libcuda = {
	.name = "wsl-libcuda-shadowed",
	.needs = NEED_HOST | NEED_NODES | NEED_USERLIB,
	.layer = LAYER_DRIVER,
	.run = run_wsl_libcuda,
};
