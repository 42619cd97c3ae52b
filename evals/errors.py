"""The one error tree of the evaluation.

    EvalError
    ├── TrialError             a trial record whose fields contradict each other
    ├── ScenarioError          a scenario that cannot be generated or loaded
    ├── ArmError               an unknown arm, or a reading that cannot be rendered
    ├── AgentError             an agent that could not answer
    ├── StatisticsError        a number outside its domain, NaN and infinity included
    ├── PreregistrationError   a registration that is malformed or differs from what was registered
    ├── ReportError            a report document that cannot be read or rendered
    ├── CorpusError            a file of texts, such as an attack set, that is not what it must be
    └── EvalLogError           somebody else's evaluation log that cannot be read

Every message names the offending value and what to do about it. "There is no estimate" is not an error: it is
:class:`evals.statistics.Undefined`.
"""


class EvalError(Exception):
    """Base of everything the evaluation raises on purpose."""


class TrialError(EvalError):
    """A trial record whose fields contradict each other."""


class ScenarioError(EvalError):
    """A scenario that cannot be generated or loaded."""


class ArmError(EvalError):
    """An unknown arm, or a reading that cannot be rendered."""


class AgentError(EvalError):
    """An agent that could not answer; the runner records the trial as an error and goes on."""


class StatisticsError(EvalError):
    """A number outside its domain; NaN and infinity are always outside."""


class PreregistrationError(EvalError):
    """A registration that is malformed, or that differs from the one in the ledger."""


class ReportError(EvalError):
    """A report document that cannot be read or rendered."""


class CorpusError(EvalError):
    """A file of texts that cannot be read, or holds too little to measure anything by."""


class EvalLogError(EvalError):
    """Somebody else's evaluation log that cannot be read, or is none."""
