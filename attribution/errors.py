"""The one error tree of attribution.

    AttributionError
    ├── LayoutError               tokens, regions, units or targets that do not fit together
    │   └── ContextWindowError    a trajectory longer than the model can see
    ├── ModelError                a model that cannot be used here
    │   ├── ModelNotFoundError    no such package or path
    │   ├── UnsupportedModelError a model or tokenizer outside the exact-token contract
    │   └── ModelCacheError       the conversion cache cannot be written
    ├── BlockError                masks or a score table that do not belong to their block
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


class ModelCacheError(ModelError):
    """The folder that holds converted models cannot be written."""


class BlockError(AttributionError):
    """Masks or a score table that do not belong to their block."""


class InputError(AttributionError):
    """A context, chat or response that a caller gave and that cannot be attributed."""


class DesignError(AttributionError):
    """An ablation design that cannot be built."""


class DecisionError(AttributionError):
    """Statistics that the decision rule cannot take."""
