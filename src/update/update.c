/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of an update: nothing is parsed before it is verified, nothing is written before it is
 * valid.
 */
#include "update/update.h"

#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "compat/embedded.h"
#include "net/crypto.h"
#include "net/http.h"
#include "update/store.h"

enum { SMALL_MAX = 64 << 10 };
#define BUILT_IN_KEY "data/keys/cuvet-data.pub"

struct got {
	struct view archive, signature;
	const char *name, *signature_name; /* for messages; the name goes into the manifest */
};

/* "https://host/file?x" has its signature at "https://host/file.sig?x". */
static const char *signature_url(struct arena *a, const char *url)
{
	size_t n = strcspn(url, "?#");

	return arena_printf(a, "%.*s.sig%s", (int)n, url, url + n);
}

static int get_url(struct arena *a, const char *url, struct got *ret, struct err *err)
{
	const char *sig = signature_url(a, url);
	struct http *http;
	int r = http_allowed(url, err);

	if (!r)
		r = http_open(a, &http, err);
	/* The small one first: a login page or a wrong address shows at once. */
	if (!r)
		r = http_get(http, sig, SMALL_MAX, &ret->signature, err);
	if (!r)
		r = http_get(http, url, ARCHIVE_MAX, &ret->archive, err);
	/* What follows a "?" may be a secret. */
	ret->name = arena_strndup(a, url, strcspn(url, "?#"));
	ret->signature_name = arena_printf(a, "%s.sig", ret->name);
	return r;
}

static int get_file(struct arena *a, const char *path, struct got *ret, struct err *err)
{
	int r;

	if (strcmp(path, "-") == 0)
		return err_set(
			err, ERR_USAGE,
			_("--from -: the archive has to be a file, with its .sig beside it"));
	ret->name = path;
	ret->signature_name = arena_printf(a, "%s.sig", path);
	r = file_read(a, path, ARCHIVE_MAX, &ret->archive, err);
	return r ? r : file_read(a, ret->signature_name, SMALL_MAX, &ret->signature, err);
}

/* *ret_key: "built-in", or the key itself as base64, for the manifest. */
static int take_key(struct arena *a, const char *file, unsigned char key[KEY_BYTES],
		    const char **ret_key, struct err *err)
{
	struct view pem = compat_embedded(BUILT_IN_KEY);
	int r;

	if (!file) {
		*ret_key = "built-in";
		return key_read(pem, BUILT_IN_KEY, key, err);
	}
	r = file_read(a, file, SMALL_MAX, &pem, err);
	if (!r)
		r = key_read(pem, file, key, err);
	if (!r)
		*ret_key = base64_text(a, key, KEY_BYTES);
	return r;
}

/*
 * The signature is that of the key over the archive; fills what the manifest needs to know of it.
 */
static int verify(struct arena *a, const struct update_options *o, const struct got *got,
		  struct store_note *note, struct err *err)
{
	unsigned char key[KEY_BYTES], signature[SIGNATURE_BYTES], hash[HASH_BYTES];
	struct crypto *crypto;
	int r = take_key(a, o->trust_key, key, &note->key, err);

	if (!r)
		r = crypto_open(a, &crypto, err);
	if (!r)
		r = signature_read(got->signature, got->signature_name, signature, err);
	if (!r && crypto_verify(crypto, got->archive, signature, key, err))
		r = err_wrap(err, "%s", got->name);
	if (!r)
		r = crypto_sha256(crypto, got->archive, hash, err);
	if (!r)
		note->sha256 = hex_text(a, hash, sizeof(hash));
	return r;
}

static const char *embedded_date(struct arena *a)
{
	return view_dup(a, compat_embedded_date());
}

/* Date of the tables in use, and the set if it is one. */
static const char *date_in_use(struct arena *a, const struct store *s, const char **ret_set)
{
	const char *embedded = embedded_date(a);
	struct installed_set set;

	*ret_set = NULL;
	if (!s->current.use)
		return embedded;
	installed_set(a, s->fd, s->current.use, &set);
	if (set.unusable)
		return embedded;
	*ret_set = set.name;
	return installed_preferred(&set, &s->current) ? set.date : embedded;
}

static int refuse_older(const struct got *got, const struct archive *archive, const char *date,
			struct err *err)
{
	return err_set(
		err, ERR_DATA,
		_("%s: of %s, older than the tables of %s in use; --allow-older installs it all the same"),
		got->name, archive->date, date);
}

static int install(struct arena *a, const struct update_options *o, const struct got *got,
		   const struct archive *archive, struct store_note *note,
		   struct update_result *ret, struct err *err)
{
	const char *embedded = embedded_date(a), *set;
	struct store s;
	int r = store_open(a, &s, err), d;

	if (r)
		return r;
	ret->was = date_in_use(a, &s, &set);
	/* Never below what came with the program, whatever is in use. */
	d = strcmp(archive->date, strcmp(ret->was, embedded) > 0 ? ret->was : embedded);
	if (d < 0 && !o->allow_older)
		r = refuse_older(got, archive, strcmp(ret->was, embedded) > 0 ? ret->was : embedded,
				 err);
	ret->changed = !r && (d > 0 || o->allow_older) && !(set && strcmp(set, note->name) == 0);
	if (d <= 0)
		note->allowed_over = embedded;
	if (ret->changed)
		r = store_install(a, &s, archive, note, err);
	store_close(&s);
	return r;
}

/* Whatever is wrong with the data, the exit code says that cuvet could not do its work. */
static int as_data_error(int r, struct err *err)
{
	if (!r || !err || err->code == ERR_USAGE || err_exit_code(err->code) == 4)
		return r;
	err->code = ERR_DATA;
	return -(int)ERR_DATA;
}

int update_install(struct arena *a, const struct update_options *o, struct update_result *ret,
		   struct err *err)
{
	struct store_note note = { .name = NULL };
	struct archive archive;
	struct got got = { .name = o->from };
	int r;

	*ret = (struct update_result){ .changed = false };
	r = http_is_url(o->from) ? get_url(a, o->from, &got, err) : get_file(a, o->from, &got, err);
	if (!r)
		r = verify(a, o, &got, &note, err);
	if (!r)
		r = archive_read(a, got.archive, got.name, &archive, err);
	if (!r)
		r = archive_validate(a, &archive, got.name, err);
	if (r)
		return as_data_error(r, err);
	note.name = arena_printf(a, "%s-%.8s", archive.date, note.sha256);
	note.from = got.name;
	ret->date = archive.date;
	ret->unknown = archive.unknown;
	return as_data_error(install(a, o, &got, &archive, &note, ret, err), err);
}

int update_rollback(struct arena *a, struct update_result *ret, struct err *err)
{
	const char *set = NULL;
	struct store s;
	int r = store_open(a, &s, err);

	if (r)
		return as_data_error(r, err);
	*ret = (struct update_result){ .was = date_in_use(a, &s, &set) };
	if (s.current.use)
		ret->was = arena_strndup(a, s.current.use, 10);
	set = NULL;
	r = store_rollback(a, &s, &set, err);
	ret->changed = !r;
	ret->date = set ? arena_strndup(a, set, 10) : NULL;
	store_close(&s);
	return as_data_error(r, err);
}
