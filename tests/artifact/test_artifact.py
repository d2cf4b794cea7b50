"""Artifacts: files of compiled kernels, what is read back of them, and how they run."""

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lcpy as lc
from lcpy._native import core

sys.path.insert(0, str(Path(__file__).parent))
import compiled as K  # noqa: E402

STORED = Path(__file__).parent / "stored"
TARGETS = ("spirv", "opencl", "cuda", "cpu")
TARGET_OF = {"vulkan": "spirv", "opencl": "opencl", "cuda": "cuda", "cpu": "cpu"}


# ---- the container ------------------------------------------------------------------------------
def fnv1a(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


def sealed(data):
    """The bytes with size and hash put right."""
    data = bytearray(data)
    data[16:24] = struct.pack("<Q", len(data))
    data[24:32] = struct.pack("<Q", fnv1a(data[32:]))
    return bytes(data)


def sections(data):
    """[[tag, flags, bytes], …]"""
    count = struct.unpack_from("<I", data, 12)[0]
    found = []
    for i in range(count):
        tag, flags, offset, size = struct.unpack_from("<4sIQQ", data, 32 + 24 * i)
        found.append([tag, flags, data[offset : offset + size]])
    return found


def joined(parts, version=1):
    table, body, at = b"", b"", 32 + 24 * len(parts)
    for tag, flags, data in parts:
        table += struct.pack("<4sIQQ", tag, flags, at + len(body), len(data))
        body += data
    head = b"\x89LCPY\r\n\x1a" + struct.pack("<IIQQ", version, len(parts), 0, 0)
    return sealed(head + table + body)


def replaced(data, tag, change):
    return joined([[t, f, change(d) if t == tag else d] for t, f, d in sections(data)])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", [K.move, K.sums, K.careful])
def test_round_trip(kernel, target, tmp_path):
    made = kernel.compile(target=target)
    made.save(tmp_path / "a.lcpy")
    assert [p.name for p in tmp_path.iterdir()] == ["a.lcpy"]
    found = lc.load_artifact(tmp_path / "a.lcpy")
    for name in ("target", "environment", "name", "data", "text", "plan", "parameters", "usage",
                 "features", "block_size", "math", "hash", "lines"):  # fmt: skip
        assert getattr(found, name) == getattr(made, name), name
    assert found.to_bytes() == made.to_bytes()
    given, stored = made.descriptor, found.descriptor
    assert stored.argument_block()[0] == given.argument_block()[0]
    assert [tuple(e) for e in stored.argument_block()[1]] == list(given.argument_block()[1])
    assert [tuple(s) for s in stored.slots] == [tuple(s) for s in given.slots]
    assert [s[:3] for s in stored.sites] == [s[:3] for s in given.sites]
    assert str(found) == str(made) and kernel.__name__ in str(found)


def test_every_damaged_byte_is_told():
    data = K.any_type.compile(lc.Buffer[lc.int8], lc.int8, target="cpu").to_bytes()
    core.unpack_artifact(data)
    for at in range(len(data)):
        for change in (0x01, 0x80, 0xFF):
            with pytest.raises(lc.LoadError):
                core.unpack_artifact(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])
    for size in range(len(data)):
        with pytest.raises(lc.LoadError):
            core.unpack_artifact(data[:size])
    with pytest.raises(lc.LoadError, match="bytes, and has"):
        core.unpack_artifact(data + b"\0")


def test_damage_under_a_right_hash_never_crashes():
    """What a hash cannot tell: every byte of every section, sealed again."""
    data = K.careful.compile(target="cpu").to_bytes()
    code = next(i for i, (tag, _, _) in enumerate(sections(data)) if tag == b"CODE")
    end = struct.unpack_from("<Q", data, 32 + 24 * code + 8)[0]
    refused = 0
    for at in [*range(8, 16), *range(32, end)]:
        for change in (0x01, 0x80, 0xFF):
            try:
                core.unpack_artifact(
                    sealed(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])
                )
            except (lc.LoadError, UnicodeDecodeError):
                refused += 1
    assert refused > 100


