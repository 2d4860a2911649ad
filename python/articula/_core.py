"""What the compiled module exports; `_core.pyi` has the types."""

from ._native import load as _load

_module = _load()
__version__ = _module.__version__
__all__ = [_name for _name in vars(_module) if not _name.startswith("_")]
globals().update({_name: getattr(_module, _name) for _name in __all__})
