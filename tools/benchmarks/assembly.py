"""Assembly text to a module of 10 MB and back: lc.spirv against SPIRV-Tools' library, in one
process, alternately: our time as a share of theirs. Then words a second, of a generated kernel: the
core, assemblers on its module, glslang on the same program in GLSL (less what it needs for an empty
one). Prints `R {"name": value}`."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile

import workloads
from measure import now, report


def text():
    """Functions of arithmetic; every other one has names for numbers."""
    lines = [
        "OpCapability Shader",
        "OpMemoryModel Logical GLSL450",
        "%void = OpTypeVoid",
        "%fn = OpTypeFunction %void",
        "%float = OpTypeFloat 32",
        "%uint = OpTypeInt 32 0",
        "%half = OpConstant %float 0.5",
        "%seven = OpConstant %uint 7",
    ]
    number = 100
    for k in range(900):
        lines += [f"%f{k} = OpFunction %void None %fn", f"%l{k} = OpLabel"]
        before = "%half"
        for j in range(500):
            number += 1
            result = f"%{number}" if k % 2 else f"%value_{k}_{j}"
            lines.append(f"{result} = OpFAdd %float {before} %half")
            before = result
            if j % 5 == 0:
                number += 1
                lines.append(f"%{number} = OpIAdd %uint %seven %seven")
        lines += ["OpReturn", "OpFunctionEnd"]
    return "\n".join(lines) + "\n"


class Tools:
    """The two calls of libSPIRV-Tools-shared."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.spvContextCreate.restype = ctypes.c_void_p
        self.library.spvContextCreate.argtypes = [ctypes.c_int]
        number = ctypes.c_int()
        self.library.spvParseTargetEnv(b"spv1.6", ctypes.byref(number))
        self.context = ctypes.c_void_p(self.library.spvContextCreate(number.value))

    def assemble(self, data):
        made, error = ctypes.c_void_p(), ctypes.c_void_p()
        status = self.library.spvTextToBinary(
            self.context,
            data,
            ctypes.c_size_t(len(data)),
            ctypes.byref(made),
            ctypes.byref(error),
        )
        assert status == 0
        code, count = ctypes.cast(made, ctypes.POINTER(ctypes.c_size_t))[0:2]
        words = ctypes.string_at(code, count * 4)
        self.library.spvBinaryDestroy(made)
        return words

    def disassemble(self, words, options):
        made, error = ctypes.c_void_p(), ctypes.c_void_p()
        status = self.library.spvBinaryToText(
            self.context,
            words,
            ctypes.c_size_t(len(words) // 4),
            options,
            ctypes.byref(made),
            ctypes.byref(error),
        )
        assert status == 0
        at, length = ctypes.cast(made, ctypes.POINTER(ctypes.c_size_t))[0:2]
        found = ctypes.string_at(at, length)
        self.library.spvTextDestroy(made)
        return found


def best(call, rounds=3):
    times = []
    for _ in range(rounds):
        t = now()
        call()
        times.append(now() - t)
    return min(times)


def glslang_mwords(name):
    """Millions of words a second; nothing where glslang is not here."""
    program = shutil.which("glslangValidator")
    if program is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:

        def seconds(glsl):
            path, made = os.path.join(folder, "x.comp"), os.path.join(folder, "x.spv")
            with open(path, "w") as f:
                f.write(glsl)
            command = [program, "-V", "--target-env", "vulkan1.2", path, "-o", made]
            return best(lambda: subprocess.run(command, check=True, capture_output=True)), made

        empty, _ = seconds("#version 450\nlayout(local_size_x = 64) in;\nvoid main() {}\n")
        whole, made = seconds(workloads.glsl_source(name))
        return {f"glslang_{name}_mwords": os.path.getsize(made) / 4e6 / (whole - empty)}


def words_of_a_kernel(tools, name="gen2000"):
    from ours import Stages

    from lcpy import spirv

    Stages(name)
    runs = [Stages(name) for _ in range(3)]
    words = runs[0].words
    count, text = len(words) / 4e6, spirv.disassemble(words)
    data = text.encode()
    report(
        **{
            f"core_{name}_mwords": count / min(r.core for r in runs) * 1e3,
            f"assemble_{name}_mwords": count / best(lambda: spirv.assemble(text)),
            f"tools_{name}_mwords": count / best(lambda: tools.assemble(data)),
            **glslang_mwords(name),
        }
    )


def main():
    from lcpy import spirv

    if spirv.available() != "library":
        sys.exit("SPIRV-Tools' library is not here to compare with")
    tools = Tools(spirv._find() or "libSPIRV-Tools-shared.so")
    source = text()
    data = source.encode()
    words = spirv.assemble(source)
    assert words == tools.assemble(data)
    indent, friendly = 1 << 3, 1 << 6
    assert spirv.disassemble(words).encode() == tools.disassemble(words, indent | friendly)
    report(
        module_mb=len(words) / 1e6,
        assemble_vs_tools=best(lambda: spirv.assemble(source)) / best(lambda: tools.assemble(data)),
        disassemble_vs_tools=best(lambda: spirv.disassemble(words))
        / best(lambda: tools.disassemble(words, indent | friendly)),
        disassemble_raw_vs_tools=best(lambda: spirv.disassemble(words, raw_ids=True))
        / best(lambda: tools.disassemble(words, indent)),
    )
    words_of_a_kernel(tools)


if __name__ == "__main__":
    main()