def test_versions_and_sections():
    data = K.sums.compile(target="cpu").to_bytes()
    fields = core.unpack_artifact(data)
    parts = sections(data)
    with pytest.raises(lc.LoadError, match="container version 2; this lcpy reads 1"):
        core.unpack_artifact(joined(parts, version=2))
    assert core.unpack_artifact(joined([*parts, [b"NEWS", 0, b"later"]])) == fields
    with pytest.raises(lc.LoadError, match="section NEWS is of a newer lcpy"):
        core.unpack_artifact(joined([*parts, [b"NEWS", 1, b"later"]]))
    for tag, flags, _ in parts:
        without = joined([p for p in parts if p[0] != tag])
        if flags & 1:
            with pytest.raises(lc.LoadError, match=f"no section {tag.decode()}"):
                core.unpack_artifact(without)
        else:
            assert core.unpack_artifact(without)["lines"] == []
        with pytest.raises(lc.LoadError, match="twice"):
            core.unpack_artifact(joined([*parts, [tag, flags, b""]]))


def test_fields_of_later_and_earlier_versions():
    """Sections that are longer are read as far as they are known, shorter ones as they were."""
    data = K.sums.compile(target="cpu").to_bytes()
    fields = core.unpack_artifact(data)
    for tag in (b"KERN", b"SITE", b"SLOT", b"LINE"):
        assert core.unpack_artifact(replaced(data, tag, lambda d: d + b"\7" * 9)) == fields
    shorter = replaced(data, b"KERN", lambda d: d[:-8])
    assert core.unpack_artifact(shorter) == {**fields, "hash": 0}
    with pytest.raises(lc.LoadError, match="section KERN has no room for a number"):
        core.unpack_artifact(replaced(data, b"KERN", lambda d: d[:-3]))
    with pytest.raises(lc.LoadError, match="longer than the file"):
        core.unpack_artifact(replaced(data, b"PARA", lambda d: b"\xff\xff\xff\xff" + d[4:]))


@pytest.mark.parametrize("name", [b"", b"\x89LCPY\r\n\x1a", b"\x89LCPY\n\x1a" + bytes(40), b"#!"])
def test_what_is_no_artifact(name, tmp_path):
    (tmp_path / "x").write_bytes(name)
    with pytest.raises(lc.LoadError, match="these bytes are none|cut short"):
        lc.load_artifact(tmp_path / "x")


@pytest.mark.parametrize("path", sorted(STORED.glob("*.lcpy")), ids=lambda p: p.name)
def test_stored_files_of_every_version(path):
    """Files that a version wrote are read by all later ones, and run."""
    found = lc.load_artifact(path)
    assert found.name == path.stem.split(".")[1] and found.target == path.stem.split(".")[2]
    assert found.to_bytes() == path.read_bytes()  # of this version's container
    if found.target == "spirv":
        lc.spirv.validate(found.data, found.environment)
        assert found.lines[0][1] == "tests/artifact/compiled.py"
    if found.target == "cpu" and found.name == "sums":
        check_sums(found.load(), lc.Device("cpu"))


def test_there_are_stored_files():
    assert {p.name for p in STORED.glob("1.*.lcpy")} == {
        f"1.{name}.{target}.lcpy" for name in ("move", "sums") for target in TARGETS
    }


# ---- running ------------------------------------------------------------------------------------
def check_sums(kernel, device):
    x = np.arange(96, dtype=np.int32)
    out = lc.Buffer(3, lc.int32, device=device)
    kernel(lc.Buffer(x, device=device), out, dispatch_size=96)
    assert out.numpy().tolist() == x.reshape(3, 32).sum(1).tolist()


def driver_of(device):
    """Whose modules a device takes whatever they need; "none" where its driver is right."""
    from lcpy.run.vulkan import drivers

    return drivers.name_of(device.physical.driver_id) or "none"


