"""Any object of the user's, looked at without letting it raise."""

from operator import index

# What running the user's code may raise that is the program's error: exit() too, for a compiler
# does not end the process.
RAISED = (Exception, SystemExit)


def whole(value):
    """The int that `value` stands for; None for bools and whatever is no integer."""
    if value is True or value is False:
        return None
    try:
        return index(value)
    except RAISED:  # whatever the user's __index__ raises
        return None


def shown(value):
    """A short repr of any object; its class where it has none."""
    from reprlib import Repr  # bounded also for what nests deeply

    brief = Repr()
    brief.maxstring = brief.maxother = brief.maxlong = 60
    try:
        text = brief.repr(value)
        if " at 0x" in text:  # an address would make the same message differ from run to run
            raise ValueError
    except RAISED:  # the user's __repr__, or an integer of more digits than Python prints
        text = f"a {type.__dict__['__name__'].__get__(type(value))}"
    return text if len(text) <= 60 else text[:57] + "..."
