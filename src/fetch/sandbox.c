/* SPDX-License-Identifier: Apache-2.0 */
/* no_new_privs, Landlock and seccomp by their system calls; must never be entered by the main
 * process. */
#include "fetch/sandbox.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/attr.h"

#if __has_include(<linux/landlock.h>) && defined(__NR_landlock_create_ruleset)
#include <linux/landlock.h>

/* All that version 1 knows, and moving between folders (2) and cutting off (3) where there is more.
 */
enum { ACCESS_1 = (1 << 13) - 1, ACCESS_REFER = 1 << 13, ACCESS_TRUNCATE = 1 << 14 };

static void landlock(int writable)
{
	struct landlock_ruleset_attr rules = { .handled_access_fs = ACCESS_1 };
	struct landlock_path_beneath_attr below = { .parent_fd = writable };
	long version = syscall(__NR_landlock_create_ruleset, NULL, (size_t)0,
			       LANDLOCK_CREATE_RULESET_VERSION);
	long fd;

	if (version < 1)
		return;
	if (version >= 2)
		rules.handled_access_fs |= ACCESS_REFER;
	if (version >= 3)
		rules.handled_access_fs |= ACCESS_TRUNCATE;
	fd = syscall(__NR_landlock_create_ruleset, &rules, sizeof(rules), 0U);
	if (fd < 0)
		return;
	/* Everything but running programs and making devices, sockets and pipes. */
	below.allowed_access =
		rules.handled_access_fs &
		~(uint64_t)(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
			    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SOCK |
			    LANDLOCK_ACCESS_FS_MAKE_FIFO);
	if (writable < 0 || syscall(__NR_landlock_add_rule, (int)fd, LANDLOCK_RULE_PATH_BENEATH,
				    &below, 0U) == 0)
		(void)syscall(__NR_landlock_restrict_self, (int)fd, 0U);
	close((int)fd);
}
#else
static void landlock(int writable)
{
	(void)writable;
}
#endif

#if __has_include(<linux/seccomp.h>) && (defined(__x86_64__) || defined(__aarch64__))
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif
#define DENY(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static void filter_calls(void)
{
	/* What other numbers of calls could stand for (x32, 32 bits) is refused whole. */
	static const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		DENY(__NR_socket),
		DENY(__NR_socketpair),
		DENY(__NR_connect),
		DENY(__NR_bind),
		DENY(__NR_sendto),
		DENY(__NR_sendmsg),
		DENY(__NR_execve),
		DENY(__NR_execveat),
		DENY(__NR_ptrace),
		DENY(__NR_process_vm_readv),
		DENY(__NR_process_vm_writev),
		DENY(__NR_mount),
		DENY(__NR_unshare),
		DENY(__NR_setns),
		DENY(__NR_bpf),
		DENY(__NR_keyctl),
		DENY(__NR_perf_event_open),
		DENY(__NR_mknodat),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	union {
		const struct sock_filter *from;
		struct sock_filter *to;
	} program = { .from = code }; /* the structure's pointer is not const */
	const struct sock_fprog fprog = { .len = (unsigned short)ARRAY_LEN(code),
					  .filter = program.to };

	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog, 0, 0);
}
#else
static void filter_calls(void)
{
}
#endif

void sandbox_enter(int writable)
{
	/* Without it neither of the others is to be had by a user who is not root. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return;
	landlock(writable);
	filter_calls();
}
