"""What `faithkit new` begins with: one component of each kind, small and whole, to be changed into yours."""
