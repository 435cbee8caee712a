/* SPDX-License-Identifier: Apache-2.0 */
/* Names of GPUs wherever they stand, in tables as in sentences. */
#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* One pattern a family; the whole match is the name. */
static const char *const names[] = {
	("\\b(?:NVIDIA[ -])?(?:GeForce[ -])?(?:RTX|GTX)[ _-]?\\d{3,4}(?!\\d|[ _-]?PRO\\b)(?:M\\b|[ -]?Ti\\b)?"
	 "(?:[ -]?SUPER\\b)?(?: ?D\\b)?(?: (?:with )?Max-Q(?: Design)?|[ -]Laptop[ -]GPU| Mobile)?"),
	"\\b(?:NVIDIA )?GeForce (?:GT |GTS |MX ?)?\\d{2,4}(?:M|MX| Ti)?\\b(?! series)",
	"\\b(?:NVIDIA )?RTX[ -]\\d{4}[ -]PRO\\b(?: Blackwell)?",
	("\\b(?:NVIDIA )?RTX (?:PRO )?\\d{4}(?!\\d|[ -]PRO\\b)(?: Ada(?: Generation)?| Blackwell)?(?: (?:Server|"
	 "Workstation|Max-Q)[\\w -]{0,30}Edition)?"),
	"\\b(?:NVIDIA[ -])?RTX[ -]?A\\d{3,4}\\b",
	"\\bTesla[ -][A-Z]\\d{1,4}[a-z]?(?:-[A-Z0-9]+-\\d+GB)?\\b",
	"(?<=NvidiaTesla)[PTV]\\d{1,3}\\b",
	"\\bQuadro (?:RTX |GV|GP|FX |NVS |[KMPT]{1,2})?\\d{2,4}M?\\b",
	"\\b(?:NVIDIA )?(?:GeForce )?(?:GTX )?TITAN (?:RTX\\b|V\\b|Xp\\b|X \\(Pascal\\)|X Pascal\\b|X\\b|Black\\b)",
	("\\b(?:NVIDIA )?(?:A|V|P|H|B)(?:100|200|300|800|20)(?:[- ](?:SXM\\d?|PCIe|PCIE|NVL|"
	 "SXM\\d-\\d+GB|\\d+GB)(?:-\\d+GB| \\d+GB)?)*\\b"),
	"\\b(?:NVIDIA )?G[BH](?:10|200|300)\\b",
	"\\b(?:NVIDIA )?(?:L40S?|A10G?|A30|A40|RTX 6000 Ada)\\b",
	"\\bNVIDIA (?:L4|L20|T4|A2|A16|T1000|T400|T600)\\b",
	"(?<![\\w./-])(?:P40|M40|M60|K80|K40[cm]?|V100S)(?![\\w.]|-\\w)",
	"(?<![\\w./-])(?:T4|L4|P4)(?= GPUs?\\b|s\\b)|(?<=GPU: |on a |on an |ith a |olab | is a | my | the | a )(?:T4|L4|P4)(?![\\w.-])",
	"\\bJetson (?:AGX |Orin |Xavier |TX\\d|Nano|Thor)[\\w ]{0,12}",
	"\\bGRID [A-Z]\\d+[A-Z]?(?:-\\d+[A-Z]+)?\\b",
	"\\bNVIDIA [A-Z]\\d{1,3}-\\d+[A-Z]\\b",
};

static bool may_hold(struct view s)
{
	static const char *const hints[] = {
		"RTX",	  "GTX",   "rtx",    "gtx",    "GeForce", "geforce", "Tesla", "Quadro",
		"TITAN",  "Titan", "100",    "200",    "300",	  "800",     "GB10",  "L40",
		"A10",	  "A30",   "A40",    "H20",    "NVIDIA",  "Jetson",  "GRID",  "tesla",
		"quadro", "titan", "jetson", "nvidia", "P40",	  "M40",     "M60",   "K80",
		"K40",	  "T4",	   "L4",     "P4"
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(hints); i++)
		if (view_find(s, hints[i]) >= 0)
			return true;
	return false;
}

/* "Built on a V100 node": it is where something was made, not what it runs on. */
static bool made_there(struct paste *p, struct view before)
{
	if (before.n > 60)
		before = view_skip(before, before.n - 60);
	return paste_match(
		p,
		"\\b(?:built|compiled|trained) (?:it )?on (?:an? |the |our |my |\\d ?x ?)?(?:(?:node|"
		"machine|server|box|host|cluster|laptop|workstation) (?:with|of) (?:an? |\\d ?x ?)?)?$",
		before, NULL);
}

static void gpu_names_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;
	size_t k, n;

	if (s.n > 600)
		s.n = 600;
	if (view_find(s, "Radeon") >= 0 || view_find(s, "AMD Instinct") >= 0 ||
	    paste_match(p, "\\bRX \\d{4}\\b|\\bgfx\\d{3,4}\\b|\\bMI\\d{2,3}X?\\b", s, NULL))
		sign_add(p, "amd-gpu", i, s);
	if (!may_hold(s))
		return;
	for (k = 0; k < ARRAY_LEN(names); k++) {
		struct view rest = s;

		for (n = 0; n < 4 && paste_match(p, names[k], rest, &m); n++) {
			if (!made_there(p, (struct view){ s.p, (size_t)(m.group[0].p - s.p) }))
				paste_gpu(p, m.group[0], i);
			rest = view_skip(rest, m.end);
		}
	}
}

const struct extractor extract_gpu_names = { .name = "gpu_names", .line = gpu_names_line };