def loaded(kernel, device, tmp_path, **options):
    if device.kind == "vulkan" and kernel is not K.sums:
        options["driver"] = driver_of(device)
    path = tmp_path / f"{kernel.__name__}.lcpy"
    kernel.compile(target=TARGET_OF[device.kind], **options).save(path)
    return lc.load_artifact(path).load(device)


@pytest.mark.parametrize("vulkan", ["1.0", "1.1", "1.2", "1.3", "1.4"])
def test_modules_of_every_version_run(vulkan, tmp_path):
    devices = [d for d in lc.devices() if d.kind == "vulkan"]
    if not devices:
        pytest.skip("no Vulkan device")
    device = lc.Device(devices[0].name)
    if device.physical.version < (1 << 22) | (3 << 12) and vulkan in ("1.3", "1.4"):
        with pytest.raises(lc.UnsupportedError, match="is for Vulkan 1.3 and later"):
            loaded(K.sums, device, tmp_path, vulkan=vulkan)
        return
    check_sums(loaded(K.sums, device, tmp_path, vulkan=vulkan, debug=True), device)


def test_a_loaded_kernel_runs(device, tmp_path):
    kernel = loaded(K.sums, device, tmp_path)
    for _ in range(2):
        check_sums(kernel, device)
    assert device.name in repr(kernel)


@pytest.mark.parametrize("n", [1, 100, 256, 1000])
def test_structs_and_arguments(device, tmp_path, n):
    kernel = loaded(K.move, device, tmp_path)
    rows = np.zeros(n, K.Body.dtype)
    rows["mass"], rows["place"] = np.arange(1, n + 1), 2.0
    wants = []
    for call in (K.move, kernel):
        bodies = lc.Buffer(n, K.Body, device=device)
        bodies.upload(rows)
        count = lc.Buffer(n, lc.uint32, device=device)
        call(bodies, lc.float3(1, 2, 3), count=count, seconds=0.7, dispatch_size=n)
        wants.append((bodies.numpy().tobytes(), count.numpy().tolist()))
    assert wants[0] == wants[1] and wants[0][1] == list(range(n, 2 * n))


def test_grids_matrices_halves_and_bytes(device, tmp_path):
    grid = np.random.default_rng(3).random((5, 9)).astype(np.float32)
    wants = []
    for call in (K.mixed, loaded(K.mixed, device, tmp_path)):
        halves, raw = lc.Buffer(45, lc.half3, device=device), lc.ByteBuffer(180, device=device)
        turn = lc.float3x3((0, 0, 1), (0, 1, 0), (1, 0, 0))
        source = lc.Buffer(grid, device=device)
        call(source, [0.25, 0.5, 2.0], turn, halves, raw, dispatch_size=(9, 5))
        wants.append((halves.numpy().tobytes(), raw.numpy().view(np.uint32).tolist()))
    assert wants[0] == wants[1] and wants[0][1] == list(range(5, 50))


def test_reports_of_a_loaded_kernel(device, tmp_path):
    kernel = loaded(K.careful, device, tmp_path)
    x = lc.Buffer(np.arange(300, dtype=np.int32), device=device)
    with pytest.raises(lc.KernelTrap, match="too large") as caught:
        kernel(x, 200, dispatch_size=300)
        lc.synchronize(device)
    assert "compiled.py" in str(caught.value)


