#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""fetch from nginx with a private authority: TLS, ranges, redirects. Prints TAP."""
import base64
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from world import Tap, World  # noqa: E402
from test_data_net import Certificates  # noqa: E402
import test_net  # noqa: E402

CONF = """
daemon off; worker_processes 1; pid %(d)s/pid; error_log %(d)s/error;
events { worker_connections 64; }
http {
  access_log %(d)s/access; default_type application/octet-stream;
  client_body_temp_path %(d)s/t1; proxy_temp_path %(d)s/t2; fastcgi_temp_path %(d)s/t3;
  uwsgi_temp_path %(d)s/t4; scgi_temp_path %(d)s/t5;
  ssl_protocols TLSv1.2 TLSv1.3;
  %(servers)s
}
"""
SERVER = """
  server {
    listen 127.0.0.1:%(port)d ssl; server_name localhost;
    ssl_certificate %(cert)s.pem; ssl_certificate_key %(cert)s.key;
    %(more)s
    root %(root)s;
    location /moved/ { rewrite ^/moved/(.*)$ https://localhost:%(port)d/$1 redirect; }
    location /plain/ { rewrite ^/plain/(.*)$ http://localhost:%(plain)d/$1 redirect; }
    location /slow/ { alias %(root)s/; limit_rate 200k; }
  }
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Proxy(threading.Thread):
    """Tunnels for whoever knows the password, and counts."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.tunnels = self.refused = 0
        self.start()

    def url(self, who=""):
        return "http://%s127.0.0.1:%d" % (who, self.socket.getsockname()[1])

    def run(self):
        while True:
            client, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            data = client.recv(65536)
            if not data:
                return
            head += data
        if b"Basic " + base64.b64encode(b"ana:s3cret") not in head:
            self.refused += 1
            client.sendall(b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\n"
                           b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            client.close()
            return
        self.tunnels += 1
        host, port = head.split()[1].decode().rsplit(":", 1)
        server = socket.create_connection((host, int(port)))
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            for one in select.select([client, server], [], [])[0]:
                data = one.recv(65536)
                if not data:
                    client.close()
                    server.close()
                    return
                (server if one is client else client).sendall(data)


def proxies(tap, w, fresh, url, ca):
    proxy = Proxy()
    r = w.install(*ca, "--proxy", proxy.url("ana:s3cret@"), mirror=url("good"))
    tap.check("N19 through a proxy with its password", r.returncode == 0 and w.whole() and
              proxy.tunnels > 0, r)
    fresh()
    for who in ("", "ana:wr0ng@"):
        r = w.install(*ca, "--proxy", proxy.url(who), mirror=url("good"))
        tap.check("N19 the proxy says no (%s)" % who, r.returncode == 4 and "407" in r.stderr and
                  "--proxy" in r.stderr and "wr0ng" not in r.stderr and not w.left(), r)
    before = proxy.tunnels
    r = w.install(*ca, mirror=url("good"), env={"HTTPS_PROXY": proxy.url("ana:s3cret@")})
    tap.check("N19 the proxy by curl's variable", r.returncode == 0 and proxy.tunnels > before, r)
    fresh()
    before = proxy.tunnels
    r = w.install(*ca, mirror=url("good"), env={"HTTPS_PROXY": proxy.url(), "NO_PROXY": "localhost"})
    tap.check("N19 and not for NO_PROXY", r.returncode == 0 and proxy.tunnels == before, r)
    fresh()


def start(w, folder, certs):
    ports = {name: free_port() for name in ("good", "other", "expired", "self", "old")}
    plain = free_port()
    servers = ""
    for name, port in ports.items():
        servers += SERVER % {
            "port": port, "plain": plain, "root": w.mirror,
            "cert": certs.folder / ("good" if name == "old" else name),
            "more": "ssl_protocols TLSv1 TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;" if name == "old" else ""}
    servers += "server { listen 127.0.0.1:%d; root %s; }\n" % (plain, w.mirror)
    (folder / "conf").write_text(CONF % {"d": folder, "servers": servers})
    nginx = subprocess.Popen(["nginx", "-c", str(folder / "conf"), "-p", str(folder),
                              "-e", str(folder / "error"), "-g", "user root;" if os.geteuid() == 0
                              else "master_process on;"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", plain), 1).close()
            return nginx, ports
        except OSError:
            time.sleep(0.1)
    return nginx, None


def tests(tap, w, folder, certs, ports):
    def url(name, path=""):
        return "https://localhost:%d%s" % (ports[name], path)

    def fresh():
        for path in (w.prefix, w.cache):
            shutil.rmtree(path, ignore_errors=True)

    ca = ("--ca-bundle", str(certs.ca), "--retries", "0")
    r = w.install(*ca, mirror=url("good"))
    tap.check("TLS with an own authority", r.returncode == 0 and w.whole(), r)
    fresh()
    r = w.install("--retries", "0", mirror=url("good"), env={"CURL_CA_BUNDLE": str(certs.ca)})
    tap.check("the authority by curl's variable", r.returncode == 0 and w.whole(), r)
    fresh()
    r = w.install("--retries", "0", mirror=url("good"))
    tap.check("N3 authority that nobody knows", r.returncode == 4 and "--ca-bundle" in r.stderr and
              not w.left(), r)
    for name, label in (("other", "wrong host"), ("expired", "expired"), ("self", "self-signed"),
                        ("old", "old protocol")):
        r = w.install(*ca, mirror=url(name))
        tap.check("N3 " + label, r.returncode == 4 and url(name) in r.stderr and not w.left(), r)
    fresh()
    proxies(tap, w, fresh, url, ca)
    r = w.install(*ca, mirror=url("good", "/moved"))
    tap.check("N4 redirect to https", r.returncode == 0 and w.whole(), r)
    fresh()
    r = w.install(*ca, mirror=url("good", "/plain"))
    tap.check("N5 redirect from https to http", r.returncode == 4 and "plain http" in r.stderr and
              not w.left(), r)
    fresh()
    p = subprocess.Popen(w.command("cudnn", "9.1.1", "--cuda", "12", "--platform", "linux-x86_64",
                                   "--accept-license", *ca, mirror=url("good", "/slow")),
                         env=w.env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1.2)
    p.send_signal(signal.SIGKILL)
    p.wait()
    part = list(w.cache.rglob("*.part"))
    size = part[0].stat().st_size if part else 0
    r = w.install(*ca, mirror=url("good", "/slow"))
    log = (folder / "access").read_text()
    tap.check("D8 killed at %d bytes, then the rest by a range" % size, r.returncode == 0 and
              w.whole() and 0 < size < len(test_net.ARCHIVE) and '" 206 ' in log, r)


def main():
    tap = Tap()
    if not shutil.which("nginx") or not shutil.which("openssl"):
        tap.skip("nginx with TLS", "needs nginx and openssl")
        tap.end()
    with tempfile.TemporaryDirectory() as base:
        folder = pathlib.Path(base) / "nginx"
        folder.mkdir()
        certs = Certificates(folder)
        w = World(base)
        w.cudnn(test_net.ARCHIVE)
        nginx, ports = start(w, folder, certs)
        try:
            if ports:
                tests(tap, w, folder, certs, ports)
            else:
                tap.check("nginx starts", False, more=(folder / "error").read_text())
        finally:
            nginx.terminate()
            nginx.wait()
    tap.end()


if __name__ == "__main__":
    main()
