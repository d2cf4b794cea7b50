# cython: language_level=3, binding=False, embedsignature=False, auto_pickle=False
# distutils: language=c++
"""The door to the C++ core: typed, thin, no logic of its own.

errors.pxi must come first: it installs the exception translator.
"""
cimport cython
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

include "errors.pxi"
include "types.pxi"
include "builder.pxi"
include "repack.pxi"
include "compile.pxi"
include "spirv.pxi"
include "interp.pxi"
include "direct.pxi"
include "record.pxi"
include "report.pxi"
include "launch.pxi"
include "artifact.pxi"
