/* SPDX-License-Identifier: Apache-2.0 */
/* A saved snapshot or a report as a source: JSON from somebody's machine, hence untrusted. */
#include "source/snapshot_file.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "model/snapshot_json.h"

enum { SNAPSHOT_LIMIT = 64 << 20 };

int source_snapshot_json(struct arena *a, struct view text, const char *path, struct snapshot *ret,
			 struct err *err)
{
	const struct json *doc, *obj;
	const char *schema;
	int r;

	/* What editors and PowerShell put in front (P4). */
	if (view_starts(text, "\xef\xbb\xbf"))
		text = view_skip(text, 3);
	r = json_parse(a, text, path, &doc, err);

	if (r)
		return r;
	schema = json_get_str(doc, "schema");
	if (!schema)
		return err_set(
			err, ERR_PARSE,
			_("%s: no \"schema\"; a snapshot (cuvet snapshot) or report is needed"),
			path);
	if (strcmp(schema, "cuvet.snapshot/1") == 0)
		obj = json_get(doc, "facts");
	else if (strcmp(schema, "cuvet.report/1") == 0)
		obj = json_get(doc, "snapshot");
	else
		return err_set(err, ERR_PARSE, _("%s: schema %.60s is not known to this cuvet"),
			       path, schema);
	r = snapshot_load(a, obj, path, ret, err);
	/* What it was taken of stays: rules and the reasons for what was not judged rest on it. */
	if (!r)
		fact_set(&ret->source, fact_value(&ret->source, "snapshot"), path);
	return r;
}

int source_snapshot_file(struct arena *a, const char *path, struct snapshot *ret, struct err *err)
{
	struct view text;
	int r = file_read_operand(a, path, SNAPSHOT_LIMIT, &text, err);

	return r ? r : source_snapshot_json(a, text, path, ret, err);
}
