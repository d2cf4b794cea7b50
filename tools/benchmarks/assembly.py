"""Assembly text to a module of 10 MB and back: lc.spirv against SPIRV-Tools' library, in one
process, alternately. Prints `R {"name": value}`: our time as a share of theirs."""

import ctypes
import sys

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


if __name__ == "__main__":
    main()
