"""The errors of Ricci: one type per cause, as in ricci/error.hpp. str() of each is the whole text, with its caret."""


class Error(Exception):
    """Base of everything Ricci raises. Raised before outputs, caches or devices are touched."""


class SpecError(Error, ValueError):
    """The index notation cannot be read, or says something impossible."""


class ShapeError(Error, ValueError):
    """Extents, strides, types or buffers disagree with the notation or with each other."""


class PlanError(Error):
    """No plan exists for this problem on this device, or a plan is called in a way it was not made for."""


class CompileError(Error):
    """A compiler refused generated source: a defect of Ricci. `source` and `log` are kept."""

    source = ""
    log = ""


class DeviceError(Error, RuntimeError):
    """A driver, a device or a device pointer failed."""


class CacheError(Error):
    """A cache command was refused; look-ups and stores never raise."""


class IoError(Error, OSError):
    """A file cannot be read or written."""


class InternalError(Error):
    """A broken invariant: please report."""


# As users write and see them.
for _type in (Error, SpecError, ShapeError, PlanError, CompileError, DeviceError, CacheError, IoError, InternalError):
    _type.__module__ = "ricci"
