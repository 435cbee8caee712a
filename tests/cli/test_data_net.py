#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""data update from real servers with certificates of an own authority, by the classes N of faults.

Every refusal must leave no set installed and say one line. Prints TAP.
"""
import http.server
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import warnings

ROOT = pathlib.Path(os.environ.get("CUVET_ROOT", pathlib.Path(__file__).resolve().parents[2]))
CUVET = os.environ.get("CUVET", str(ROOT / "build/cuvet"))
PORTAL = b"<!doctype html><title>Wi-Fi</title><p>Please log in."


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Certificates:
    """An authority, and what it signs: right, for another host, expired; and one signed by itself."""

    def __init__(self, folder):
        self.folder = folder
        self.ca = folder / "ca.pem"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=Test authority",
                "-days", "30", "-keyout", str(folder / "ca.key"), "-out", str(self.ca))
        (folder / "index").write_text("")
        (folder / "serial").write_text("01\n")
        self.sign("good", "DNS:localhost,IP:127.0.0.1")
        self.sign("other", "DNS:example.org")
        self.sign("expired", "DNS:localhost,IP:127.0.0.1", "20200101000000Z", "20200201000000Z")
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost", "-days", "30",
                "-keyout", str(folder / "self.key"), "-out", str(folder / "self.pem"))

    def sign(self, name, names, start=None, end=None):
        folder = self.folder
        (folder / "ca.conf").write_text(
            "[ca]\ndefault_ca=c\n[c]\ndatabase=%s/index\nserial=%s/serial\nnew_certs_dir=%s\n"
            "default_md=sha256\npolicy=p\ncopy_extensions=copy\nunique_subject=no\n"
            "[p]\ncommonName=supplied\n" % (folder, folder, folder))
        openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name,
                "-addext", "subjectAltName=" + names,
                "-keyout", str(folder / (name + ".key")), "-out", str(folder / (name + ".csr")))
        dates = ["-startdate", start, "-enddate", end] if start else ["-days", "30"]
        openssl("ca", "-batch", "-notext", "-config", str(folder / "ca.conf"),
                "-cert", str(self.ca), "-keyfile", str(folder / "ca.key"), *dates,
                "-in", str(folder / (name + ".csr")), "-out", str(folder / (name + ".pem")))


class Handler(http.server.BaseHTTPRequestHandler):
    """/CASE/a.json and /CASE/a.json.sig; the case decides what is wrong."""
    protocol_version = "HTTP/1.1"
    asked = []

    def log_message(self, *args):
        pass

    def answer(self, body, status=200, headers=(), length=None):
        self.send_response(status)
        for key, value in headers:
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        # As do_GET ends it: unannounced, the next request could meet a connection that just went.
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def redirect(self, target):
        self.answer(b"", 302, [("Location", target)])

    def do_CONNECT(self):
        self.answer(b"", 407, [("Proxy-Authenticate", "Basic realm=\"x\"")])

    def do_GET(self):
        self.asked.append(self.path)
        self.close_connection = True
        _, case, name = self.path.split("?")[0].split("/", 2)
        is_sig = name.endswith(".sig")
        signature, archive = self.server.signature, self.server.archive
        try:
            method = getattr(self, "case_" + case.replace("-", "_"), None)
            if method and not (is_sig and case not in self.on_signature):
                method(signature if is_sig else archive)
            else:
                self.answer(signature if is_sig else archive)
        except (BrokenPipeError, ConnectionError, ssl.SSLError):
            pass

    on_signature = ("404", "portal", "503", "badsig", "redirect-loop", "no-content")

    def case_404(self, _):
        self.answer(b"not here", 404)

    def case_503(self, _):
        self.answer(b"", 503, [("Retry-After", "3600")])

    def case_no_content(self, body):
        self.answer(body, 203)

    def case_portal(self, _):
        self.answer(PORTAL)

    def case_portal_late(self, _):
        self.answer(PORTAL)

    def case_badsig(self, body):
        self.answer(body if len(body) > 1000 else b"A" * 86 + b"==\n")

    def case_changed(self, body):
        self.answer(body.replace(b"2684", b"2685", 1))

    def case_cut(self, body):
        self.answer(body[:-1])

    def case_truncated(self, body):
        self.answer(body[:len(body) // 2], length=len(body))

    def case_gzip(self, body):
        import gzip
        self.answer(gzip.compress(body), headers=[("Content-Encoding", "gzip")])

    def case_redirect_http(self, _):
        self.redirect("http://127.0.0.1:%d/good/a.json" % self.server.plain_port)

    def case_redirect_file(self, _):
        self.redirect("file://" + self.server.archive_path)

    def case_redirect_loop(self, _):
        self.redirect(self.path)

    def case_redirect_good(self, _):
        self.redirect("/good/a.json")

    def case_endless(self, _):
        self.send_response(200)
        self.end_headers()
        block = b"x" * (1 << 20)
        while True:
            self.wfile.write(block)

    def case_stall(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:1000])
        self.server.ended.wait(60)

    def case_slow(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for i in range(600):
            self.wfile.write(body[i * 10:i * 10 + 10])
            if self.server.ended.wait(0.1):
                return


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # Refused handshakes are what is tested, no news for the log.
    def handle_error(self, request, client_address):
        pass


def serve(files, cert=None, old=False):
    server = Server(("127.0.0.1", 0), Handler)
    server.archive, server.signature, server.archive_path = files
    server.plain_port = 0
    server.ended = threading.Event()
    if cert:
        warnings.simplefilter("ignore", DeprecationWarning)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if old:
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.load_cert_chain(str(cert) + ".pem", str(cert) + ".key")
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, server.server_address[1]


class Tests:
    def __init__(self, work):
        self.work, self.count, self.failed = work, 0, 0
        self.lock = threading.Lock()
        self.certs = Certificates(work)
        openssl("genpkey", "-algorithm", "ed25519", "-out", str(work / "key"))
        openssl("pkey", "-in", str(work / "key"), "-pubout", "-out", str(work / "key.pub"))
        files = self.archive("2030-01-02")
        self.https, self.port = serve(files, work / "good")
        self.http, self.plain = serve(files)
        self.https.plain_port = self.plain
        self.files = files

    def archive(self, date):
        folder = self.work / ("data-" + date)
        shutil.copytree(ROOT / "data/compat", folder, ignore=shutil.ignore_patterns("schema", "*.md"))
        path = folder / "gpu.json"
        text = path.read_text()
        old = json.loads(text)["date"]
        path.write_text(text.replace('"date":"%s"' % old, '"date":"%s"' % date, 1))
        out = self.work / ("a-%s.json" % date)
        subprocess.run(["sh", str(ROOT / "scripts/make-data-archive.sh"), "--data", str(folder),
                        "--unchecked", str(self.work / "key"), str(out)], check=True,
                       stdout=subprocess.DEVNULL)
        return out.read_bytes(), pathlib.Path(str(out) + ".sig").read_bytes(), str(out)

    def cuvet(self, home, *args, **extra):
        env = dict(os.environ, XDG_DATA_HOME=str(home), CURL_CA_BUNDLE=str(self.certs.ca))
        for name in list(env):
            if name.lower().endswith("_proxy"):
                del env[name]
        env.update(extra)
        return subprocess.run([CUVET, *args], env=env, capture_output=True, text=True, timeout=120)

    def report(self, name, bad):
        with self.lock:
            self.count += 1
            self.failed += bool(bad)
            print("%sok %d - %s" % ("not " if bad else "", self.count, name))
            for line in (bad or "").splitlines():
                print("# " + line)
            sys.stdout.flush()

    def url(self, case, scheme="https", port=None, host="localhost"):
        port = port or (self.port if scheme == "https" else self.plain)
        return "%s://%s:%d/%s/a.json" % (scheme, host, port, case)

    def taken(self, name, url, *args, **env):
        home = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        run = self.cuvet(home, "data", "update", "--from", url, "--trust-key",
                         str(self.work / "key.pub"), *args, **env)
        bad = "" if run.returncode == 0 else "exit %d: %s" % (run.returncode, run.stderr)
        if not bad:
            state = json.loads(self.cuvet(home, "data", "status", "--json").stdout)
            if state["active"]["date"] != "2030-01-02" or state["active"]["origin"] != "user":
                bad = "not in use: " + json.dumps(state["active"])[:300]
        self.report(name, bad)

    def refused(self, name, url, says, code=4, key=True, **env):
        home = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        args = ["--trust-key", str(self.work / "key.pub")] if key else []
        start = time.monotonic()
        run = self.cuvet(home, "data", "update", "--from", url, *args, **env)
        bad = ""
        if run.returncode != code or says not in run.stderr or run.stderr.count("\n") != 1:
            bad = "exit %d, %r wanted: %s" % (run.returncode, says, run.stderr)
        elif run.stdout:
            bad = "on stdout: " + run.stdout
        elif list(home.glob("cuvet/data/20*")) or list(home.glob("cuvet/data/current")):
            bad = "something was installed"
        elif time.monotonic() - start > 60:
            bad = "took too long"
        self.report(name, bad)

    def run(self):
        slow = [threading.Thread(target=self.refused, args=args) for args in [
            ("N10: a body that stalls", self.url("stall"), "Less than 1024 bytes"),
            ("N11: a body slower than the floor", self.url("slow"), "Less than 1024 bytes")]]
        for thread in slow:
            thread.start()
        self.taken("a good archive over https", self.url("good"))
        self.taken("http to this machine itself", self.url("good", "http", host="127.0.0.1"))
        self.taken("N4: a redirect to https", self.url("redirect-good"))
        self.taken("a proxy is not asked for what is on this machine by http",
                   self.url("good", "http"), http_proxy="http://127.0.0.1:9/",
                   ALL_PROXY="http://127.0.0.1:9/")
        self.names()
        self.certificates()
        self.bodies()
        for thread in slow:
            thread.join()
        self.hygiene()
        print("1..%d" % self.count)
        return 1 if self.failed else 0

    def names(self):
        closed = socket.socket()
        closed.bind(("127.0.0.1", 0))
        self.refused("N1: a name that does not resolve", "https://cuvet.invalid/a.json", "esolv")
        self.refused("N2: refused", self.url("good", port=closed.getsockname()[1]), "--from FILE")
        for url in ["http://example.org/a.json", "http://127.0.0.1.example.org/a.json",
                    "http://localhost.example.org/", "http://127.1/", "ftp://localhost/a",
                    "file:///etc/passwd", "http://[::2]/", "HTTP://example.org/"]:
            self.refused("only https: " + url, url, "only https", code=2)
        self.refused("a password in the URL", "https://u:secret@localhost/a", "password", code=2)
        self.refused("no host", "https:///a", "no host", code=2)
        self.refused("blanks in a URL", "https://localhost/a b", "not a URL", code=2)
        self.refused("N19: a proxy that wants a password", self.url("good", host="example.org"),
                     "407", HTTPS_PROXY="http://127.0.0.1:%d" % self.plain)

    def certificates(self):
        for name, says in [("expired", "certificate"), ("other", "localhost"),
                           ("self", "certificate")]:
            server, port = serve(self.files, self.work / name)
            self.refused("N3: certificate: " + name, self.url("good", port=port), says)
            server.shutdown()
        try:
            server, port = serve(self.files, self.work / "good", old=True)
        except (ssl.SSLError, ValueError):
            self.report("N3: an old protocol # SKIP this Python has no TLS 1.1", "")
        else:
            self.refused("N3: an old protocol", self.url("good", port=port), "")
            server.shutdown()
        self.refused("N3: an authority that is not known", self.url("good"), "certificate",
                     CURL_CA_BUNDLE="/etc/ssl/certs/ca-certificates.crt")

    def bodies(self):
        self.refused("N2: a login page with status 200", self.url("portal"), "web page")
        self.refused("N2: a login page for the archive alone", self.url("portal-late"),
                     "signature does not fit")
        self.refused("N5: a redirect from https to http", self.url("redirect-http"), "https alone")
        self.refused("N5: a redirect to a file", self.url("redirect-file"), "https alone")
        self.refused("N6: a redirect loop", self.url("redirect-loop"), "redirects")
        self.refused("N7: 404", self.url("404"), "answered 404")
        self.refused("N8: 503", self.url("503"), "503 (try again later)")
        self.refused("a status that is not 200", self.url("no-content"), "answered 203")
        self.refused("N9: shorter than its length", self.url("truncated"), "a.json")
        self.refused("N9: cut by a byte", self.url("cut"), "signature does not fit")
        self.refused("N12: an endless body", self.url("endless"), "larger than the limit")
        self.refused("N17: changed bytes", self.url("changed"), "signature does not fit")
        self.refused("N17: another signature", self.url("badsig"), "signature does not fit")
        self.refused("N17: signed by another key", self.url("good"), "signature does not fit",
                     key=False)
        self.refused("N19: compressed on the way", self.url("gzip"), "signature does not fit")
        server, port = serve(self.older(), self.work / "good")
        self.refused("N18: older than the program's own", self.url("good", port=port), "older than")
        server.shutdown()

    def older(self):
        folder = self.work / "older"
        folder.mkdir()
        for path in (ROOT / "data/compat").glob("*.json"):
            text = path.read_text()
            date = json.loads(text)["date"]
            (folder / path.name).write_text(text.replace('"date":"%s"' % date,
                                                         '"date":"2020-01-02"', 1))
        out = self.work / "older.json"
        subprocess.run(["sh", str(ROOT / "scripts/make-data-archive.sh"), "--data", str(folder),
                        "--unchecked", str(self.work / "key"), str(out)], check=True,
                       stdout=subprocess.DEVNULL)
        return out.read_bytes(), pathlib.Path(str(out) + ".sig").read_bytes(), str(out)

    def hygiene(self):
        """What is asked for, and what is kept of it."""
        home = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        Handler.asked.clear()
        run = self.cuvet(home, "data", "update", "--from", self.url("good") + "?token=secret",
                         "--trust-key", str(self.work / "key.pub"))
        want = ["/good/a.json.sig?token=secret", "/good/a.json?token=secret"]
        self.report("two requests and no other", "" if Handler.asked == want else
                    "%r %s" % (Handler.asked, run.stderr))
        kept = "".join(p.read_text(errors="replace") for p in home.rglob("manifest.json"))
        self.report("what follows a ? is not kept",
                    "kept" if "secret" in kept or "a.json" not in kept else "")
        Handler.asked.clear()
        for command in (["data", "status"], ["show", "--check"], ["show", "driver"]):
            self.cuvet(home, *command)
        self.report("no other command asks", "".join(Handler.asked))


def main():
    if not shutil.which("openssl"):
        print("1..0 # skip openssl is not installed")
        return 0
    work = pathlib.Path(tempfile.mkdtemp())
    try:
        return Tests(work).run()
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
