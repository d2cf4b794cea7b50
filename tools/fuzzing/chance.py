"""Random numbers that depend on the seed alone: splitmix64, the same in every version of Python."""

_MASK = (1 << 64) - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


class Chance:
    """A stream of choices. `Chance(3, 7)` and `Chance(3, 8)` have nothing in common."""

    __slots__ = ("state",)

    def __init__(self, *seeds):
        self.state = 0
        for seed in seeds:
            self.state = mix(self.state ^ mix(seed & _MASK))

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        x = self.state
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
        return x ^ (x >> 31)

    def below(self, n):
        """0 to n - 1."""
        return self.bits() % n

    def between(self, low, high):
        """low to high, both included."""
        return low + self.bits() % (high - low + 1)

    def one_in(self, n):
        return self.bits() % n == 0

    def percent(self, n):
        return self.bits() % 100 < n

    def pick(self, sequence):
        return sequence[self.bits() % len(sequence)]

    def weighted(self, pairs):
        """One of (weight, value) pairs."""
        n = self.bits() % sum(w for w, _ in pairs)
        for w, value in pairs:
            if n < w:
                return value
            n -= w
        raise AssertionError

    def some(self, sequence, n):
        """n of them, in a random order, each once."""
        left = list(sequence)
        return [left.pop(self.below(len(left))) for _ in range(min(n, len(left)))]
