"""`make bench SUITE=ledger|attribution`: our cost as a ratio to the plain way of doing the same, both timed in one run.

A ratio of two things that alternate on one machine survives a busy machine better than a time does; absolute times are given
beside it. Every suite first checks that both ways give the same result. Not run by the tests, which only hold the suites to
working.
"""