def test_wrong_calls(device, tmp_path):
    kernel = loaded(K.move, device, tmp_path)
    bodies, count = lc.Buffer(8, K.Body, device=device), lc.Buffer(8, lc.uint32, device=device)
    wind = lc.float3(0, 0, 0)

    def refused(error, text, *args, size=8, **named):
        with pytest.raises(error, match=text):
            kernel(*args, dispatch_size=size, **named)

    refused(lc.ArgumentError, "argument 'count' is missing", bodies, wind, 1.0)
    refused(lc.ArgumentError, "takes 4 arguments, 5 given", bodies, wind, 1.0, count, 1)
    refused(lc.ArgumentError, "no argument 'cuont'", bodies, wind, 1.0, cuont=count)
    refused(lc.ArgumentError, "'wind' is given twice", bodies, wind, 1.0, count, wind=wind)
    refused(lc.ArgumentError, "argument 'count': wanted", bodies, wind, 1.0, bodies)
    refused(lc.ArgumentError, "argument 'bodies': wanted", np.zeros(3), wind, 1.0, count)
    refused(lc.ArgumentError, "argument 'seconds'", bodies, wind, "soon", count)
    refused(lc.ArgumentError, "dispatch_size: missing", bodies, wind, 1.0, count, size=None)
    if not device.program_is_host:
        view = bodies.view(2, 8)
        refused(lc.UnsupportedError, "a view that begins within", view, wind, 1.0, count)
    other = lc.Device("cpu", warp_size=8)
    refused(lc.ArgumentError, "loaded on", lc.Buffer(8, K.Body, device=other), wind, 1.0, count)


@lc.kernel(block_size=8)
def copies(x: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    if i < len(x):
        out[i] = x[i] * 2.0


@pytest.mark.parametrize("begins", [0, 3])
def test_views(begins, device, tmp_path):
    """Of an artifact that takes them, also the whole buffer; bounds are the view's."""
    kernel = loaded(copies, device, tmp_path, views=True)
    x = np.arange(40, dtype=np.float32)
    source, out = lc.Buffer(x, device=device), lc.Buffer(40, lc.float32, device=device)
    out.fill(-1.0)
    given = source.view(begins, 33) if begins else source
    kernel(given, out.view(begins * 2, 40), dispatch_size=34)
    count = min(34, 33 - begins if begins else 40)
    want = np.full(40, -1.0, np.float32)
    want[begins * 2 : begins * 2 + count] = x[begins : begins + count] * 2
    assert out.numpy().tolist() == want.tolist()


def test_whole_blocks_alone(device, tmp_path):
    kernel = loaded(K.sums, device, tmp_path, ragged=False)
    check_sums(kernel, device)
    x, out = lc.Buffer(64, lc.int32, device=device), lc.Buffer(2, lc.int32, device=device)
    with pytest.raises(lc.ArgumentError, match="not whole blocks"):
        kernel(x, out, dispatch_size=40)


def test_other_devices_are_refused():
    with pytest.raises(lc.UnsupportedError, match="'sums' is for vulkan; cpu is not"):
        K.sums.compile(target="spirv").load("cpu")


def test_modules_for_one_driver():
    """Where a driver lacks what a module for any takes for granted, or the module is another's."""
    made = {name: K.move.compile(driver=name) for name in ("any", "none", "nvidia", "llvmpipe")}
    assert len({made[name].data for name in ("any", "nvidia", "llvmpipe")}) == 3
    for name in ("none", "nvidia", "llvmpipe"):
        assert f"driver {name}" in made[name].features
    assert "fused_fma" in made["any"].features
    assert "fused_fma" not in K.sums.compile().features
    with pytest.raises(
        lc.ArgumentError, match="driver: 'any', 'none', 'nvidia', 'llvmpipe'; not 'amd'"
    ):
        K.move.compile(driver="amd")
    for info in lc.devices():
        if info.kind != "vulkan" or "llvmpipe" not in info.description:
            continue
        for name in ("any", "none", "nvidia"):
            with pytest.raises(lc.UnsupportedError, match="compile it with driver='llvmpipe'"):
                made[name].load(info.name)


def test_captured_buffers_stay_in_their_process():
    table = lc.Buffer(np.arange(4, dtype=np.int32), device="cpu")

    @lc.kernel
    def looks_up(x: lc.Buffer[lc.int32]):
        i = lc.dispatch_id().x
        x[i] = table[i]

    made = looks_up.compile(target="cpu")
    for wrong in (made.to_bytes, made.load):
        with pytest.raises(lc.UnsupportedError, match="captures 1 buffers, which no file holds"):
            wrong()


def test_types_that_nothing_tells():
    with pytest.raises(lc.ArgumentError, match="the type of 'x' is not annotated"):
        K.any_type.compile()
    with pytest.raises(lc.ArgumentError, match="target: 'spirv', 'opencl', 'cuda' or 'cpu'"):
        K.sums.compile(target="metal")


def test_the_source_map():
    found = K.move.compile(target="spirv")
    text = Path(K.__file__).read_text().splitlines()
    lines = {text[line - 1].strip() for _, _, line, _ in found.lines}
    assert "body.place += wind * (seconds / body.mass)" in lines and "bodies[i] = body" in lines
    assert {file for _, file, _, _ in found.lines} == {"tests/artifact/compiled.py"} or all(
        file.endswith("compiled.py") and not file.startswith("/") for _, file, _, _ in found.lines
    )
    places = [place for place, _, _, _ in found.lines]
    assert places == sorted(places) and places[-1] < len(found.data) // 4


def test_a_module_that_is_not_valid_is_placed(tmp_path):
    vulkan = [d for d in lc.devices() if d.kind == "vulkan"]
    if not vulkan or not lc.spirv.available():
        pytest.skip("no Vulkan device or no SPIRV-Tools")
    device = lc.Device(vulkan[0].name)
    made = K.move.compile(target="spirv", driver=driver_of(device))
    words, at = np.frombuffer(made.data, np.uint32).copy(), 5
    while words[at] & 0xFFFF != 129:  # OpFAdd of floats becomes OpIAdd
        at += int(words[at] >> 16)
    words[at] -= 1
    wrong = lc.Artifact({**made._fields, "code": words.tobytes()})
    with pytest.raises(lc.spirv.ValidationError, match=r"from .*compiled\.py:\d+") as caught:
        wrong.load(device)
    text = Path(K.__file__).read_text().splitlines()
    assert "body.place +=" in text[caught.value.line - 1]


def test_every_gallery_kernel_round_trips():
    from importlib import import_module

    for name in ("mandelbrot", "path_tracer", "terrain"):
        for kernel, given in import_module(f"lcpy.gallery.{name}").KERNELS.items():
            for target in TARGETS:
                made = kernel.compile(*given, target=target)
                assert core.unpack_artifact(made.to_bytes())["code"] == made.data


# ---- the command line ---------------------------------------------------------------------------
def run(*arguments, cwd, seed="0"):
    import os

    environment = {**os.environ, "PYTHONHASHSEED": seed}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(lc.__file__).parents[1])])
    return subprocess.run(
        [sys.executable, "-m", "lcpy", *map(str, arguments)],
        cwd=cwd, env=environment, text=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "pack").mkdir()
    (root / "pack" / "__init__.py").write_text("")
    (root / "pack" / "parts.py").write_text(
        "import lcpy as lc\n\n@lc.callable\ndef twice(x):\n    return x * 2\n"
    )
    text = Path(K.__file__).read_text()
    text = text.replace("import lcpy as lc\n", "import lcpy as lc\nfrom .parts import twice\n", 1)
    (root / "pack" / "kernels.py").write_text(text.replace("+= by", "+= twice(by)"))
    return root


