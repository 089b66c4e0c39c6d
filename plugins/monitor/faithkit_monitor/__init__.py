"""Monitor a stream of logged explanations: confidence sequence, state file and alarm."""

from faithkit_monitor.monitor import Look, Monitor

__all__ = ["Look", "Monitor"]
