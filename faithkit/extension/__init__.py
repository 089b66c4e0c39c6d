"""How others extend faithkit: hook specs, components, the registry, and the kernel's own components."""
