"""The jackknife: sums over pairs of rows, and the same sums without each unit."""
