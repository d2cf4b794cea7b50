"""Programs damaged at random (tools/fuzzing/mutate.py): each is refused with an error that shows
the user's own line, or compiles. The seed is new in each run; a failure names it."""

import random
import sys

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools/fuzzing"))
import mutate  # noqa: E402


def test_wrong_programs(tmp_path):
    seed = str(random.SystemRandom().getrandbits(32))
    print(f"tools/fuzzing/mutate.py --wrong 300 --seed {seed}")
    faults, right, wrong = mutate.run(300, seed, tmp_path)
    shown = "\n".join(f"{f.kind}: {f.signature}\n{f.text}" for f in faults[:3])
    assert not faults, f"tools/fuzzing/mutate.py --wrong 300 --seed {seed}\n{shown}"
    assert right > 20 and wrong > 20
