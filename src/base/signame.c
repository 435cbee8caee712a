/* SPDX-License-Identifier: Apache-2.0 */
/* The signals that end a process, by name; nothing is sent or caught here. */
#include "base/signame.h"

#include <signal.h>
#include <stddef.h>

#include "base/attr.h"

const char *signame(int signal)
{
	static const char *const names[] = {
#define ROW(name) [SIG##name] = #name
		ROW(HUP),  ROW(INT),  ROW(QUIT), ROW(ILL),  ROW(TRAP),	 ROW(ABRT), ROW(BUS),
		ROW(FPE),  ROW(KILL), ROW(USR1), ROW(SEGV), ROW(USR2),	 ROW(PIPE), ROW(ALRM),
		ROW(TERM), ROW(CHLD), ROW(CONT), ROW(STOP), ROW(TSTP),	 ROW(TTIN), ROW(TTOU),
		ROW(URG),  ROW(XCPU), ROW(XFSZ), ROW(PROF), ROW(VTALRM), ROW(PWR),  ROW(SYS),
#undef ROW
	};
	const char *name = signal > 0 && (size_t)signal < ARRAY_LEN(names) ? names[signal] : NULL;

	return name ? name : "?";
}
