#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""fetch --dry-run: which archive is chosen for whom, and the form of what is said. Prints TAP."""
import json
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from world import FILES, ROOT, TOP, Tap, World, good_members, leaf, tar  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None


def valid(name, text):
    if not jsonschema:
        return True
    schema = json.loads((ROOT / "docs/schema" / (name + ".schema.json")).read_text())
    schema["additionalProperties"] = False
    schema["properties"]["items"]["items"]["additionalProperties"] = False
    return not list(jsonschema.Draft202012Validator(schema).iter_errors(json.loads(text)))


def builds(w):
    """Manifests of several releases, each with builds as the real ones had them."""
    for label, version, cudas in (
            ("8.9.7.29", "8.9.7.29", ("11", "12")), ("9.1.1", "9.1.1.17", ("11", "12")),
            ("9.10.2", "9.10.2.21", ("11", "12")), ("9.12.0", "9.12.0.46", ("12", "13")),
            ("9.27.0", "9.27.0.42", ("12", "13"))):
        for cuda in cudas:
            w.cudnn(b"x" * int(cuda), label=label, version=version, cuda=cuda)
    path = w.mirror / "cudnn/redist/redistrib_9.27.0.json"
    doc = json.loads(path.read_text())
    both = {"cuda13": leaf("cudnn/windows-arm64/cudnn-windows-arm64-9.27.0.42_cuda13-archive.zip", b"a")}
    both.update(leaf("cudnn/windows-arm64/cudnn-windows-arm64-9.27.0.42_cuda13.4-archive.zip", b"b"))
    doc["cudnn"]["windows-arm64"] = both
    path.write_text(json.dumps(doc))
    cuda = {"release_date": "2024-04-03"}
    for name in ("cuda_nvcc", "cuda_cudart", "libcublas"):
        cuda[name] = {"name": name, "license": "CUDA Toolkit", "version": "12.4.131",
                      "linux-x86_64": leaf("%s/linux-x86_64/%s.tar.xz" % (name, name), name.encode())}
    w.put("cuda/redist/redistrib_12.4.1.json", json.dumps(cuda).encode())
    part = {"libcutensor": {"name": "cuTENSOR", "license": "x", "version": "2.0.1.2",
                            "linux-x86_64": leaf("libcutensor/linux-x86_64/l.tar.xz", b"t")}}
    w.put("cutensor/redist/redistrib_2.0.1.json", json.dumps(part).encode())


# what is assumed, arguments, version and CUDA that are chosen (None: exit 1)
CHOICES = [
    (["gpu=GTX 1080 Ti"], [], "9.10.2.21", "12"),
    (["gpu=GTX 1080 Ti", "driver=470.256.02"], [], "9.10.2.21", "11"),
    (["gpu=GTX 1080 Ti"], ["9.12.0"], None, None),
    (["gpu=Tesla V100-SXM2-16GB"], [], "9.10.2.21", "12"),
    (["gpu=GTX 1080 Ti", "gpu=H100"], [], "9.10.2.21", "12"),
    (["gpu=RTX 5090", "driver=580.65.06"], [], "9.27.0.42", "13"),
    (["gpu=RTX 5090"], ["9.1"], None, None),
    (["gpu=RTX 4090", "driver=535.183.01"], [], "9.27.0.42", "12"),
    (["gpu=RTX 4090", "driver=470.256.02"], ["--cuda", "12"], None, None),
    (["gpu=RTX 5090", "driver=570.86"], [], "9.27.0.42", "12"),
    (["gpu=RTX 5090", "driver=535.183.01"], [], None, None),
    (["gpu=RTX 5090"], ["9.10.2", "--cuda", "11"], None, None),
    (["gpu=GTX 1080 Ti"], ["9.99.0"], None, None),
    (["gpu=GTX 1080 Ti"], ["9.99.0.1", "--cuda", "12"], None, None),
    (["gpu=GeForce GT 710"], [], None, None),
    (["gpu=RTX 4090", "gpu=GTX 1080 Ti"], [], "9.10.2.21", "12"),
    (["gpu=RTX 4090", "gpu=GTX 1080 Ti"], ["9.27.0"], None, None),
    (["gpu=T4", "driver=470.57.02"], [], "9.10.2.21", "11"),
    (["gpu=T4", "torch=2.6.0+cu124"], [], "9.27.0.42", "12"),
    (["gpu=H100", "cuda=11.8"], [], "9.10.2.21", "11"),
    ([], ["8.9.7", "--cuda", "12.2"], "8.9.7.29", "12"),
    ([], ["9.1.1.17", "--cuda", "11"], "9.1.1.17", "11"),
    ([], ["9.27.0", "--cuda", "13.4", "--platform", "windows-arm64"], "9.27.0.42", "13.4"),
    ([], ["9.27.0", "--cuda", "13", "--platform", "windows-arm64"], "9.27.0.42", "13"),
]


