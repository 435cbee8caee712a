/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an archive or an OCI folder to a tree of files. A plain archive is gone over by its headers,
 * and contents stay in it; a packed one is read once, and what probes need of it is kept aside.
 */
#include "source/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/view.h"
#include "source/image_digest.h"
#include "source/image_squash.h"
#include "sys/child.h"
#include "sys/elf.h"
#include "sys/sysroot.h"

enum {
	CHUNK = 128 << 10,
	STEP = 4 << 10,
	JSON_MAX = 4 << 20,
	BLOBS_MAX = 4096,
	HASH_MS = 600000,
};
static const uint64_t spill_max = UINT64_C(8) << 30;
/* Up to so many bytes digests are compared without being asked for: hashing is slower than reading.
 */
static const uint64_t hash_max = UINT64_C(256) << 20;

/* A member of the outer archive, or a file of the folder, that may belong to an image. */
struct blob {
	const char *name;
	const char *link; /* another member that it stands for */
	uint64_t from, size;
	int fd;
	struct view text; /* of a JSON document */
	struct layer *layer;
	const struct json *doc;
	char hex[SHA256_HEX + 1]; /* of a small one; else empty */
};

struct loading_image {
	struct arena *a;
	struct image *image;
	const char *path;
	struct spill *spill;
	struct blob *blobs;
	size_t n;
	struct layer outer; /* the archive itself, taken for a root */
	bool deep;
};

/* -------- bytes */

struct range {
	int fd;
	uint64_t at, end;
	unsigned char *buf;
	/*
	 * Of a plain archive only headers are read, of a packed one everything: small pieces after
	 * a skip, larger ones from read to read.
	 */
	size_t step;
};

static ssize_t range_read(void *ctx, const void **ret)
{
	struct range *r = ctx;
	size_t n = r->end - r->at < r->step ? (size_t)(r->end - r->at) : r->step;
	ssize_t k;

	if (!n)
		return 0;
	if (r->step < CHUNK)
		r->step *= 2;
	do
		k = pread(r->fd, r->buf, n, (off_t)r->at);
	while (k < 0 && errno == EINTR);
	if (k <= 0)
		return k;
	r->at += (uint64_t)k;
	*ret = r->buf;
	return k;
}

static int64_t range_skip(void *ctx, int64_t n)
{
	struct range *r = ctx;

	if (n < 0)
		return 0;
	if ((uint64_t)n > r->end - r->at)
		n = (int64_t)(r->end - r->at);
	r->at += (uint64_t)n;
	r->step = STEP;
	return n;
}

static struct tar_source range_source(struct arena *a, struct range *r, int fd, uint64_t from,
				      uint64_t size)
{
	*r = (struct range){
		.fd = fd, .at = from, .end = from + size, .buf = arena_alloc(a, CHUNK), .step = STEP
	};
	return (struct tar_source){ .ctx = r, .read = range_read, .skip = range_skip };
}

/* The data of a member of a packed archive, one after another. */
struct nested {
	struct tar *t;
	struct err *err;
	struct sha256 hash;
	bool failed;
};

static ssize_t nested_read(void *ctx, const void **ret)
{
	struct nested *n = ctx;
	int64_t at, k = tar_data(n->t, ret, &at, n->err);

	if (k > 0)
		sha256_add(&n->hash, *ret, (size_t)k);
	n->failed |= k < 0;
	return k < 0 ? -1 : (ssize_t)k;
}

/* -------- members */

/* Lists and configurations stand at the top of an image's archive, or are blobs. */
static bool is_json_name(const char *name)
{
	return view_starts(view_of(name), "blobs/") ||
	       (!strchr(name, '/') && view_ends(view_of(name), ".json"));
}

static bool is_layer_name(const char *name)
{
	return view_starts(view_of(name), "blobs/") || view_ends(view_of(name), "/layer.tar") ||
	       (!strchr(name, '/') &&
		(view_ends(view_of(name), ".tar") || view_ends(view_of(name), ".tar.gz")));
}

static const char *plain_name(const char *name)
{
	while (name[0] == '.' && name[1] == '/')
		name += 2;
	return name;
}

static struct blob *add_blob(struct loading_image *l, const char *name)
{
	struct blob *b;

	if (l->n == BLOBS_MAX)
		return NULL;
	b = ARENA_APPEND(l->a, l->blobs, l->n);
	b->name = arena_strdup(l->a, name);
	b->fd = -1;
	return b;
}

static struct blob *find_blob(struct loading_image *l, const char *name, unsigned depth)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->blobs[i].name, name) == 0)
			return l->blobs[i].link && depth < 8
				       ? find_blob(l, l->blobs[i].link, depth + 1)
				       : &l->blobs[i];
	return NULL;
}

