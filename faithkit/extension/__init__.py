"""The extension API: hook specs, components, the registry, and the kernel's own components."""
