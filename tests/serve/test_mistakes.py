"""All mistakes in one go: a misspelt key hides neither an unknown site nor a file that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from certificates import authority, issued
from stage.scripted import ScriptedSite
from stage.serving import run, serving, wait_until

SETTINGS = """lisen: 127.0.0.1:0
upstreams:
  shop: {url: https://shop.example, ca_file: ca.pem}
  docs: {url: https://docs.example, ca_fil: docs.pem}
routes:
  - {path: /docs/*, upstream: dosc}
  - {upstream: shop}
tls: {listen: 127.0.0.1:0, certificate_file: ours.pem}
rules: {folders: [mine]}
"""


@pytest.mark.parametrize("command", [["check"], ["serve", "--config"]])
def test_one_mistake_hides_no_other(tmp_path: Path, command: list[str]) -> None:
    file = tmp_path / "saywhy.yaml"
    file.write_text(SETTINGS)
    done = run(*command, file)
    lines = [line.removeprefix("error: ") for line in (done.stdout + done.stderr).splitlines()]
    said = [line for line in lines if line.startswith(str(tmp_path))]
    beginnings = [
        f"{file}:1: lisen is not a setting; did you mean listen?",
        f"{file}:3: upstreams.shop.ca_file names {tmp_path}/ca.pem, which cannot be read",
        f"{file}:4: upstreams.docs.ca_fil is not a setting; did you mean ca_file?",
        f"{file}:6: routes[0].upstream is 'dosc', which is not among upstreams; did you mean docs?",
        f"{file}:8: tls.certificate_file {tmp_path}/ours.pem cannot be read",
        f"{tmp_path}/mine: there is no such folder; name one that is there, or leave it out",
    ]
    assert len(said) == len(beginnings), said
    assert all(line.startswith(beginning) for line, beginning in zip(said, beginnings, strict=True)), said
    assert done.returncode in (1, 2)


def test_rules_and_certificates_are_told_together(tmp_path: Path) -> None:
    done = run("serve", "--upstream", "https://127.0.0.1:1", "--rules", tmp_path / "none", "--admin", "off",
               env={"SAYWHY_UPSTREAMS__DEFAULT__CA_FILE": str(tmp_path / "ca.pem")})  # fmt: skip
    assert done.returncode == 2
    assert "upstreams.default.ca_file names" in done.stderr
    assert "none: there is no such folder" in done.stderr


def test_a_certificate_that_is_over_is_told_at_the_start_and_at_a_reload_and_in_check(tmp_path: Path) -> None:
    ca = authority(tmp_path)
    good, over = issued(tmp_path, ca, "good"), issued(tmp_path, ca, "over", days=-1)
    live = tmp_path / "live.pem"

    def install(pair: object) -> None:
        live.write_bytes(pair.certificate.read_bytes() + pair.key.read_bytes())  # type: ignore[attr-defined]

    install(over)
    env = {"SAYWHY_TLS__LISTEN": "127.0.0.1:0", "SAYWHY_TLS__CERTIFICATE_FILE": str(live)}
    said = f"tls.certificate_file names {live}, whose certificate expired at"
    loose, strict = run("check", env=env), run("check", "--strict", env=env)
    assert (loose.returncode, strict.returncode) == (0, 1)
    assert said in loose.stdout
    with ScriptedSite({}) as site, serving(site.port, tmp_path, env=env) as proxy:
        assert wait_until(lambda: proxy.err.read_text().count(said) == 1)
        for pair, count in ((good, 1), (over, 2)):
            install(pair)
            assert proxy.get("/-/reload", method="POST")[0] == 200
            # A reload tells its doubts after itself.
            assert wait_until(lambda seen=count: proxy.err.read_text().count(said) == seen)
