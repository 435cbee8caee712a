/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stand-in for a driver library does, by $CUVET_STANDIN_SCRIPT:
 * "cuInit=0;devices=2;name0=...;behave=segv". Without it the stand-ins are a healthy machine with
 * one GPU. Keys of NVML begin with "nvml.".
 * behave=  segv abort bus exit0 loop wait dies flood junk slow garbage nonul preload
 * at=CALL  where that happens (nvml.at); "load" is the constructor; by default the initialisation
 * mark=    a file, for `dies`
 * KEY=     what a call gives
 */
#ifndef STANDIN_SCRIPT_H
#define STANDIN_SCRIPT_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value of PREFIX+KEY(+INDEX when not negative), or the default. */
static const char *say(const char *prefix, const char *key, int index, const char *dflt)
{
	static char value[512];
	const char *at = getenv("CUVET_STANDIN_SCRIPT");
	char name[96];
	size_t n;

	if (index < 0)
		snprintf(name, sizeof(name), "%s%s=", prefix, key);
	else
		snprintf(name, sizeof(name), "%s%s%d=", prefix, key, index);
	n = strlen(name);
	for (; at && *at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL) {
		if (strncmp(at, name, n) != 0)
			continue;
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(at + n, ";"), at + n);
		return value;
	}
	return dflt;
}

static long say_number(const char *prefix, const char *key, int index, long dflt)
{
	const char *text = say(prefix, key, index, NULL);

	return text ? strtol(text, NULL, 0) : dflt;
}

static int is_behaviour(const char *prefix, const char *what)
{
	return strcmp(say(prefix, "behave", -1, ""), what) == 0;
}

static void crash(void)
{
	*(volatile int *)8 = 1;
}

static void flood(void)
{
	static char junk[4096];
	int i, fd;

	memset(junk, '\033', sizeof(junk));
	/* To every descriptor but the answer's: streams first, then what was not closed. */
	for (i = 0; i < 256; i++)
		for (fd = 0; fd < 64; fd++)
			if (fd != 3 && write(fd, junk, sizeof(junk)) < 0)
				continue;
}

/* A crash, after which every later process crashes at its start; `mark` is a file that says so. */
static void die(const char *prefix, int at_start)
{
	const char *mark = say(prefix, "mark", -1, "");
	FILE *f;

	if (at_start && access(mark, F_OK) != 0)
		return;
	f = fopen(mark, "w");
	if (f)
		fclose(f);
	crash();
}

/* The script's misbehaviour, if it belongs to this call. */
static void behave(const char *prefix, const char *call, const char *init)
{
	const char *what;
	volatile int forever = 1;

	if (strcmp(call, init) == 0 && is_behaviour(prefix, "dies"))
		die(prefix, 1);
	if (strcmp(say(prefix, "at", -1, init), call) != 0)
		return;
	what = say(prefix, "behave", -1, "");
	if (strcmp(what, "segv") == 0)
		crash();
	else if (strcmp(what, "abort") == 0)
		abort();
	else if (strcmp(what, "bus") == 0)
		raise(SIGBUS);
	else if (strcmp(what, "exit0") == 0)
		exit(0);
	else if (strcmp(what, "dies") == 0)
		die(prefix, 0);
	else if (strcmp(what, "loop") == 0)
		while (forever)
			;
	else if (strcmp(what, "wait") == 0)
		while (forever)
			pause();
	else if (strcmp(what, "flood") == 0)
		flood();
	else if (strcmp(what, "junk") == 0 && write(3, "nonsense in the answer's pipe", 29) < 0)
		_exit(9);
	else if (strcmp(what, "slow") == 0)
		usleep((useconds_t)say_number(prefix, "ms", -1, 100) * 1000);
}

/* Fills a buffer as the call would: with "nonul" up to its last byte. */
static void give_text(const char *prefix, char *buf, size_t size, const char *text)
{
	if (is_behaviour(prefix, "nonul"))
		memset(buf, 'A', size);
	else
		snprintf(buf, size, "%s", text);
}

#endif
