"""Monitor a stream of logged explanations: confidence sequence, state file and alarm."""

from faithkit_monitor.monitor import InterimLook, Monitor

__all__ = ["InterimLook", "Monitor"]
