"""`python -m tests.bench`: see bench.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

if __name__ == "__main__":
    from bench import main

    sys.exit(main())
