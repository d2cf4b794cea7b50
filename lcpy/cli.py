"""The command line: ``python -m lcpy devices | doctor | ops | compile | inspect | as | dis |
legalize | reflect | val``."""

import argparse
import json
import sys

from . import functions


def main(arguments=None):
    """Runs a command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m lcpy", description="GPU kernels written in Python."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, function, text in (
        ("devices", devices, "every device found"),
        ("doctor", doctor, "what is here, what is missing, and a kernel on every device"),
        ("ops", ops, "every operation of the kernel language"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument(
            "--json", metavar="FILE", help="also write the report to FILE ('-': only, to stdout)"
        )
        command.set_defaults(function=function)
    command = commands.add_parser("val", help="validate a SPIR-V module")
    command.add_argument("file")
    command.add_argument("--env", default="vulkan1.2")
    command.set_defaults(function=validate)
    _add_assembly(commands)
    _add_artifacts(commands)
    options = parser.parse_args(arguments)
    return options.function(options)


def _add_assembly(commands):
    """``as`` and ``dis``, with the options of ``spirv-as`` and ``spirv-dis``."""
    command = commands.add_parser("as", help="assembly text to a SPIR-V module")
    command.add_argument("file", help="'-' for the input")
    command.add_argument("-o", default="out.spv", help="the module; '-' for the output")
    command.add_argument("--target-env", metavar="ENV")
    command.add_argument("--preserve-numeric-ids", action="store_true")
    command.set_defaults(function=assemble)
    command = commands.add_parser("dis", help="a SPIR-V module as assembly text")
    command.add_argument("file", nargs="?", default="-", help="'-' for the input")
    command.add_argument("-o", default="-", help="the text; '-' for the output")
    command.add_argument("--raw-id", action="store_true", help="numbers in place of names")
    command.add_argument("--no-indent", action="store_true")
    command.add_argument("--no-header", action="store_true")
    command.add_argument("--nested-indent", action="store_true", help="blocks as they are nested")
    command.add_argument("--reorder-blocks", action="store_true", help="as they read best")
    command.add_argument("--offsets", action="store_true", help="each instruction's first byte")
    command.add_argument("--comment", action="store_true", help="titles, decorations")
    color = command.add_mutually_exclusive_group()
    color.add_argument("--color", action="store_true", default=None, help="also into files")
    color.add_argument("--no-color", dest="color", action="store_false", help="nor on terminals")
    command.set_defaults(function=disassemble)
    command = commands.add_parser(
        "legalize", help="a SPIR-V module fitted to logical addressing; as it is where it was so"
    )
    command.add_argument("file", nargs="?", default="-", help="'-' for the input")
    command.add_argument("-o", default="out.spv", help="the module; '-' for the output")
    command.set_defaults(function=legalize)
    command = commands.add_parser("reflect", help="entry points and bindings of a SPIR-V module")
    command.add_argument("file", nargs="?", default="-", help="'-' for the input")
    command.set_defaults(function=reflect)


def _add_artifacts(commands):
    command = commands.add_parser(
        "compile",
        help="kernels of a Python file to files, without any driver",
        description="Compiles the kernels of a Python file. The types of their parameters are "
        "those of the annotations, or what the file's KERNELS says: {kernel: (type, …)}.",
    )
    command.add_argument("file", metavar="FILE[:KERNEL,…]", help="all its kernels unless named")
    command.add_argument("--target", default="spirv", help="spirv, opencl, cuda, cpu; with commas")
    command.add_argument("-o", default=".", metavar="DIRECTORY", help="made if it is not there")
    command.add_argument(
        "--format", default="artifact", help="artifact, code, text, header; with commas"
    )
    command.add_argument("--vulkan", default="1.2", help="1.0 to 1.4")
    command.add_argument("--driver", default="any", help="of spirv: any, none, nvidia, llvmpipe")
    command.add_argument("--math", help="ieee, strict or fast; the kernel's if left out")
    command.add_argument("-g", action="store_true", help="of spirv: names, lines and source in it")
    command.add_argument(
        "--optimize", metavar="PASSES", help="of spirv: spirv-opt's, with commas: --optimize=-O"
    )
    command.add_argument("--views", action="store_true", help="buffers may begin within others")
    command.add_argument("--depfile", metavar="FILE", help="what the outputs depend on, for make")
    command.add_argument("--list", action="store_true", help="names of the files, none written")
    command.set_defaults(function=compile_files)
    command = commands.add_parser("inspect", help="what an artifact is")
    command.add_argument("file")
    command.add_argument("--header", action="store_true", help="as a header for C and C++")
    command.set_defaults(function=inspect)


def compile_files(options):
    """Compiles a file's kernels; 1 and what is wrong where it cannot."""
    from . import ahead
    from .errors import Error

    try:
        written = ahead.compile_files(
            options.file,
            options.o,
            targets=options.target.split(","),
            formats=options.format.split(","),
            vulkan=options.vulkan,
            driver=options.driver,
            math=options.math,
            debug=options.g,
            optimize=options.optimize.split(",") if options.optimize else None,
            views=options.views,
            depfile=options.depfile,
            write=not options.list,
        )
    except (Error, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for path in written:
        print(path)
    return 0


def inspect(options):
    """Prints what an artifact is; 1 where the file is none."""
    from .artifact import load_artifact
    from .errors import Error

    try:
        found = load_artifact(options.file)
    except (Error, OSError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 1
    print(found.header() if options.header else found)
    return 0


def _report(options, data, lines):
    if options.json == "-":
        json.dump(data, sys.stdout, indent=1)
        print()
        return
    print("\n".join(lines))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(data, file, indent=1)


def devices(options):
    """Lists devices, and what would add those of a kind that has none."""
    from .run.device import KINDS, default_device, discover

    data, lines = {"devices": [], "missing": {}}, []
    for kind in KINDS:
        infos, reason = discover(kind)
        for info in infos:
            data["devices"].append(
                {
                    "name": info.name,
                    "kind": info.kind,
                    "type": info.type,
                    "description": info.description,
                    "driver": info.driver,
                    "limits": info.limits,
                    "features": info.features,
                }
            )
            lines.append(f"{info.name:<10} {info.type:<11} {info.description} · {info.driver}")
        if reason:
            data["missing"][kind] = reason
            lines.append(f"{kind:<10} {'-':<11} {reason}")
    data["default"] = default_device().name
    lines.append(f"default: {data['default']}")
    _report(options, data, lines)
    return 0


def doctor(options):
    """Versions, tools, and the sum of a few numbers on every device."""
    import platform

    from . import __version__, spirv
    from .run.device import KINDS, discover

    data = {
        "lcpy": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "spirv_tools": spirv.available(),
        "devices": {},
        "missing": {},
    }
    for kind in KINDS:
        infos, reason = discover(kind)
        for info in infos:
            data["devices"][info.name] = _try(info.name)
        if reason:
            data["missing"][kind] = reason
    lines = [
        f"lcpy {data['lcpy']}, Python {data['python']}, {data['system']}",
        f"SPIRV-Tools: {data['spirv_tools'] or 'missing: ' + spirv.HOW_TO_GET}",
    ]
    lines += [f"{name}: {state}" for name, state in data["devices"].items()]
    lines += [f"{kind}: {reason}" for kind, reason in data["missing"].items()]
    _report(options, data, lines)
    return 0 if all(state == "works" for state in data["devices"].values()) else 1


def _try(name):
    """Whether the device called `name` runs a kernel right: "works", or what went wrong."""
    from .errors import Error
    from .launch import kernel
    from .run.buffer import Buffer
    from .run.device import Device
    from .types import INT32

    try:
        device = Device(name)
        numbers = Buffer(list(range(100)), INT32, device=device)
        kernel(_double)(numbers, dispatch_size=100)
        right = numbers.numpy().tolist() == [2 * i for i in range(100)]
        return "works" if right else "gives wrong numbers"
    except Error as error:
        return f"{type(error).__name__}: {error}"


def _double(numbers):
    i = functions.dispatch_id().x
    numbers[i] = numbers[i] * 2


def ops(options):
    """Every row of the op table that Python can name."""
    from ._native import core

    rows = [r for r in core.op_rows() if r["python_name"]]
    lines = [
        f"{r['python_name']:<26} {r['category']:<10} {r['doc']}"
        + (f" (not here: {r['reason']})" if r["reason"] else "")
        for r in rows
    ]
    _report(options, rows, lines)
    return 0


def validate(options):
    """Validates a file of SPIR-V words; 0 when it is valid."""
    from . import spirv
    from .errors import Error

    with open(options.file, "rb") as file:
        words = file.read()
    try:
        spirv.validate(words, options.env)
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{options.file}: valid for {options.env}")
    return 0


def _read(name):
    if name == "-":
        return sys.stdin.buffer.read()
    with open(name, "rb") as file:
        return file.read()


def _write(name, data):
    if name == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        with open(name, "wb") as file:
            file.write(data)


def assemble(options):
    """Assembles a file; 1 and what is wrong where it cannot."""
    from . import spirv
    from .errors import Error

    try:
        words = spirv.assemble(
            _read(options.file).decode("utf-8", "surrogateescape"),
            env=options.target_env,
            preserve_numeric_ids=options.preserve_numeric_ids,
        )
    except (Error, OSError) as error:
        print(f"{options.file}:{error}", file=sys.stderr)
        return 1
    _write(options.o, words)
    return 0


def _of_module(options, make):
    """What `make` makes of a file's bytes; None, having said why, where it cannot."""
    from .errors import Error

    try:
        return make(_read(options.file))
    except (Error, OSError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return None


def legalize(options):
    """Fits a file to logical addressing; 1 and the instruction where it cannot."""
    from . import spirv

    words = _of_module(options, spirv.legalize)
    if words is None:
        return 1
    _write(options.o, words)
    return 0


def disassemble(options):
    """Disassembles a file; 1 and what is wrong where it is no module."""
    from . import spirv

    colors = options.color
    if colors is None:
        colors = options.o == "-" and sys.stdout.isatty()
    text = _of_module(
        options,
        lambda words: spirv.disassemble(
            words,
            raw_ids=options.raw_id,
            indent=not options.no_indent,
            header=not options.no_header,
            offsets=options.offsets,
            comments=options.comment,
            nested=options.nested_indent,
            reorder=options.reorder_blocks,
            colors=colors,
        ),
    )
    if text is None:
        return 1
    _write(options.o, text.encode("utf-8", "surrogateescape"))
    return 0


def reflect(options):
    """Prints as JSON what a host needs to know of a module; 1 where it is none."""
    from . import spirv

    found = _of_module(options, spirv.reflect)
    if found is None:
        return 1
    json.dump(found, sys.stdout, indent=1)
    print()
    return 0
