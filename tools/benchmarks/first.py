"""A new process to its first saxpy result, as a user's smallest program. usage: first.py DEVICE"""

import sys

import numpy as np

import lcpy as lc


@lc.kernel
def saxpy(x: lc.Buffer[lc.float32], y: lc.Buffer[lc.float32], a: lc.float32):
    i = lc.dispatch_id().x
    y[i] = a * x[i] + y[i]


lc.init(sys.argv[1])
ones = np.ones(1024, np.float32)
x, y = lc.Buffer(ones), lc.Buffer(ones)
saxpy(x, y, 2.0, dispatch_size=1024)
if y.numpy()[1023] != 3.0:
    raise SystemExit("saxpy gave a wrong result")
print('R {"first_result": 1}', flush=True)