def choices(tap, w):
    for assumed, args, version, cuda in CHOICES:
        more = ["--assume=" + a for a in assumed]
        if "--platform" not in args:
            more += ["--platform", "linux-x86_64"]
        r = w.run("cudnn", *args, *more, "--dry-run", "--json")
        name = "%s %s: %s" % (" ".join(assumed), " ".join(args), version)
        if version is None:
            tap.check(name, r.returncode == 1 and not r.stdout and "fits" in r.stderr, r)
            continue
        doc = json.loads(r.stdout or "{}")
        dir_name = "cudnn/%s-cuda%s" % (version, cuda)
        tap.check(name, r.returncode == 0 and doc.get("version") == version and
                  doc.get("cuda") == cuda and doc.get("state") == "planned" and
                  doc.get("path") == str(w.prefix / dir_name) and doc.get("why") and
                  valid("fetch", r.stdout), r)


def platforms(tap, w):
    """The newest of the platform, and never something else of the same manifest instead."""
    path = w.mirror / "cudnn/redist/redistrib_9.27.0.json"
    doc = json.loads(path.read_text())
    doc["cudnn_samples"] = {"name": "s", "license": "cudnn", "version": "9.27.0.42",
                            "source": leaf("cudnn_samples/source/s.tar.xz", b"s")}
    path.write_text(json.dumps(doc))
    for label, version, cuda in (("9.1.1", "9.1.1.17", "12"), ("9.12.0", "9.12.0.46", "13")):
        w.cudnn(b"j", label=label, version=version, cuda=cuda, platform="linux-aarch64")
    for gpu, version in ("Jetson AGX Orin", "9.12.0.46"), ("cc:7.2", "9.1.1.17"):
        r = w.run("cudnn", "--assume=gpu=" + gpu, "--dry-run", "--json")
        doc = json.loads(r.stdout or "{}")
        tap.check("%s: the newest that its platform has" % gpu, r.returncode == 0 and
                  (doc.get("name"), doc.get("version"), doc.get("platform")) ==
                  ("cudnn", version, "linux-aarch64") and "linux-aarch64" in doc["why"], r)
    r = w.run("cudnn", "9.27.0", "--platform", "linux-aarch64", "--dry-run", "--json")
    tap.check("a release without a build for the platform: not its samples", r.returncode == 1 and
              not r.stdout and "no cudnn for linux-aarch64" in r.stderr, r)
    r = w.run("cudnn", "--platform", "linux-ppc64le", "--dry-run", "--json")
    tap.check("no release for the platform", r.returncode == 1 and not r.stdout and
              "9.27.0.json: no cudnn for linux-ppc64le" in r.stderr, r)
    path.unlink()
    r = w.run("cudnn", "--platform", "linux-x86_64", "--dry-run", "--json")
    tap.check("a folder without the newest: what it has", r.returncode == 0 and
              json.loads(r.stdout)["version"] == "9.12.0.46" and
              "from 9.13.0 on there is no archive" in json.loads(r.stdout)["why"], r)
    r = w.run("cudnn", "9.27.0", "--platform", "linux-x86_64", "--dry-run")
    tap.check("a version that was asked for is not replaced", r.returncode == 4 and
              "9.27.0.json: No such file" in r.stderr, r)
    r = w.run("cudnn", "--assume=gpu=RTX 4090", "--assume=gpu=GTX 1080 Ti", "--dry-run", "--json",
              "--platform", "linux-x86_64")
    tap.check("why: every GPU is named", r.returncode == 0 and
              "4090 (8.9), NVIDIA GeForce GTX 1080 Ti (6.1)" in json.loads(r.stdout)["why"], r)
    kit = w.base / "cuda-12.4"
    kit.mkdir()
    (kit / "version.json").write_text('{"cuda": {"name": "CUDA SDK", "version": "12.4.1"}}')
    r = w.run("cudnn", "--assume=torch=2.9.0+cu130", "--into", str(kit), "--dry-run", "--json",
              "--platform", "linux-x86_64")
    tap.check("--into: built for that toolkit, whatever PyTorch is for", r.returncode == 0 and
              json.loads(r.stdout)["cuda"] == "12" and
              "cuda-12.4 is CUDA 12.4.1" in json.loads(r.stdout)["why"], r)
    r = w.run("cudnn", "--assume=torch=2.9.0+cu130", "--assume=gpu=V100", "--dry-run")
    tap.check("nothing fits: what CUDA was taken from, and how to take another",
              r.returncode == 1 and "cu130 is built with CUDA 13.0" in r.stderr and
              "--cuda" in r.stderr, r)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as base:
        w = World(base)
        builds(w)
        choices(tap, w)
        r = w.run("cuda", "12.4.1", "--components", "cuda_nvcc,cuda_cudart", "--platform",
                  "linux-x86_64", "--dry-run", "--json")
        items = json.loads(r.stdout or "{}").get("items", [])
        tap.check("components: url, sha256 and size of each", r.returncode == 0 and
                  [i["name"] for i in items] == ["cuda_nvcc", "cuda_cudart"] and
                  all(len(i["sha256"]) == 64 and i["size"] > 0 and i["url"].endswith(".tar.xz")
                      for i in items) and valid("fetch", r.stdout), r)
        r = w.run("cuda", "12.4.1", "--platform", "linux-x86_64", "--dry-run")
        tap.check("without components they are named", r.returncode == 2 and
                  "cuda_nvcc,cuda_cudart,libcublas" in r.stderr, r)
        r = w.run("cuda", "12.4.1", "--components", "nvcc", "--platform", "linux-x86_64", "--dry-run")
        tap.check("a component that is none", r.returncode == 2 and "cuda_nvcc" in r.stderr, r)
        r = w.run("cutensor", "2.0.1", "--platform", "linux-x86_64", "--dry-run", "--json")
        tap.check("another product", r.returncode == 0 and
                  json.loads(r.stdout)["name"] == "libcutensor", r)
        platforms(tap, w)
        r = w.run("cudnn", "9.1.1", "--strict", "--platform", "linux-x86_64", "--dry-run")
        tap.check("N18 --strict takes the known manifest alone", r.returncode == 4 and
                  "sha256 is known" in r.stderr, r)
        r = w.run("cudnn", "9.1.1", "--platform", "linux-x86_64", "--dry-run")
        tap.check("N18 a re-published manifest is said to be one", r.returncode == 0 and
                  "re-published" in r.stderr, r)
        w.done()
        w = World(base)
        w.cudnn(tar(good_members()))
        r = w.install("--json")
        tap.check("installed, as JSON", r.returncode == 0 and valid("fetch", r.stdout) and
                  json.loads(r.stdout)["state"] == "installed" and
                  json.loads(r.stdout)["files"] == len(FILES) + 2 and
                  json.loads(r.stdout)["license_file"] == str(w.target / "LICENSE"), r)
        for again in (True, False):
            if not again:
                shutil.rmtree(w.prefix)
            r = w.install()
            tap.check("the licence's path is shown, and the line for the shell (%s)" % again,
                      r.returncode == 0 and "\n  licence: %s/LICENSE\n" % w.target in r.stdout and
                      '\n  eval "$(cuvet env --cudnn %s)"\n' % w.target in r.stdout, r)
        (w.target / "include/cudnn.h").unlink()
        (w.target / "more\n").write_text("x")
        r = w.run("verify", "--json")
        item = json.loads(r.stdout)["items"][0]
        tap.check("verify, as JSON", r.returncode == 4 and valid("installed", r.stdout) and
                  item["missing"] == ["include/cudnn.h"] and item["extra"] == ["more\n"], r)
        r = w.run("verify")
        tap.check("verify says what puts it right", r.returncode == 4 and
                  "`cuvet fetch remove cudnn/9.1.1.17-cuda12`" in r.stdout, r)
        for args in (("use", "cudnn/1.2.3"), ("remove", "cudnn"), ("remove", "../x"), ("cudnn", "x"),
                     ("cudn",), ("cudnn", "9.1.1", "--retries", "x"), ("cudnn", "--max-size", "x"),
                     ("cudnn", "--cuda", "x"), ("cuda",), ("../x", "1.2.3")):
            r = w.run(*args)
            tap.check("usage: " + " ".join(args), r.returncode == 2 and
                      len(r.stderr.splitlines()) == 1, r)
        w.done()
    tap.end()


if __name__ == "__main__":
    main()
