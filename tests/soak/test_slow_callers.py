"""Slow heads, slow bodies, slow reading and many ranges, as slowhttptest does them: others are served meanwhile."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from crowd import LIMIT, Bystander, Watch, fault_site
from stage.serving import serving

CONNECTIONS = 1000
SECONDS = 10
P99_SECONDS = 2.0
MODES = {
    "slow heads": ["-H", "-i", "1", "-x", "24"],
    "slow bodies": ["-B", "-i", "1", "-s", "100000", "-x", "24"],
    "many ranges": ["-R", "-a", "5", "-b", "500"],
    "slow reading": ["-X", "-w", "512", "-y", "1024", "-n", "2", "-z", "32", "-k", "3"],
}


@pytest.mark.parametrize("mode", MODES)
def test_others_are_served(mode: str, tmp_path: Path) -> None:
    program = shutil.which("slowhttptest")
    if program is None:
        pytest.skip("slowhttptest is not installed (Debian package slowhttptest)")
    with fault_site() as port, fault_site() as calm:
        settings = tmp_path / "saywhy.yaml"
        settings.write_text(
            f"upstreams: {{calm: 'http://127.0.0.1:{calm}', default: 'http://127.0.0.1:{port}'}}\n"
            "routes: [{path: '/good*', upstream: calm}, {upstream: default}]\n"
            "limits: {unsent_bytes_budget: 67108864}\n"
        )
        with serving(port, tmp_path, config=settings) as proxy:
            before = proxy.memory()
            url = f"http://127.0.0.1:{proxy.port}/page?bytes=1000000"
            command = [
                program,
                *MODES[mode],
                "-c",
                str(CONNECTIONS),
                "-r",
                "500",
                "-l",
                str(SECONDS),
                "-u",
                url,
            ]
            with Watch(proxy) as watch, Bystander(proxy.port) as bystander:
                done = subprocess.run(
                    command, capture_output=True, timeout=SECONDS * 6, check=False, cwd=tmp_path
                )
            print(
                f"{mode}: {CONNECTIONS} connections, others p99 {bystander.percentile(99) * 1000:.0f} ms of "
                f"{len(bystander.took)}, resident +{(watch.resident - before) >> 20} MB"
            )
            assert done.returncode == 0, done.stderr[-1000:]
            assert bystander.statuses.keys() == {200, 404}
            assert bystander.percentile(99) < P99_SECONDS
            # `unsent_bytes_budget`, and what a thousand connections cost beside it.
            assert watch.resident < LIMIT
