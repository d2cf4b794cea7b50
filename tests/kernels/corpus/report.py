"""assert, lc.trap, print and checked accesses, with and without barriers."""

import numpy as np

import lcpy as lc

BLOCK = 32


@lc.callable
def root(x: lc.float32):
    assert x >= 0.0, "root of a negative number"
    return lc.sqrt(x)


@lc.kernel(bounds="trap")
def gather(values: lc.Buffer[lc.float32], index: lc.Buffer[lc.int32], out: lc.Buffer[lc.float32]):
    i = lc.dispatch_id().x
    if index[i] < -100:
        lc.trap(index[i])
    out[i] = root(values[index[i]])
    if out[i] > 1000.0:
        print("large:", i, f"{out[i]:.2f}")


@lc.kernel(block_size=BLOCK)
def reverse(values: lc.Buffer[lc.float32], out: lc.Buffer[lc.float32]):
    tile = lc.shared(lc.float32, BLOCK)
    t = lc.thread_id().x
    tile[t] = values[lc.dispatch_id().x]
    lc.sync_block()
    for k in range(t % 3):
        assert tile[t] != lc.float32(k) - 7.0, "seven"
    lc.sync_block()
    out[lc.dispatch_id().x] = tile[BLOCK - 1 - t]


def run(device):
    n = 70
    values = lc.Buffer((np.arange(n) % 9).astype(np.float32), device=device)
    index = lc.Buffer((np.arange(n) * 37 % n).astype(np.int32), device=device)
    out, other = (lc.Buffer(n, lc.float32, device=device) for _ in range(2))
    gather(values, index, out, dispatch_size=n)
    reverse(values, other, dispatch_size=n)
    return np.concatenate([out.numpy(), other.numpy()])


KERNELS = {
    gather: (lc.Buffer[lc.float32], lc.Buffer[lc.int32], lc.Buffer[lc.float32]),
    reverse: (lc.Buffer[lc.float32], lc.Buffer[lc.float32]),
}