/* "../abc/layer.tar" in "def/layer.tar" is "abc/layer.tar". */
static const char *beside(struct arena *a, const char *name, const char *target)
{
	const char *slash = strrchr(name, '/');

	if (strncmp(target, "../", 3) == 0 && slash && !memchr(name, '/', (size_t)(slash - name)))
		return arena_strdup(a, target + 3);
	return slash ? arena_printf(a, "%.*s/%s", (int)(slash - name), name, target)
		     : arena_strdup(a, target);
}

/* Older archives have a layer that occurs twice as a link. */
static void add_link(struct loading_image *l, const char *name, const char *target)
{
	struct blob *b = add_blob(l, name);

	if (b)
		b->link = beside(l->a, name, target);
}

static void set_text(struct loading_image *l, struct blob *b, char *text, size_t n)
{
	struct sha256 h;

	(void)l;
	sha256_init(&h);
	sha256_add(&h, text, n);
	sha256_hex(&h, b->hex);
	b->text = (struct view){ .p = text, .n = n };
}

static const struct json *json_blob(void *ctx, const char *name)
{
	struct loading_image *l = ctx;
	struct blob *b = find_blob(l, name, 0);
	char *text;

	if (!b || b->doc)
		return b ? b->doc : NULL;
	if (!b->text.p && b->fd >= 0 && b->size <= JSON_MAX) {
		text = arena_alloc(l->a, (size_t)b->size + 1);
		if (!elf_pread(b->fd, text, (size_t)b->size, b->from))
			return NULL;
		set_text(l, b, text, (size_t)b->size);
	}
	/* What is not what its name says is not read. */
	if (!b->text.p ||
	    (strncmp(name, "blobs/sha256/", 13) == 0 && strcmp(b->hex, name + 13) != 0))
		return NULL;
	return json_parse(l->a, b->text, name, &b->doc, NULL) == 0 ? b->doc : NULL;
}

/* -------- the outer archive, plain: a list of members and where they lie */

static int list_plain(struct loading_image *l, struct tar *t, struct tar_member *m, int fd,
		      uint64_t end, struct err *err)
{
	const char *name = plain_name(m->name);
	struct blob *b;

	if (S_ISLNK(m->mode) && m->symlink && is_layer_name(name)) {
		add_link(l, name, m->symlink);
	} else if (S_ISREG(m->mode) && !m->hardlink &&
		   (is_json_name(name) || is_layer_name(name))) {
		uint64_t from = layer_data(fd, (uint64_t)m->header);

		b = from && from <= end && (uint64_t)m->size <= end - from ? add_blob(l, name)
									   : NULL;
		if (b) {
			b->fd = fd;
			b->from = from;
			b->size = (uint64_t)m->size;
		}
	}
	return layer_add(l->a, t, m, fd, 0, end, l->spill, &l->outer, err);
}

/* -------- the outer archive, packed: each member is read as it passes by */

static int read_text(struct loading_image *l, struct tar *t, struct blob *b, uint64_t size,
		     struct err *err)
{
	char *text = arena_alloc(l->a, (size_t)size + 1);
	int64_t n, at;
	size_t have = 0;
	const void *p;

	while ((n = tar_data(t, &p, &at, err)) > 0) {
		if ((uint64_t)n > size - have)
			return err_set(err, ERR_PARSE, "%s", _("a member is longer than it says"));
		memcpy(text + have, p, (size_t)n);
		have += (size_t)n;
	}
	if (n < 0)
		return (int)n;
	set_text(l, b, text, have);
	return 0;
}

static int read_layer(struct loading_image *l, struct tar *t, struct blob *b, struct err *err)
{
	struct nested n = { .t = t, .err = err };
	struct tar_source src = { .ctx = &n, .read = nested_read };
	struct err inner = { 0 };
	struct layer *layer = arena_calloc(l->a, 1, sizeof(*layer));
	struct tar *in;
	const void *p;
	int r;

	sha256_init(&n.hash);
	layer->name = b->name;
	r = tar_open(l->a, &src, &in, &inner);
	if (!r) {
		r = layer_read(l->a, in, -1, 0, 0, l->spill, layer, &inner);
		tar_close(in);
	}
	if (n.failed)
		return err_set(err, ERR_PARSE, "%s", _("the archive is damaged"));
	/* A blob that is no archive may belong to something else. */
	if (!r)
		b->layer = layer;
	while (nested_read(&n, &p) > 0)
		;
	sha256_hex(&n.hash, b->hex);
	return 0;
}

static int pass_packed(struct loading_image *l, struct tar *t, struct tar_member *m,
		       struct err *err)
{
	const char *name = plain_name(m->name);
	struct blob *b;

