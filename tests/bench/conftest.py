"""The benchmark's modules are `tests.bench.*`, as `python -m tests.bench` names them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
