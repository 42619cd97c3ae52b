"""The one error tree of attribution.

    AttributionError
    ├── LayoutError               tokens, regions, units or targets that do not fit together
    │   └── ContextWindowError    a trajectory longer than the model can see
    ├── ModelError                a model that cannot be used here
    │   ├── ModelNotFoundError    no such package or path
    │   ├── UnsupportedModelError a model or tokenizer outside the exact-token contract
    │   ├── DeviceMissingError    a device that this machine does not have
    │   └── ModelCacheError       the conversion cache cannot be written
    ├── BlockError                masks or a score table that do not belong to their block
    ├── ExecutorError             blocks that cannot be computed where they were sent
    │   ├── ExecutorMissingError  an executor whose package is not installed
    │   ├── WorkerLostError       a block whose workers died, again and again
    │   └── BudgetError           memory or time that was granted and does not suffice
    ├── ScoringServerError        a server whose answers cannot be taken as scores
    ├── InputError                a context, chat or response that cannot be attributed
    ├── DesignError               an ablation design that cannot be built
    └── DecisionError             statistics that the decision rule cannot take

Every message names the offending value and what to do about it.
"""


class AttributionError(Exception):
    """Base of everything attribution raises on purpose."""


class LayoutError(AttributionError):
    """Token ids, regions, units or targets that do not fit together."""


class ContextWindowError(LayoutError):
    """A trajectory longer than the model can see; the message names both sizes, in tokens."""


class ModelError(AttributionError):
    """A model that cannot be used here."""


class ModelNotFoundError(ModelError):
    """No model package or path of that name; the message names the way out."""


class UnsupportedModelError(ModelError):
    """A model or tokenizer outside the exact-token contract."""


class DeviceMissingError(ModelError):
    """A device that this machine, or its build of torch, does not have."""


class ModelCacheError(ModelError):
    """The folder that holds converted models cannot be written."""


class BlockError(AttributionError):
    """Masks or a score table that do not belong to their block."""


class ExecutorError(AttributionError):
    """Blocks that cannot be computed where they were sent."""


class ExecutorMissingError(ExecutorError):
    """An executor whose package is not installed; the message names the command that installs it."""


class WorkerLostError(ExecutorError):
    """A block whose workers died, again and again; what was scored is stored."""


class BudgetError(ExecutorError):
    """Memory or time that was granted and does not suffice; the message names what is needed, and what is kept."""


class ScoringServerError(AttributionError):
    """A server whose answers cannot be taken as scores: another model, other tokens, or no log-probabilities."""


class InputError(AttributionError):
    """A context, chat or response that a caller gave and that cannot be attributed."""


class DesignError(AttributionError):
    """An ablation design that cannot be built."""


class DecisionError(AttributionError):
    """Statistics that the decision rule cannot take."""
