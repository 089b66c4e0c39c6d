"""A stream of logs, watched: reference → digests and tallies → pool and calibration → looks → state → report.

What is kept between two looks is a file of tallies: no rows, no pickle, and nothing that grows with them.
"""
