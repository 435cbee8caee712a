/* SPDX-License-Identifier: Apache-2.0 */
/* Xids by the catalogue. It finds nothing: which Xid is whose finding is hardware_log.c's. */
#include "rule/xid.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"

static const struct json *row_of(struct judge *j, unsigned xid)
{
	size_t i, n = compat_count(j->c, "xid");
	int64_t k;

	for (i = 0; i < n; i++) {
		const struct json *row = compat_row(j->c, "xid", i);

		if (json_get_int(row, "xid", &k) && k == (int64_t)xid)
			return row;
	}
	return NULL;
}

const char *xid_meaning(struct judge *j, unsigned xid)
{
	const struct json *row = row_of(j, xid);
	const char *meaning = json_get_str(row, "meaning");

	if (!meaning)
		meaning = json_get_str(row, "label");
	return meaning ? meaning : _("an error that the list of Xids does not describe");
}

const char *xid_points_to(struct judge *j, unsigned xid)
{
	return json_get_str(row_of(j, xid), "points_to");
}

static void reset(struct judge *j, struct finding *f, size_t i)
{
	const char *index = i < j->s->n_gpus ? fact_value(&j->s->gpus[i].nvml_index, "0") : "0";
	struct remedy *r = finding_remedy(
		j, f, "%s",
		_("End all programs on the GPU and reset it; where that fails, reboot."));

	remedy_command(j, r, "sudo nvidia-smi --gpu-reset -i %s", index);
	r->needs_root = true;
	r = finding_remedy(j, f, "%s", _("Reboot."));
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
}

/* Buckets of the catalogue whose action is another one than a reset. */
static const struct {
	const char *bucket, *text, *command;
	bool root, reboot;
} actions[] = {
	{ .bucket = "RESTART_APP",
	  .text = N_("Start the program that was hit anew; the GPU needs no reset for this.") },
	{ .bucket = "RESTART_BM",
	  .text = N_("Power the machine off completely and on again."),
	  .command = "sudo poweroff",
	  .root = true,
	  .reboot = true },
	{ .bucket = "RESTART_VM",
	  .text = N_("Shut the virtual machine down and start it anew."),
	  .command = "sudo poweroff",
	  .root = true,
	  .reboot = true },
	{ .bucket = "CHECK_MECHANICALS",
	  .text = N_("Power the machine off, and check the card's seat and its power cables."),
	  .command = "sudo poweroff",
	  .root = true,
	  .reboot = true },
	{ .bucket = "UPDATE_SWFW",
	  .text = N_("Update the driver, the firmware of the card and of the board."),
	  .command = "nvidia-smi -q | grep -iE 'vbios|driver version'" },
	{ .bucket = "WORKFLOW_NVLINK_ERR",
	  .text = N_("See which link it is and whether its errors grow; reset the GPUs on it."),
	  .command = "nvidia-smi nvlink -e" },
	{ .bucket = "WORKFLOW_NVLINK5_ERR",
	  .text = N_("See which link it is and whether its errors grow; reset the GPUs on it."),
	  .command = "nvidia-smi nvlink -e" },
	{ .bucket = "CONTACT_SUPPORT",
	  .text = N_("Collect what support asks for."),
	  .command = "sudo nvidia-bug-report.sh",
	  .root = true },
};

void xid_remedy(struct judge *j, struct finding *f, size_t gpu, unsigned xid)
{
	const char *bucket = json_get_str(row_of(j, xid), "action");
	struct remedy *r;
	size_t i;

	for (i = 0; bucket && i < ARRAY_LEN(actions); i++) {
		if (strcmp(actions[i].bucket, bucket) != 0)
			continue;
		r = finding_remedy(j, f, "%s", _(actions[i].text));
		if (actions[i].command)
			remedy_command(j, r, "%s", actions[i].command);
		r->needs_root = actions[i].root;
		r->needs_reboot = actions[i].reboot;
		if (!actions[i].reboot)
			r->risk = RISK_SAFE;
		return;
	}
	reset(j, f, gpu);
}
