/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in the snapshot that probes and rules share. */
#include "model/snapshot.h"

#include <string.h>

const struct fact *snapshot_env_fact(const struct snapshot *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n_environment; i++)
		if (fact_is(&s->environment[i].name, name) && fact_known(&s->environment[i].value))
			return &s->environment[i].value;
	return NULL;
}

const char *snapshot_env(const struct snapshot *s, const char *name)
{
	const struct fact *f = snapshot_env_fact(s, name);

	return f ? f->value : NULL;
}

const struct python *snapshot_active_python(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_pythons; i++)
		if (fact_yes(&s->pythons[i].active))
			return &s->pythons[i];
	return NULL;
}

const struct package *python_package(const struct python *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_packages; i++)
		if (fact_is(&p->packages[i].name, name))
			return &p->packages[i];
	return NULL;
}

const struct module *driver_loaded_module(const struct driver *d, const char *name)
{
	size_t i;

	for (i = 0; i < d->n_modules; i++)
		if (fact_is(&d->modules[i].name, name) && fact_yes(&d->modules[i].loaded))
			return &d->modules[i];
	return NULL;
}
