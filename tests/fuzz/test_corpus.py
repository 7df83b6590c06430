"""Every input that fuzzing has kept is played again; none of them may leave anything behind."""

from __future__ import annotations

import gc

import pytest

from saywhy.relay.downstream import Downstream
from saywhy.relay.exchange import Exchange
from saywhy.relay.upstream import Upstream
from tests.fuzz.corpus import FOLDER, TARGETS, inputs, read, replay


@pytest.mark.parametrize("target", TARGETS)
def test_no_input_breaks_a_promise(target: str) -> None:
    broken = []
    for data in inputs(target):
        try:
            replay(target, data)
        except Exception as error:
            broken.append((data, repr(error)[:500]))
    assert broken == []
    gc.collect()
    left = [one for one in gc.get_objects() if isinstance(one, Exchange | Upstream | Downstream)]
    assert left == []


def test_files_and_targets_belong_together() -> None:
    for path in FOLDER.iterdir():
        assert path.name.partition(".")[0] in TARGETS, path
        assert all(isinstance(one, bytes) for one in read(path))
    assert all(read(FOLDER / f"{target}.txt") for target in TARGETS)
