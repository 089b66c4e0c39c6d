"""Templates of `faithkit new`: one small, complete component of each kind."""
