from rerankers._base.errors import ConfigError as ConfigError
from rerankers._base.errors import FairRerankersError as FairRerankersError
from rerankers._base.errors import InputError as InputError
from rerankers._base.errors import MissingError as MissingError
from rerankers.api import Outcome as Outcome
from rerankers.api import Reranker as Reranker
from rerankers.api import Result as Result
from rerankers.api import Sweep as Sweep
from rerankers.api import Validation as Validation
from rerankers.api import command as command
from rerankers.api import compare as compare
from rerankers.api import evaluate as evaluate
from rerankers.api import run as run
from rerankers.api import submit as submit
from rerankers.api import sweep as sweep
from rerankers.api import train as train
from rerankers.api import validate as validate

__version__: str
