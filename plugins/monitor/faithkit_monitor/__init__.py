"""Watch a stream of logged explanations: the confidence sequence, the state file and the alarm."""

from faithkit_monitor.monitor import InterimLook, Monitor

__all__ = ["InterimLook", "Monitor"]
