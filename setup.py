"""Builds `lcpy._native.core`: the core in native/ and the Cython door to it, one extension.

The build is incremental: an object is compiled again only when its source, a header it includes
or its command line changed. So `python setup.py build_ext --inplace` is quick in development.
LCPY_SYMBOLS=1 keeps the symbols; CXX, CXXFLAGS and LDFLAGS are honoured.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
os.chdir(ROOT)  # every path below is relative to the root, so that depfiles and ccache agree

X86_64 = sysconfig.get_platform().endswith(("x86_64", "amd64"))
NATIVE = Path("native")
SELDOM = NATIVE / "spirv/legalize"  # made small: the extension is to stay below 6 MB
DOOR = Path("lcpy/_native")
# shaders/ holds the kernels that ship; they are imported below the package.
SHADER_PACKAGES = {"lcpy.primitives": "shaders/primitives", "lcpy.gallery": "shaders/gallery"}
# Instruction sets above the baseline, by the ending of the file's stem; chosen at run time.
INSTRUCTION_SETS = {"_avx2": "-march=x86-64-v3", "_avx512": "-march=x86-64-v4"}
LOOPS = ("_baseline", *INSTRUCTION_SETS)  # the interpreter's, for one instruction set each
MSVC_INSTRUCTION_SETS = {"_avx2": "/arch:AVX2", "_avx512": "/arch:AVX512"}


def native_sources():
    """The core's source files; those for x86-64 instruction sets only where they can run. Python
    has no use for the C interface."""
    found = sorted(p for p in NATIVE.rglob("*.cpp") if p.parent.name != "capi")
    if X86_64:
        return found
    return [p for p in found if not p.stem.endswith(tuple(INSTRUCTION_SETS))]


def instruction_set(source, table):
    return [flag for ending, flag in table.items() if source.stem.endswith(ending)]


def newer(sources, target):
    """Whether a source is missing or younger than the target, or the target is missing."""
    try:
        made = target.stat().st_mtime_ns
        return any(Path(s).stat().st_mtime_ns > made for s in sources)
    except OSError:
        return True


def depfile_entries(path):
    """The prerequisites that a compiler wrote with -MD."""
    text = path.read_text().replace("\\\n", " ")
    return shlex.split(text.partition(": ")[2])


class BuildExt(build_ext):
    def build_extension(self, ext):
        self.objects = Path(self.build_temp)
        self.objects.mkdir(parents=True, exist_ok=True)
        sources = [self.translate(), *native_sources()]
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        if self.compiler.compiler_type == "unix":
            self.build_unix(sources, target)
        else:
            self.build_portably(ext, sources, target)

    def translate(self):
        """core.pyx, and what it includes, to C++."""
        made = self.objects / "core.cpp"
        inputs = [p for p in DOOR.rglob("*") if p.suffix in (".pyx", ".pxi", ".pxd")]
        if newer([*inputs, "setup.py"], made):
            from Cython.Compiler.Main import CompilationOptions, compile_single

            options = CompilationOptions(
                cplus=True, output_file=str(made), include_path=["lcpy/_native"], language_level=3
            )
            partial = made.with_suffix(".tmp.cpp")
            options.output_file = str(partial)
            result = compile_single(str(DOOR / "core.pyx"), options, "lcpy._native.core")
            if result.num_errors:
                partial.unlink(missing_ok=True)
                raise SystemExit("core.pyx: Cython found errors")
            partial.replace(made)
        return made

    # g++ and clang: our own driver, because distutils neither runs in parallel nor knows depfiles.

    def build_unix(self, sources, target):
        cxx = shlex.split(os.environ.get("CXX") or self.default_cxx())
        ccache = shutil.which("ccache")
        launcher = [ccache] if ccache and "ccache" not in cxx[0] else []
        # The generated file is the longest by far: it goes first.
        with ThreadPoolExecutor(self.workers()) as pool:
            jobs = [pool.submit(self.compile_unix, [*launcher, *cxx], s) for s in sources]
            try:
                objects = [str(job.result()) for job in jobs]
            except subprocess.CalledProcessError as error:
                pool.shutdown(cancel_futures=True)
                raise SystemExit(f"setup.py: compilation failed: {error.cmd[-3]}") from None
        try:
            self.link_unix(cxx, objects, target)
        except subprocess.CalledProcessError:
            raise SystemExit("setup.py: linking failed") from None

    def default_cxx(self):
        return (sysconfig.get_config_var("CXX") or "c++") if sys.platform != "darwin" else "clang++"

    def workers(self):
        if self.parallel and self.parallel is not True:
            return int(self.parallel)
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()

    def unix_flags(self, source):
        interpreter = source.is_relative_to(NATIVE / "interp")
        level = "-O3" if interpreter else "-Os" if source.is_relative_to(SELDOM) else "-O2"
        flags = ["-std=c++20", level, "-DNDEBUG", "-fPIC", "-pthread"]
        if interpreter:  # loops with a choice in them become vector code only without traps
            flags += ["-fno-math-errno", "-fno-trapping-math"]
        if interpreter and source.stem.endswith(LOOPS):  # thousands of leaves that throw nothing
            flags += ["-fno-asynchronous-unwind-tables", "-fno-exceptions"]
        flags += ["-fvisibility=hidden", "-fvisibility-inlines-hidden", "-ffp-contract=off"]
        flags += ["-ffunction-sections", "-fdata-sections", "-Inative"]
        if source.is_relative_to(NATIVE):
            flags += ["-Wall", "-Wextra", "-Wno-missing-field-initializers"]
        else:
            flags += [f"-I{sysconfig.get_path('include')}", "-w"]
        flags += instruction_set(source, INSTRUCTION_SETS)
        return flags + shlex.split(os.environ.get("CXXFLAGS", "")) + self.architectures()

    def architectures(self):
        return shlex.split(os.environ.get("ARCHFLAGS", "")) if sys.platform == "darwin" else []

    def compile_unix(self, cxx, source):
        inside = source.is_relative_to(NATIVE)
        made = self.objects / (source.with_suffix(".o") if inside else Path("core.o"))
        depfile, record = made.with_suffix(".d"), made.with_suffix(".command")
        command = [*cxx, *self.unix_flags(source), "-MD", "-MF", str(depfile)]
        command += ["-c", str(source), "-o", str(made)]
        same = record.exists() and record.read_text() == shlex.join(command)
        if same and depfile.exists() and not newer(depfile_entries(depfile), made):
            return made
        made.parent.mkdir(parents=True, exist_ok=True)
        record.unlink(missing_ok=True)
        print(f"compiling {source}", flush=True)
        subprocess.run(command, check=True)
        record.write_text(shlex.join(command))
        return made

    def link_unix(self, cxx, objects, target):
        command = [*cxx, "-shared", "-pthread", *objects, "-o", str(target)]
        if sys.platform == "darwin":
            command[len(cxx)] = "-bundle"
            command += ["-undefined", "dynamic_lookup", "-Wl,-dead_strip", *self.architectures()]
        else:
            command += ["-Wl,--gc-sections", "-Wl,-O1", "-ldl"]
            if not os.environ.get("LCPY_SYMBOLS"):
                command.append("-s")
        command += shlex.split(os.environ.get("LDFLAGS", ""))
        record = self.objects / "core.link"
        same = record.exists() and record.read_text() == shlex.join(command)
        if not same or newer(objects, target):
            print(f"linking {target}", flush=True)
            subprocess.run(command, check=True)
            record.write_text(shlex.join(command))

    # Other compilers (MSVC): through distutils, one file at a time for the sake of its flags.

    def build_portably(self, ext, sources, target):
        objects = []
        for source in sources:
            flags = ["/std:c++20", "/O2", "/EHsc", "/fp:precise", "/utf-8", "/DNDEBUG"]
            flags.append("/DNOMINMAX")
            flags += instruction_set(source, MSVC_INSTRUCTION_SETS)
            objects += self.compiler.compile(
                [str(source)],
                output_dir=str(self.objects),
                include_dirs=["native", sysconfig.get_path("include")],
                extra_postargs=flags,
                depends=[str(h) for h in NATIVE.rglob("*") if h.suffix in (".h", ".def", ".inc")],
            )
        self.compiler.link_shared_object(
            objects,
            str(target),
            libraries=self.get_libraries(ext),
            target_lang="c++",
            library_dirs=self.library_dirs,
            export_symbols=self.get_export_symbols(ext),
            build_temp=str(self.objects),
        )


setup(
    packages=find_packages(include=["lcpy", "lcpy.*"]) + list(SHADER_PACKAGES),
    package_dir=SHADER_PACKAGES,
    include_package_data=False,
    package_data={"lcpy": ["py.typed"], "lcpy._native": ["*.pyi"]},
    ext_modules=[Extension("lcpy._native.core", sources=[str(p) for p in native_sources()])],
    cmdclass={"build_ext": BuildExt},
    zip_safe=False,
)
