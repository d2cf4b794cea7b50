"""The text that the core makes of the corpus, as it was blessed: `tools/bless` rewrites it.

A golden proves only that the text did not change; the validator here, PoCL and the differential
runs prove it right.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import corpus
import pytest

import lcpy as lc

PATH = os.environ.get("PATH", "")

FOLDER = Path(__file__).resolve().parent / "goldens"
SMALL = [row for row in corpus.kernels() if row[0].split(".")[0] in corpus.NAMES]


def descriptor_text(kernel, types):
    return kernel.descriptor(*types).text()


def opencl_text(kernel, types):
    return kernel.compile(*types, target="opencl").text


def cuda_text(kernel, types):
    return kernel.compile(*types, target="cuda").text


def spirv_text(kernel, types):
    """The words as SPIRV-Tools prints them, without the header's comments."""
    program = shutil.which("spirv-dis", path=f"{Path(sys.executable).parent}{os.pathsep}{PATH}")
    if program is None:
        pytest.skip("spirv-dis of SPIRV-Tools is not here")
    module = kernel.compile(*types, target="spirv", vulkan="1.2", driver="none")
    command = [program, "--raw-id", "--no-color", "-"]
    done = subprocess.run(command, input=module.data, capture_output=True, check=True)
    lines = done.stdout.decode().splitlines()
    return "\n".join(line for line in lines if not line.startswith(";"))


FORMS = {"kernel.txt": descriptor_text, "cl": opencl_text, "cu": cuda_text, "spvasm": spirv_text}


def golden(form, kernel, types):
    """The text, with spans that do not count the files that were compiled before."""
    return re.sub(r"@\d+:", "@", FORMS[form](kernel, types)).rstrip() + "\n"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", SMALL, ids=lambda row: row[0])
def test_golden(row, form):
    name, kernel, types = row
    path = FOLDER / f"{name}.{form}"
    assert path.exists(), f"no golden {path.name}: run tools/bless"
    assert golden(form, kernel, types) == path.read_text(), f"{path.name} differs: see tools/bless"


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3", "1.4"])
@pytest.mark.parametrize("row", SMALL, ids=lambda row: row[0])
def test_valid(row, version):
    _, kernel, types = row
    module = kernel.compile(*types, target="spirv", vulkan=version, driver="none")
    lc.spirv.validate(module.data, f"vulkan{version}")


def test_goldens_are_all_in_use():
    wanted = {f"{row[0]}.{form}" for row in SMALL for form in FORMS}
    assert {path.name for path in FOLDER.iterdir()} == wanted


@pytest.mark.parametrize("row", SMALL, ids=lambda row: row[0])
def test_descriptor_parses_back(row):
    from lcpy._native import core

    _, kernel, types = row
    text = descriptor_text(kernel, types)
    assert core.parse_descriptor(text).text() == text
