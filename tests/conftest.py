"""Fixtures that every folder of tests may use, and the switch that makes a skip a failure."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NO_SHARED = "the folder of shared cases is not beside the project"
NO_SKIPS = os.environ.get("SAYWHY_NO_SKIPS") == "1"
"""Set where everything that tests need was installed first: there a skip would hide a broken test."""


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of cases beside the project; tests that need it skip, by name, where it is not."""
    folder = ROOT.parent / "shared"
    if not (folder / "corpus").is_dir():
        pytest.skip(NO_SHARED)
    return folder


def forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure that says so, unless only the folder of shared cases is missing."""
    if not NO_SKIPS or report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if NO_SHARED not in why:
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid}: nothing may be skipped here (SAYWHY_NO_SKIPS=1). {why}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tests that skip themselves or whose fixtures do."""
    report = yield
    forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Whole files that skip themselves."""
    report = yield
    forbid_skip(report)
    return report
