"""The environment of tools/demo and tools/test: system packages, .venv, the installed package.

Nothing is done twice: stamps in .venv hold hashes of what was installed from.
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
BUILD_REQUIREMENTS = ["setuptools>=64", "wheel>=0.40", "cython>=3.0.8,<4"]
SOURCES = ("native", "lcpy", "shaders")
SOURCE_SUFFIXES = {".cpp", ".h", ".def", ".inc", ".py", ".pyx", ".pxi", ".pxd", ".pyi", ".typed"}


def say(text):
    print(f"[lcpy] {text}", flush=True)


def has_library(name):
    try:
        ctypes.CDLL(name)
        return True
    except OSError:
        return False


def has_json(folder, pattern="*.json"):
    places = ["/usr/share", "/etc", "/usr/local/share", str(Path.home() / ".local/share")]
    return any(list(Path(p, "vulkan", folder).glob(pattern)) for p in places)


def has_module(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


def has_python_header():
    return Path(sysconfig.get_path("include"), "Python.h").exists()


def has_compiler():
    return any(shutil.which(name) for name in (os.environ.get("CXX") or "c++", "g++", "clang++"))


# Debian's package, whether what it gives is there, what it is for, whether one can do without.
BASIC_PACKAGES = [
    ("g++", has_compiler, "builds the package", True),
    ("python3-dev", has_python_header, "builds the package", True),
    ("python3-venv", lambda: has_module("ensurepip"), "makes .venv", True),
    ("libvulkan1", lambda: has_library("libvulkan.so.1"), "adds Vulkan devices", False),
    ("mesa-vulkan-drivers", lambda: has_json("icd.d"), "adds a Vulkan device", False),
]
TEST_PACKAGES = [
    ("cmake", lambda: shutil.which("cmake"), "runs the C++ tests", False),
    (
        "libvulkan-dev",
        lambda: Path("/usr/include/vulkan/vulkan.h").exists(),
        "builds a C++ program that starts an artifact",
        False,
    ),
    (
        "vulkan-validationlayers",
        lambda: has_json("explicit_layer.d", "*khronos_validation*"),
        "checks every Vulkan call",
        False,
    ),
]


def administrator():
    """The command that runs another as root, or None when there is no such right."""
    if os.name != "posix" or not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True).returncode == 0:
        return [sudo, "-n"]
    return None


def ensure_system(packages):
    """Installs the Debian packages that are missing, or says what each would add."""
    missing = [row for row in packages if not row[1]()]
    if not missing:
        return
    prefix = administrator()
    if prefix is not None:
        names = [row[0] for row in missing]
        say(f"installing {' '.join(names)}")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        quiet = {"stdout": subprocess.DEVNULL, "env": environment}
        subprocess.run([*prefix, "apt-get", "update", "-qq"], **quiet)
        subprocess.run(
            [*prefix, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *names], **quiet
        )
        missing = [row for row in packages if not row[1]()]
    for name, _, purpose, _ in missing:
        say(f"not here: {name} ({purpose}); Debian and Ubuntu: sudo apt install {name}")
    needed = [name for name, _, _, must in missing if must]
    if needed:
        raise SystemExit(f"[lcpy] cannot go on without {', '.join(needed)}")


def digest(*texts):
    h = hashlib.sha256(sys.version.encode())
    for text in texts:
        h.update(text if isinstance(text, bytes) else text.encode())
        h.update(b"\0")
    return h.hexdigest()


def source_digest():
    paths = [ROOT / "setup.py", ROOT / "pyproject.toml"]
    for top in SOURCES:
        paths += [p for p in (ROOT / top).rglob("*") if p.suffix in SOURCE_SUFFIXES]
    parts = []
    for path in sorted(paths):
        parts += [path.relative_to(ROOT).as_posix(), path.read_bytes()]
    return digest(*parts)


def stamped(name, value, action):
    """Runs the action unless the stamp already holds the value."""
    stamp = VENV / f"lcpy-{name}.stamp"
    if stamp.exists() and stamp.read_text() == value:
        return
    action()
    stamp.write_text(value)


def pip(*arguments, check=True):
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    return subprocess.run(command, check=check, cwd=ROOT).returncode == 0


def install_requirements(extras, optional):
    """The wheels that `extras` need; those of an optional extra may be missing on a platform."""
    say("installing wheels into .venv")
    pip("install", *BUILD_REQUIREMENTS)
    wanted = requirements(extras)
    pip("install", *wanted)
    for extra in optional:
        if not pip("install", *requirements([extra]), check=False):
            say(f"the wheels of lcpy[{extra}] do not install here; going on without that device")


def requirements(extras):
    """The requirement strings of pyproject.toml, read by the environment's own setuptools."""
    code = (
        "import json,sys\n"
        "try:\n import tomllib\n"
        "except ImportError:\n from setuptools._vendor import tomli as tomllib\n"
        "p = tomllib.load(open('pyproject.toml', 'rb'))['project']\n"
        "o = p['optional-dependencies']\n"
        "print(json.dumps(p['dependencies'] + sum((o[e] for e in sys.argv[1:]), [])))"
    )
    done = subprocess.run(
        [str(PYTHON), "-c", code, *extras], check=True, cwd=ROOT, capture_output=True, text=True
    )
    import json

    return json.loads(done.stdout)


OPENCL_PROBE = """
import pyopencl as cl
for platform in cl.get_platforms():
    for device in platform.get_devices():
        try:
            source = "__kernel void f(__global float* a) { a[0] = 1.0f; }"
            cl.Program(cl.Context([device]), source).build(cache_dir=False)
            print("works", device.name)
        except cl.Error:
            pass
"""


def opencl_works():
    done = subprocess.run([str(PYTHON), "-c", OPENCL_PROBE], capture_output=True, text=True)
    return "works" in done.stdout


def ensure_opencl():
    """The wheel's PoCL knows the processors of its day; Debian's is another chance."""
    purpose = "adds an OpenCL device; the one from the wheels builds nothing here"
    ensure_system([("pocl-opencl-icd", opencl_works, purpose, False)])


def install_package():
    say("building and installing the package")
    pip("install", "--no-build-isolation", "--no-deps", "--force-reinstall", ".")


def ensure(extras, optional=("opencl", "vulkan", "validate"), packages=()):
    """Makes everything that is missing; afterwards PYTHON runs the installed package."""
    if has_library("libcuda.so.1") and shutil.which("nvcc"):
        optional = (*optional, "cuda")
    ensure_system([*BASIC_PACKAGES, *packages])
    if not PYTHON.exists():
        say("making .venv")
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    project = (ROOT / "pyproject.toml").read_bytes()
    key = digest(project, *extras, *optional)
    stamped("-".join(["wheels", *extras]), key, lambda: install_requirements(extras, optional))
    stamped("opencl", key, ensure_opencl)
    stamped("package", source_digest(), install_package)


def enter(script, arguments, extras, packages=()):
    """Runs `script` again inside .venv; returns at once when it already is there."""
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    ensure(extras, packages=packages)
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    environment["PATH"] = f"{PYTHON.parent}{os.pathsep}{environment.get('PATH', '')}"
    sys.stdout.flush()
    done = subprocess.run([str(PYTHON), str(script), *arguments], env=environment)
    raise SystemExit(done.returncode)


def use_checkout():
    """For `--here`: the package of the checkout, built in place, with its shaders."""
    sys.path.insert(0, str(ROOT))
    import lcpy

    lcpy.__path__.append(str(ROOT / "shaders"))
