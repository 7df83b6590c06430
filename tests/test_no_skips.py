"""SAYWHY_NO_SKIPS=1 turns a skip into a failure, except for the folder of shared cases."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = {
    "by_hand": "def test_it():\n    pytest.skip('no oven here')\n",
    "by_mark": "@pytest.mark.skipif(True, reason='no oven here')\ndef test_it():\n    pass\n",
    "by_fixture": "@pytest.fixture\ndef oven():\n    pytest.skip('no oven here')\n\ndef test_it(oven):\n    pass\n",
    "whole_file": "pytest.importorskip('no_such_package_anywhere')\n",
    "shared_absent": "def test_it(shared):\n    pass\n",
    "expected_failure": "@pytest.mark.xfail\ndef test_it():\n    assert False\n",
    "passes": "def test_it():\n    pass\n",
}
FORBIDDEN = {"by_hand", "by_mark", "by_fixture", "whole_file"}


@pytest.mark.parametrize("switch", ["0", "1"])
def test_the_switch(tmp_path: Path, root: Path, switch: str) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "conftest.py").write_text((root / "tests/conftest.py").read_text())
    for kind, text in TESTS.items():
        (folder / f"test_{kind}.py").write_text(f"import pytest\n\n{text}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "--continue-on-collection-errors", folder],
        capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "SAYWHY_NO_SKIPS": switch, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    summary = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    failed = {kind for kind in TESTS if any(f"test_{kind}.py" in line for line in summary)}
    assert failed == (FORBIDDEN if switch == "1" else set()), done.stdout
    assert done.returncode == (1 if switch == "1" else 0)
    if switch == "1":
        assert "no oven here" in done.stdout