def test_compile_on_the_command_line(package):
    targets, forms = "spirv,opencl,cuda,cpu", "artifact,code,text,header"
    done = run("compile", "pack/kernels.py", "--target", targets, "--format", forms,
               "-o", "out", "--depfile", "out/all.d", cwd=package)  # fmt: skip
    assert done.returncode == 0, done.stderr
    written = done.stdout.split()
    assert len(written) == 5 * (4 + 3 + 3 + 3) and all((package / f).is_file() for f in written)
    outputs, sources = (package / "out/all.d").read_text().strip().split(": ")
    assert outputs.split() == written
    assert sources.split() == ["pack/__init__.py", "pack/kernels.py", "pack/parts.py"]
    found = lc.load_artifact(package / "out/any_type.spirv.lcpy")
    assert found.data == (package / "out/any_type.spirv.spv").read_bytes()
    assert found.text == (package / "out/any_type.spirv.spvasm").read_text()
    assert {file for _, file, _, _ in found.lines} == {"pack/kernels.py", "pack/parts.py"}
    shown = run("inspect", "out/any_type.spirv.lcpy", cwd=package)
    assert shown.returncode == 0 and "kernel any_type for vulkan1.2" in shown.stdout


def test_what_would_be_written(package):
    done = run("compile", "pack/kernels.py:move,sums", "-o", "never", "--list", cwd=package)
    assert done.stdout.split() == ["never/move.spirv.lcpy", "never/sums.spirv.lcpy"]
    assert not (package / "never").exists()
    out = package / "absolute"
    done = run("compile", "pack/kernels.py:sums", "-o", out, "--depfile", "d", cwd=package)
    sources = (package / "d").read_text().split(": ")[1].split()
    assert all(Path(file).is_absolute() and Path(file).exists() for file in sources)