	if (S_ISLNK(m->mode) && m->symlink && is_layer_name(name)) {
		add_link(l, name, m->symlink);
		return 0;
	}
	if (!S_ISREG(m->mode) || m->hardlink || (!is_json_name(name) && !is_layer_name(name)))
		return layer_add(l->a, t, m, -1, 0, 0, l->spill, &l->outer, err);
	b = add_blob(l, name);
	if (!b)
		return 0;
	if (m->size <= JSON_MAX && (is_json_name(name) && !view_starts(view_of(name), "blobs/")))
		return read_text(l, t, b, (uint64_t)m->size, err);
	if (m->size <= (64 << 10))
		return read_text(l, t, b, (uint64_t)m->size, err);
	return read_layer(l, t, b, err);
}

/* -------- layers of a plain archive or a folder */

static int layer_of_range(struct loading_image *l, struct blob *b, struct err *err)
{
	struct layer *layer = arena_calloc(l->a, 1, sizeof(*layer));
	struct tar_source src;
	struct range range;
	struct tar *t;
	int r;

	layer->name = b->name;
	if (b->text.p && b->fd < 0) {
		/* A small layer of a packed archive was kept as a text. */
		struct tree_data *d;
		struct keeper *k = keep_begin(l->a, l->spill, b->text.n, KEEP_ALL, &d);

		if (keep_push(k, b->text.p, b->text.n) || keep_end(k) || !d->n_pieces)
			return err_set(err, ERR_IO, "%s", _("temporary file"));
		b->fd = d->fd;
		b->from = d->pieces[0].from;
		b->size = b->text.n;
	}
	if (b->fd < 0)
		return err_set(err, ERR_PARSE, _("%.120s is no layer"), b->name);
	src = range_source(l->a, &range, b->fd, b->from, b->size);
	r = tar_open(l->a, &src, &t, err);
	if (r)
		return r;
	r = layer_read(l->a, t, b->fd, b->from, b->from + b->size, l->spill, layer, err);
	tar_close(t);
	b->layer = layer;
	return r;
}

static void note(struct loading_image *l, const char *text)
{
	*ARENA_APPEND(l->a, l->image->notes, l->image->n_notes) = text;
}

static int mismatch(struct err *err, const char *name)
{
	return err_set(err, ERR_DATA, _("%.120s is not what its digest says"), name);
}

/* Lays the layers over each other in the order of the manifest. */
static int put_together(struct loading_image *l, const struct manifest *m, struct err *err)
{
	struct hashing *h = arena_calloc(l->a, 1, sizeof(*h));
	struct child child = { 0 };
	struct child_result end;
	uint64_t total = 0;
	unsigned bad = 0, n = 0;
	size_t i;
	int r = 0;

	for (i = 0; i < m->n; i++) {
		struct blob *b = find_blob(l, m->layers[i], 0);

		if (!b)
			return err_set(err, ERR_PARSE, _("a layer is not in the archive: %.120s"),
				       m->layers[i]);
		if (m->digests[i] && b->hex[0] && strcmp(b->hex, m->digests[i]) != 0)
			return mismatch(err, m->layers[i]);
		if (m->digests[i] && !b->hex[0] && b->fd >= 0) {
			struct hash_job *job = ARENA_APPEND(l->a, h->jobs, h->n);

			job->file = b->fd >= 0 && b->from == 0 && b->link == NULL &&
						    b->layer == NULL &&
						    strcmp(l->image->layout, "OCI folder") == 0
					    ? arena_printf(l->a, "%s/%s", l->path, b->name)
					    : NULL;
			job->digest = m->digests[i];
			job->from = b->from;
			job->size = b->size;
			total += b->size;
		}
	}
	h->path = l->path;
	if (h->n && (l->deep || total <= hash_max))
		child_start(&child, hash_all, h, sizeof(bad), NULL, HASH_MS);
	else if (h->n)
		note(l, _("the digests of the layers were not compared: --deep does"));
	for (i = 0; i < m->n && !r; i++) {
		struct blob *b = find_blob(l, m->layers[i], 0);

		if (!b)
			continue;
		if (!b->layer)
			r = layer_of_range(l, b, err);
		if (!r)
			layer_apply(l->image->tree, b->layer, ++n);
	}
	if (!child.pid)
		return r;
	if (r) {
		child_drop(&child);
		return r;
	}
	child_wait(&child, &bad, sizeof(bad), &end);
	if (end.end != CHILD_ANSWERED)
		note(l, _("the digests of the layers could not be compared"));
	else if (bad && bad <= h->n)
		return mismatch(err, h->jobs[bad - 1].digest);
	return 0;
}

