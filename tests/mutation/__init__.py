"""Mutation testing of the pure packages: small faults put into the code, one at a time, and the tests that notice.

`python -m tests.mutation` samples mutants of `kernel` and `belief`, runs the tests of each module against each of its
mutants and prints the share killed, with its interval, and the survivors. The checkout is never changed: a mutant lives
in the process that tests it. Results are kept by the text of the module, so that a run that was stopped goes on.
"""
