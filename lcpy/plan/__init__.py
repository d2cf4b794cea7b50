"""Interface planning: where a kernel's resources are bound and how host arguments are packed.

Pure data in, pure data out; no device and no driver is touched. Same input, same plan.
"""

from .arguments import ArgumentRow, Parameter, pack_table
from .interface import Plan, plan_interface
from .limits import Limits, check_limits

__all__ = [
    "ArgumentRow",
    "Limits",
    "Parameter",
    "Plan",
    "check_limits",
    "pack_table",
    "plan_interface",
]