static int assemble(struct loading_image *l, struct err *err)
{
	struct blobs b = { .ctx = l, .json = json_blob };
	const struct json *doc = json_blob(l, "manifest.json");
	struct manifest m;
	int r;

	l->image->tree = ftree_new(l->a);
	/* Docker's list stands beside the index of newer archives, and names the layers plainly. */
	if (json_type(doc) == JSON_ARRAY) {
		l->image->layout = "docker archive";
		r = manifest_docker(l->a, doc, &b, &m, err);
	} else if ((doc = json_blob(l, "index.json")) != NULL) {
		if (!l->image->layout)
			l->image->layout = "OCI archive";
		r = manifest_oci(l->a, doc, &b, &m, err);
	} else {
		if (!l->outer.n)
			return err_set(err, ERR_PARSE, _("%s holds no image and no files"),
				       l->path);
		l->image->layout = "root archive";
		layer_apply(l->image->tree, &l->outer, 1);
		return 0;
	}
	if (r)
		return r;
	l->image->config = m.config;
	l->image->reference = m.reference;
	if (!m.config)
		note(l, _("the configuration of the image is not in the archive"));
	return put_together(l, &m, err);
}

static void close_fd(void *p)
{
	close(*(int *)p);
}

static int open_file(struct loading_image *l, int dir, const char *name, uint64_t *ret_size)
{
	int *fd = arena_alloc(l->a, sizeof(*fd));
	struct stat st;

	*fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (*fd < 0)
		return -errno;
	arena_defer(l->a, close_fd, fd);
	if (fstat(*fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	*ret_size = (uint64_t)st.st_size;
	return *fd;
}

/* -------- an OCI layout in a folder */

static int from_folder(struct loading_image *l, struct err *err)
{
	_cleanup_fd_ int dir = open(l->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sysroot *root;
	struct dirlist list;
	size_t i;
	int r = sysroot_open(l->a, l->path, &root, err);

	if (r)
		return r;
	l->image->layout = "OCI folder";
	if (dir < 0)
		return err_errno(err, errno, "%s", l->path);
	r = sysroot_list(root, l->a, "blobs/sha256", BLOBS_MAX - 1, &list);
	if (r)
		return err_errno(err, -r, "%s/blobs/sha256", l->path);
	for (i = 0; i <= list.n; i++) {
		const char *name = i < list.n ? arena_printf(l->a, "blobs/sha256/%s", list.names[i])
					      : "index.json";
		struct blob *b = add_blob(l, name);

		if (b)
			b->fd = open_file(l, dir, name, &b->size);
	}
	return assemble(l, err);
}

/* -------- squashfs, which is always one root */

static int from_squash(struct loading_image *l, struct err *err)
{
	struct err tar_err = { 0 };
	struct tar_source src;
	struct squash *q;
	struct tar *t;
	int r = squash_open(l->a, l->path, &q, &src, err), e;

	if (r)
		return r;
	r = tar_open(l->a, &src, &t, &tar_err);
	if (!r) {
		r = layer_read(l->a, t, -1, 0, 0, l->spill, &l->outer, &tar_err);
		tar_close(t);
	}
	/* A tool that gave up says more than a stream that ended. */
	e = squash_end(q, err);
	if (e)
		return e;
	if (r) {
		*err = tar_err;
		return r;
	}
	if (!l->outer.n)
		return err_set(err, ERR_PARSE, _("%s holds no image and no files"), l->path);
	l->image->layout = "squashfs";
	l->image->tree = ftree_new(l->a);
	layer_apply(l->image->tree, &l->outer, 1);
	return 0;
}

static int from_archive(struct loading_image *l, struct err *err)
{
	struct tar_source src;
	struct tar_member m;
	struct range range;
	struct tar *t;
	uint64_t size = 0;
	int fd = open_file(l, AT_FDCWD, l->path, &size), r;

	if (fd < 0)
		return err_errno(err, -fd, "%s", l->path);
	if (squash_is(fd))
		return from_squash(l, err);
	src = range_source(l->a, &range, fd, 0, size);
	r = tar_open(l->a, &src, &t, err);
	if (r)
		return r;
	while ((r = tar_next(t, &m, err)) > 0) {
		r = tar_is_packed(t) ? pass_packed(l, t, &m, err)
				     : list_plain(l, t, &m, fd, size, err);
		if (r)
			break;
	}
	tar_close(t);
	return r ? r : assemble(l, err);
}

static void close_spill(void *p)
{
	if (((struct spill *)p)->fd >= 0)
		close(((struct spill *)p)->fd);
}

int source_image(struct arena *a, const char *path, bool deep, struct image *ret, struct err *err)
{
	struct loading_image l = { .a = a, .image = ret, .path = path, .deep = deep };
	struct stat st;

	*ret = (struct image){ 0 };
	l.spill = arena_calloc(a, 1, sizeof(*l.spill));
	l.spill->fd = -1;
	l.spill->limit = spill_max;
	arena_defer(a, close_spill, l.spill);
	if (stat(path, &st) < 0)
		return err_errno(err, errno, "%s", path);
	return S_ISDIR(st.st_mode) ? from_folder(&l, err) : from_archive(&l, err);
}