def test_the_same_bytes_everywhere(package, tmp_path):
    """Another place, another order of hashes."""
    import shutil

    shutil.copytree(package / "pack", tmp_path / "elsewhere" / "pack")
    for at, seed in ((package, "1"), (tmp_path / "elsewhere", "2")):
        done = run("compile", "pack/kernels.py", "--target", "spirv,cuda,cpu", "-o", "same",
                   cwd=at, seed=seed)  # fmt: skip
        assert done.returncode == 0, done.stderr
    for path in sorted((package / "same").iterdir()):
        assert path.read_bytes() == (tmp_path / "elsewhere" / "same" / path.name).read_bytes()


@pytest.mark.parametrize("target", TARGETS)
def test_headers_are_c_and_cpp(target, tmp_path):
    import shutil

    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    made = K.move.compile(target=target)
    (tmp_path / "move.h").write_text(made.header())
    use = f"""#include "move.h"
#include <stdio.h>
int main(void) {{
  fwrite(move_code, 1, move_code_bytes, stdout);
  return MOVE_BLOCK_X == 256 && MOVE_WIND_VALUE_OFFSET % 16 == 0 && MOVE_BODIES_BINDING == 0
    && MOVE_ARGUMENT_BYTES == {made.plan.block_bytes} ? 0 : 1;
}}
"""
    for ending in ("c", "cpp"):
        (tmp_path / f"use.{ending}").write_text(use)
        flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", f"use.{ending}", "-o", "use"]
        built = subprocess.run([compiler, *flags], cwd=tmp_path, capture_output=True, text=True)
        if ending == "cpp" and "cc1plus" in built.stderr:
            pytest.skip("no C++ compiler")
        assert built.returncode == 0, built.stderr
        done = subprocess.run([tmp_path / "use"], capture_output=True)
        assert done.returncode == 0 and done.stdout == made.data


def test_names_in_headers():
    @lc.kernel
    def größe(x: lc.Buffer[lc.int32], X: lc.int32, ä: lc.int32):
        x[lc.dispatch_id().x] = X + ä

    text = größe.compile(target="cuda").header()
    macros = [line.split()[1] for line in text.split("\n") if line.startswith("#define")]
    assert len(macros) == len(set(macros)) and all(name.isascii() for name in macros)
    assert {"GR__E_X_SET", "GR__E_X_1_VALUE_OFFSET", "GR__E___VALUE_OFFSET"} <= set(macros)


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["nosuch.py"], "nosuch.py: no such file"),
        (["pack/kernels.py:nosuch"], "no kernel 'nosuch' in it"),
        (["pack/parts.py"], "no kernel in it"),
        (["pack/kernels.py", "--target", "metal"], "target: one of spirv, opencl, cuda, cpu; not"),
        (["pack/kernels.py", "--format", "zip"], "format: one of artifact"),
        (["pack/kernels.py", "--vulkan", "2.0"], "vulkan: '1.0' to '1.4', not '2.0'"),
    ],
)
def test_wrong_commands(arguments, says, package):
    done = run("compile", *arguments, "-o", "wrong", cwd=package)
    assert done.returncode == 1 and says in done.stderr and "Traceback" not in done.stderr
