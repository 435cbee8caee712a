#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""fetch from a server on the loopback that misbehaves, by the classes N of faults. Prints TAP."""
import concurrent.futures
import hashlib
import http.server
import json
import os
import pathlib
import re
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from world import FILES, TOP, Tap, World, good_members, leaf, tar  # noqa: E402

# Large enough for several writes, and not to be compressed.
BODY = b"".join(hashlib.sha256(b"%d" % i).digest() for i in range(20000))
ARCHIVE = tar(good_members(files={**FILES, "lib/libbig.so.9": BODY}))


class Handler(http.server.BaseHTTPRequestHandler):
    """/CASE/cudnn/redist/...; the case decides what is wrong."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, body, status=200, headers=(), length=None):
        self.send_response(status)
        for key, value in headers:
            self.send_header(key, value)
        if length is not False:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_CONNECT(self):
        self.server.seen.append(("CONNECT", self.path, dict(self.headers)))
        self.answer(b"", 407, [("Proxy-Authenticate", 'Basic realm="x"')])

    def do_GET(self):
        self.close_connection = True
        with self.server.lock:
            self.server.seen.append(("GET", self.path, dict(self.headers)))
        path = re.sub(r"^http://[^/]*", "", self.path)
        if path != self.path:
            self.answer(b"", 407, [("Proxy-Authenticate", 'Basic realm="x"')])
            return
        _, case, rel = path.split("/", 2)
        try:
            file = self.server.files.get(rel)
            on_manifest = rel.endswith(".json")
            method = getattr(self, ("m_" if on_manifest else "a_") + case.replace("-", "_"), None)
            if method:
                with self.server.lock:
                    key = (case, rel)
                    n = self.server.tries[key] = self.server.tries.get(key, 0) + 1
                method(file, n)
            elif file is None:
                self.answer(b"no such file", 404)
            else:
                self.ranged(file)
        except (BrokenPipeError, ConnectionError):
            pass

    def ranged(self, body, etag='"v1"', always=False):
        """As a good server does it."""
        wanted = re.match(r"bytes=(\d+)-$", self.headers.get("Range", ""))
        same = self.headers.get("If-Range", etag) == etag or always
        start = int(wanted.group(1)) if wanted and same else 0
        if wanted and same and start >= len(body):
            self.answer(b"", 416, [("Content-Range", "bytes */%d" % len(body))])
        elif wanted and same:
            self.answer(body[start:], 206, [("ETag", etag), ("Content-Range", "bytes %d-%d/%d" % (
                start, len(body) - 1, len(body)))])
        else:
            self.answer(body, headers=[("ETag", etag), ("Accept-Ranges", "bytes")])

    def cut(self, body, n, etag='"v1"', status=200, headers=()):
        self.send_response(status)
        for key, value in headers:
            self.send_header(key, value)
        self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:n])

    # -------- archives
    def a_404(self, body, n):
        self.answer(b"", 404)

    def a_403(self, body, n):
        self.answer(b"", 403)

    def a_410(self, body, n):
        self.answer(b"", 410)

    def a_429(self, body, n):
        self.answer(b"", 429, [("Retry-After", "1")]) if n == 1 else self.ranged(body)

    def a_503(self, body, n):
        self.answer(b"", 503) if n <= 2 else self.ranged(body)

    def a_503_always(self, body, n):
        self.answer(b"", 503)

    def a_503_late(self, body, n):
        self.answer(b"", 503, [("Retry-After", "100000")])

    def a_cut(self, body, n):
        self.cut(body, len(body) // 3) if n == 1 else self.ranged(body)

    def a_cut_always(self, body, n):
        self.cut(body, 1000)

    def a_short(self, body, n):
        self.answer(body[:-10], length=False)

    def a_announced_short(self, body, n):
        self.answer(body[:-10])

    def a_long(self, body, n):
        self.answer(body + b"x" * 100, length=False)

    def a_endless(self, body, n):
        self.send_response(200)
        self.end_headers()
        block = b"x" * 65536
        for _ in range(10000):
            self.wfile.write(block)

    def a_stall(self, body, n):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:1000])
        self.server.ended.wait(20)

    def a_slow(self, body, n):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for i in range(200):
            self.wfile.write(body[i * 10:i * 10 + 10])
            if self.server.ended.wait(0.1):
                return

    def a_no_range(self, body, n):
        self.cut(body, len(body) // 3) if n == 1 else self.answer(body)

    def a_416(self, body, n):
        if n == 1:
            self.cut(body, len(body) // 3)
        elif "Range" in self.headers:
            self.answer(b"", 416)
        else:
            self.answer(body)

    def a_wrong_range(self, body, n):
        if n == 1:
            self.cut(body, len(body) // 3)
        elif "Range" in self.headers:
            self.answer(body[10:], 206, [("Content-Range", "bytes 10-%d/%d" % (len(body) - 1, len(body)))])
        else:
            self.answer(body)

    def a_wrong_range_always(self, body, n):
        self.answer(body[10:], 206, [("Content-Range", "bytes 10-%d/%d" % (len(body) - 1, len(body)))])

    def a_changed(self, body, n):
        # Half of another file, then the right one under another ETag.
        if n == 1:
            self.cut(b"y" * len(body), len(body) // 3, etag='"old"')
        else:
            self.ranged(body, etag='"new"')

    def a_changed_unsaid(self, body, n):
        # The same, and If-Range is not heeded.
        if n == 1:
            self.cut(b"y" * len(body), len(body) // 3, etag='"old"')
        else:
            self.ranged(body, etag='"new"', always=True)

    def a_wrong_hash(self, body, n):
        self.answer(body[:-1] + bytes([body[-1] ^ 1]))

    def a_gzip(self, body, n):
        import gzip
        self.answer(gzip.compress(body), headers=[("Content-Encoding", "gzip")])

    def a_portal(self, body, n):
        self.answer(b"<!doctype html><title>Wi-Fi</title>", headers=[("Content-Type", "text/html")])

    def redirect(self, target):
        self.answer(b"moved", 302, [("Location", target)])

    def a_to_file(self, body, n):
        self.redirect("file:///etc/passwd")

    def a_to_ftp(self, body, n):
        self.redirect("ftp://127.0.0.1/x")

    def a_to_http(self, body, n):
        self.redirect("http://example.org/x")

    def a_to_loop(self, body, n):
        self.redirect(self.path)

    def a_to_good(self, body, n):
        self.redirect(self.path.replace("to-good", "good"))

    # -------- manifests
    def m_m_html(self, body, n):
        self.answer(b"<!doctype html><title>Wi-Fi</title>")

    def m_m_huge(self, body, n):
        self.answer(b" " * (17 << 20))

    def m_m_endless(self, body, n):
        self.a_endless(body, n)

    def m_m_deep(self, body, n):
        self.answer(b"[" * 100000)

    def m_m_cut(self, body, n):
        self.answer(body[:-20])

    def m_m_404(self, body, n):
        self.answer(b"", 404)

    def lie(self, body, **over):
        doc = json.loads(body)
        doc["cudnn"]["linux-x86_64"]["cuda12"].update(over)
        self.answer(json.dumps(doc).encode())

    def m_m_dotdot(self, body, n):
        self.lie(body, relative_path="../../../etc/passwd")

    def m_m_host(self, body, n):
        self.lie(body, relative_path="//example.org/x.tar.xz")

    def m_m_url(self, body, n):
        self.lie(body, relative_path="https://example.org/x.tar.xz")

    def m_m_query(self, body, n):
        self.lie(body, relative_path="cudnn/x.tar.xz?y")

    def m_m_hash(self, body, n):
        self.lie(body, sha256="1" * 63)

    def m_m_size(self, body, n):
        self.lie(body, size="-1")

    def m_m_size_word(self, body, n):
        self.lie(body, size="1e6")

    def m_m_size_huge(self, body, n):
        self.lie(body, size="99999999999999999999")

    def m_m_kind(self, body, n):
        self.lie(body, relative_path="cudnn/linux-x86_64/cudnn.rar")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass


def serve(world):
    server = Server(("127.0.0.1", 0), Handler)
    server.files = {str(p.relative_to(world.mirror)): p.read_bytes()
                    for p in world.mirror.rglob("*") if p.is_file()}
    server.seen, server.tries = [], {}
    server.lock, server.ended = threading.Lock(), threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, "http://127.0.0.1:%d" % server.server_address[1]


# case, exit code, what is said, options
CASES = [
    ("N7 archive 404", "404", 4, "answered 404", ()),
    ("N7 archive 403", "403", 4, "answered 403", ()),
    ("N7 archive 410", "410", 4, "answered 410", ()),
    ("N7 manifest 404", "m-404", 4, "redistrib_9.1.1.json: the server answered 404", ()),
    ("N8 429 with Retry-After, then right", "429", 0, "trying again in 1.0 s", ()),
    ("N8 503 twice, then right", "503", 0, "trying again", ()),
    ("N8 503 for ever", "503-always", 4, "given up after 3 tries", ("--retries", "2")),
    # Newer libcurls make six hours of it.
    ("N8 Retry-After of a day", "503-late", 4, "the server asks to wait for ", ()),
    ("N9 cut, then the rest", "cut", 0, "trying again", ()),
    ("N9 cut for ever", "cut-always", 4, "given up after", ("--retries", "1")),
    ("N9 shorter without a length", "short", 4, "ended after", ("--retries", "1")),
    ("N9 shorter as announced", "announced-short", 4, "bytes are wanted, the server sends", ()),
    ("N10 stalls", "stall", 4, "", ("--retries", "0", "--timeout", "1")),
    ("N11 below the floor", "slow", 4, "", ("--retries", "0", "--timeout", "2")),
    ("N12 longer than announced", "long", 4, "which is all there should be", ()),
    ("N12 endless", "endless", 4, "which is all there should be", ()),
    ("N13 ranges are ignored", "no-range", 0, "trying again", ()),
    ("N14 416", "416", 0, "trying again", ()),
    ("N15 wrong Content-Range, then right", "wrong-range", 0, "another part", ()),
    ("N15 a part that was not asked for", "wrong-range-always", 4, "206", ("--retries", "2")),
    ("N16 changed between parts", "changed", 0, "trying again", ()),
    ("N16 changed, and If-Range is not heeded", "changed-unsaid", 0, "another part", ()),
    ("N17 right size, wrong hash", "wrong-hash", 4, hashlib.sha256(ARCHIVE).hexdigest(), ()),
    ("N19 gzip that was not asked for", "gzip", 4, "encoded (gzip)", ()),
    ("N2 portal instead of the archive", "portal", 4, "text/html", ()),
    ("N2 portal instead of the manifest", "m-html", 4, "not a redist manifest", ()),
    ("N5 redirect to file", "to-file", 4, "redirects to what is not taken", ()),
    ("N5 redirect to ftp", "to-ftp", 4, "redirects to what is not taken", ()),
    ("N5 redirect to plain http elsewhere", "to-http", 4, "redirects to what is not taken", ()),
    ("N6 redirect loop", "to-loop", 4, "more than 5 redirects", ()),
    ("N4 redirect to where it is", "to-good", 0, "", ()),
    ("manifest of 17 MiB", "m-huge", 4, "16 MiB", ()),
    ("manifest without end", "m-endless", 4, "which is all there should be", ()),
    ("manifest of 100,000 brackets", "m-deep", 4, "not a redist manifest", ()),
    ("manifest that is cut", "m-cut", 4, "not a redist manifest", ()),
    ("manifest with ..", "m-dotdot", 4, "leaves the manifest's folder", ()),
    ("manifest with another host", "m-host", 4, "leaves the manifest's folder", ()),
    ("manifest with a URL", "m-url", 4, "leaves the manifest's folder", ()),
    ("manifest with a query", "m-query", 4, "leaves the manifest's folder", ()),
    ("manifest with a short hash", "m-hash", 4, "sha256", ()),
    ("manifest with a negative size", "m-size", 4, "size", ()),
    ("manifest with a size in words", "m-size-word", 4, "size", ()),
    ("manifest with a size beyond all", "m-size-huge", 4, "size", ()),
    ("manifest with another kind of archive", "m-kind", 4,
     "/m-kind/cudnn/redist/cudnn/linux-x86_64/cudnn.rar: neither a tar", ()),
]


def one(base, url, case):
    label, name, code, said, options = case
    w = World(base)
    began = time.monotonic()
    r = w.install("--timeout", "5", *options, mirror=url + "/" + name)
    problems = []
    if r.returncode != code:
        problems.append("exit %d" % r.returncode)
    if said not in r.stderr:
        problems.append("does not say " + said)
    if code == 0 and not (w.whole() and (w.target / "lib/libbig.so.9").read_bytes() == BODY):
        problems.append("not whole")
    if code and (w.left() or r.stdout or not w.untouched()):
        problems.append("left: %s" % w.left()[:5])
    if code and not name.startswith("m-") and url not in r.stderr:
        problems.append("does not name the URL")
    if time.monotonic() - began > 60:
        problems.append("took too long")
    w.done()
    return label, not problems, r, "; ".join(problems)


def resume(tap, base, server, url):
    """What one run leaves, the next one goes on with."""
    for name in ("portal", "announced-short", "wrong-hash", "404"):
        w = World(base)
        r = w.install(cache=False, mirror=url + "/" + name)
        tap.check("N2 %s: the cache in the prefix keeps nothing" % name,
                  r.returncode == 4 and not w.left(), r, w.left())
        w.done()
    w = World(base)
    r = w.install("--retries", "0", mirror=url + "/cut")
    parts = list(w.cache.rglob("*.part"))
    size = parts[0].stat().st_size if parts else 0
    tap.check("N9 a cut download is kept", r.returncode == 4 and 0 < size < len(ARCHIVE) and
              not w.left(), r)
    del server.seen[:]
    r = w.install(mirror=url + "/cut")
    asked = [h for _, p, h in server.seen if p.endswith(".xz")]
    tap.check("N13 the next run asks for the rest alone, by If-Range",
              r.returncode == 0 and w.whole() and len(asked) == 1 and
              asked[0].get("Range") == "bytes=%d-" % size and asked[0].get("If-Range") == '"v1"', r,
              str(asked))
    del server.seen[:]
    r = w.install(mirror=url + "/cut")
    tap.check("a second run asks for nothing", r.returncode == 0 and not server.seen, r)
    w.run("remove", "cudnn/9.1.1")
    r = w.install(mirror=url + "/cut")
    tap.check("installed again out of the cache", r.returncode == 0 and w.whole() and not server.seen, r)
    # What lies in the cache is not trusted.
    w.run("remove", "cudnn/9.1.1")
    whole = next(w.cache.rglob("*.xz"))
    whole.write_bytes(ARCHIVE[:-1] + b"?")
    r = w.install(mirror=url + "/good")
    tap.check("N17 a damaged archive of the cache is downloaded again",
              r.returncode == 0 and w.whole() and whole.read_bytes() == ARCHIVE, r)
    w.run("remove", "cudnn/9.1.1")
    whole.write_bytes(ARCHIVE[:-1] + b"?")
    r = w.install("--offline", mirror=url + "/good")
    tap.check("N17 and refused with --offline", r.returncode == 4 and not w.left(), r)
    # A part that belongs to another file of the same size.
    part = whole.with_name(whole.name + ".part")
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(b"z" * 5000)
    r = w.install(mirror=url + "/good")
    tap.check("N16 a part of something else is thrown away", r.returncode == 0 and w.whole(), r)
    w.done()


def unreachable(tap, base):
    w = World(base)
    w.cudnn(ARCHIVE)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    r = w.install("--retries", "1", mirror="http://127.0.0.1:%d" % port)
    tap.check("N2 refused, twice", r.returncode == 4 and "redistrib_9.1.1.json" in r.stderr and
              "given up after 2 tries" in r.stderr and
              not w.left() and not w.cache.exists(), r)
    r = w.install("--retries", "1", "--timeout", "5", mirror="https://name.invalid")
    tap.check("N1 name does not resolve", r.returncode == 4 and
              "given up after 2 tries" in r.stderr and "name.invalid" in r.stderr, r)
    r = w.install(mirror="http://example.org/compute")
    tap.check("N5 plain http elsewhere is not taken", r.returncode == 2 and "https" in r.stderr, r)
    r = w.install(mirror="ftp://127.0.0.1/")
    tap.check("another protocol is not taken", r.returncode == 2, r)
    r = w.install(mirror="https://user:secret@127.0.0.1/")
    tap.check("a password in the URL is not taken", r.returncode == 2 and "secret" not in r.stderr, r)
    w.done()


def proxies(tap, base, server, url):
    w = World(base)
    r = w.install("--retries", "1", "--proxy", url, mirror="https://127.0.0.1:9/x")
    tap.check("N19 proxy wants a password", r.returncode == 4 and "407" in r.stderr and
              "--proxy" in r.stderr and "trying again" not in r.stderr, r)
    r = w.install("--retries", "1", "--proxy", url, mirror=url + "/good")
    tap.check("N19 proxy for plain http", r.returncode == 4 and "407" in r.stderr, r)
    w.done()


def licence(tap, base, server, url):
    w = World(base)
    del server.seen[:]
    r = w.run("cudnn", "9.1.1", "--cuda", "12", "--platform", "linux-x86_64", mirror=url + "/good")
    tap.check("without the licence nothing is asked for", r.returncode == 2 and
              "--accept-license" in r.stderr and "LICENSE.txt" in r.stderr and not server.seen and
              not w.prefix.exists() and not w.cache.exists() and w.untouched(), r)
    r = w.run("cudnn", "9.1.1", "--cuda", "12", "--platform", "linux-x86_64", "--dry-run", "--json",
              mirror=url + "/good")
    doc = json.loads(r.stdout or "{}")
    tap.check("--dry-run downloads the manifest alone", r.returncode == 0 and
              len(server.seen) == 1 and doc.get("state") == "planned" and
              doc.get("size") == len(ARCHIVE) and doc.get("url", "").startswith(url) and
              not w.prefix.exists() and not w.cache.exists(), r)
    w.done()


def rates(tap, base, server, url):
    w = World(base)
    began = time.monotonic()
    r = w.install("--limit-rate", "200k", mirror=url + "/good")
    took = time.monotonic() - began
    tap.check("--limit-rate slows down (%.1f s)" % took, r.returncode == 0 and
              took > len(ARCHIVE) / 204800 * 0.5, r)
    w.done()


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as base:
        w = World(base)
        w.cudnn(ARCHIVE)
        server, url = serve(w)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for result in pool.map(lambda case: one(base, url, case), CASES):
                tap.check(*result)
        server.tries.clear()
        resume(tap, base, server, url)
        unreachable(tap, base)
        proxies(tap, base, server, url)
        licence(tap, base, server, url)
        rates(tap, base, server, url)
        server.ended.set()
    tap.end()


if __name__ == "__main__":
    main()
