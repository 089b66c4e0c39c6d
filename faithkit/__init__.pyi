"""What users write. `faithkit/__init__.py` imports each name at its first use."""

from . import errors as errors
from . import plugin as plugin
from . import results as results
from .explanations.explanations import Explanations as Explanations
from .explanations.rules import Rule as Rule
from .inputs.datasets import load_dataset as load_dataset
from .inputs.models.model_loading import load_model as load_model
from .inputs.models.predictor import Predictor as Predictor
from .run.api import compare as compare
from .run.api import evaluate as evaluate
from .run.api import score as score
from .run.comparisons.discretizer_search import try_discretizers as try_discretizers
from .run.components.resolution import relation as relation
from .run.evaluation import Evaluation as Evaluation
from .run.planning import plan as plan
from .run.saved_results import load as load

__version__: str
