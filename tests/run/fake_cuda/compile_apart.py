"""NVRTC in a process of its own: it looks into the driver's library, and the stand-in has little to
show. usage: compile_apart.py ARCH OPTION… <source >cubin
"""

import json
import os
import sys

sys.path[:0] = json.loads(os.environ["APART_PATH"])
from lcpy.run import nvrtc  # noqa: E402

source = sys.stdin.read()
cubin = nvrtc.compiler().compile(source, "apart", sys.argv[2:], int(sys.argv[1]))
sys.stdout.buffer.write(cubin)
