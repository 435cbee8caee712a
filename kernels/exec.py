# SPDX-License-Identifier: Apache-2.0
# What `cuvet prove --exec` runs in an environment's own Python: two lines a step, nothing downloaded.
import atexit, importlib.util, os, shutil, sys, tempfile, time

GPU = int(sys.argv[1])
# What compilers keep goes away with us; nothing is written into the environment or the home.
KEEP = sys.argv[2]
if not KEEP:
    KEEP = tempfile.mkdtemp(prefix="cuvet-")
    atexit.register(shutil.rmtree, KEEP, True)
for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUDA_CACHE_PATH"):
    os.environ[name] = os.path.join(KEEP, name)
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
sys.dont_write_bytecode = True


def say(*words):
    # In one piece: what others print at the same time, and PYTHONUNBUFFERED, must not cut it.
    sys.stdout.flush()
    os.write(1, ("\ncuvet %s\n" % " ".join(map(str, words))).encode("utf-8", "replace"))


def step(name, work):
    start = time.time()
    say("begin", name)
    try:
        text, result = work() or "", "pass"
    except Exception as e:
        text, result = "%s: %s" % (type(e).__name__, e), "fail"
    ms = int((time.time() - start) * 1000)
    say(name, result, ms, " ".join(str(text).split())[:200])
    return result == "pass"


def there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except Exception:
        return False


def close(got, want, bound):
    error = float((got.double().cpu() - want.double().cpu()).abs().max())
    if not error <= bound:
        raise AssertionError("off by %g, %g is allowed" % (error, bound))


def torch_steps():
    def load():
        import torch
        return torch.__version__

    def available():
        import torch
        if not torch.cuda.is_available():
            torch.cuda.init()
            raise AssertionError("torch.cuda.is_available() is False")
        return "%d devices, CUDA %s" % (torch.cuda.device_count(), torch.version.cuda)

    def matmul():
        import torch
        a, b = torch.randn(256, 256), torch.randn(256, 256)
        close(a.to(D) @ b.to(D), a.double() @ b.double(), 0.2)

    def conv():
        import torch
        x, w = torch.randn(2, 8, 32, 32), torch.randn(16, 8, 3, 3)
        f = torch.nn.functional.conv2d
        close(f(x.to(D), w.to(D), padding=1), f(x.double(), w.double(), padding=1), 0.2)
        return "cuDNN %s" % torch.backends.cudnn.version()

    def amp():
        import torch
        m = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to(D)
        o = torch.optim.SGD(m.parameters(), lr=0.01)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = m(torch.randn(32, 64, device=D)).float().square().mean()
        loss.backward()
        o.step()
        if not torch.isfinite(loss) or not all(torch.isfinite(p).all() for p in m.parameters()):
            raise AssertionError("loss or weights are not finite")

    def compiled():
        import torch
        x = torch.randn(1000, device=D)
        close(torch.compile(lambda v: torch.sin(v) * 2 + v)(x), torch.sin(x) * 2 + x, 1e-4)

    def transformer():
        import torch, transformers
        c = transformers.GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2)
        m = transformers.GPT2LMHeadModel(c).eval()
        i = torch.randint(0, 64, (2, 16))
        with torch.no_grad():
            want = m(i).logits
            close(m.to(D)(i.to(D)).logits, want, 0.05)
        return transformers.__version__

    D = "cuda:%d" % GPU
    if step("torch-import", load) and step("torch-available", available):
        step("torch-matmul", matmul)
        step("torch-conv", conv)
        step("torch-autocast", amp)
        if there("triton"):
            step("torch-compile", compiled)
        if there("transformers"):
            step("transformers", transformer)


def jax_step():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax, numpy
    devices = [d for d in jax.devices() if d.platform != "cpu"]
    if not devices:
        raise AssertionError("jax.devices() has no GPU")
    a = numpy.random.rand(128, 128).astype("float32")
    with jax.default_device(devices[GPU if GPU < len(devices) else 0]):
        out = jax.numpy.dot(a, a)
    if hasattr(out, "devices") and any(d.platform == "cpu" for d in out.devices()):
        raise AssertionError("jax computed on %s" % out.devices())
    error = abs(numpy.asarray(out) - a @ a).max()
    if not error < 0.2:
        raise AssertionError("off by %g" % error)
    return "%s, %d devices" % (jax.__version__, len(devices))


def tensorflow_step():
    import tensorflow as tf, numpy
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        raise AssertionError("tf.config.list_physical_devices('GPU') is empty")
    for g in gpus:
        tf.config.experimental.set_memory_growth(g, True)
    a = numpy.random.rand(128, 128).astype("float32")
    with tf.device("/GPU:%d" % GPU):
        out = tf.matmul(a, a)
    # It takes the processor without a word where the GPU does not serve.
    if "GPU" not in str(out.device):
        raise AssertionError("tensorflow computed on %s" % out.device)
    error = abs(out.numpy() - a @ a).max()
    if not error < 0.2:
        raise AssertionError("off by %g" % error)
    return "%s, %d devices" % (tf.__version__, len(gpus))


found = False
if there("torch"):
    found = True
    torch_steps()
if there("jax"):
    found = True
    step("jax", jax_step)
if there("tensorflow"):
    found = True
    step("tensorflow", tensorflow_step)
if not found:
    say("frameworks", "skip", 0, "neither PyTorch nor JAX nor TensorFlow is there")
say("end")
