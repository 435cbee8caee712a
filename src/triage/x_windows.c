/* SPDX-License-Identifier: Apache-2.0 */
/* Windows: systeminfo, dxdiag, Get-CimInstance and wmic, wsl --status, --version and -l -v. */
#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* "31.0.15.3699" of NVIDIA's card is driver 536.99; paste_fact turns it. */
static void windows_driver(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_match(p, "\\b(3\\d\\.0\\.1\\d\\.\\d{4})\\b", s, &m))
		return;
	if (paste_match(p, "nvidia|geforce|quadro|tesla", s, NULL) ||
	    (i && paste_match(p, "nvidia|geforce|quadro|tesla", p->t.lines[i - 1].s, NULL)) ||
	    (i + 1 < p->t.n &&
	     paste_match(p, "nvidia|geforce|quadro|tesla", p->t.lines[i + 1].s, NULL))) {
		paste_fact(p, "driver.version", m.group[1], i);
		paste_fact(p, "host.system", VIEW("windows"), i);
	}
}

/* "OS Name:    Microsoft Windows 11 Pro", "OS Version:  10.0.22631 N/A Build 22631". */
static void systeminfo(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p,
			"^(?:OS Name|OS \xec\x9d\xb4\xeb\xa6\x84):\\s*(?:Microsoft )?(Windows.*)$",
			s, &m)) {
		paste_fact(p, "host.system", VIEW("windows"), i);
		paste_fact(p, "host.os_name", m.group[1], i);
	} else if (paste_match(p, "^(?:OS Version|OS \xeb\xb2\x84\xec\xa0\x84):\\s*(10\\.0\\.\\d+)",
			       s, &m)) {
		paste_fact(p, "host.os_version", m.group[1], i);
		paste_fact(p, "host.system", VIEW("windows"), i);
	} else if (paste_match(p, "^System Type:\\s*ARM64", s, NULL)) {
		paste_fact(p, "host.arch", VIEW("aarch64"), i);
	}
}

/* "* Ubuntu-22.04    Running    2", "WSL version: 2.0.9.0". */
static void wsl(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p,
			       "^\\*?\\s*[\\w.-]+\\s+(?:Running|Stopped|\xec\x8b\xa4\xed\x96\x89 "
			       "\xec\xa4\x91|\xec\xa4\x91\xec\xa7\x80\xeb\x90\xa8)\\s+([12])$",
			       s, &m)) {
		/* The star is the default one; a stopped one does not run anything. */
		if (view_is(m.group[1], "2") && s.p[0] == '*')
			paste_fact(p, "host.system", VIEW("wsl2"), i);
	} else if (paste_match(p, "^WSL (?:version|\xeb\xb2\x84\xec\xa0\x84):\\s*(\\d[\\d.]+)", s,
			       &m)) {
		sign_add(p, "is-wsl", i, m.group[1]);
	}
}

static void windows_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (p->t.lines[i].cmd_at || s.n > 300)
		return;
	if (view_find(s, ".0.1") >= 0)
		windows_driver(p, s, i);
	if (view_starts(s, "OS ") || view_starts(s, "System Type"))
		systeminfo(p, s, i);
	if (view_ends(s, "1") || view_ends(s, "2") || view_starts(s, "WSL "))
		wsl(p, s, i);
}

const struct extractor extract_windows = { .name = "windows", .line = windows_line };
