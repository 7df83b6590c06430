"""`python -m tests.fuzz --seconds 600`: each target in a process of its own, led by the relay's branches (atheris).

Prints for each what it ran and reached. An input that breaks a promise is printed and ends the run with status 1: mend
the fault, and put the input into corpus/<target>.finds.txt under a line that says what it was. Without a find the corpus
is written anew with what reached more.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/harness")]

from tests.fuzz.corpus import MOST_BYTES, TARGETS, inputs, write  # noqa: E402

SHARES = {"requests": 0.25, "responses": 0.25, "both": 0.4, "chunks": 0.1}
INPUT_SECONDS = 5
"""One input may take so long; the usual one takes a millisecond."""

MEMORY_MB = 700
_WORDS = (
    b"HTTP/1.1 ", b"HTTP/1.0 ", b"\r\n", b"\r\n\r\n", b"\n\n", b"GET / ", b"POST / ", b"HEAD / ", b"OPTIONS * ", b"CONNECT ",
    b"Host: t\r\n", b"Content-Length: ", b"Transfer-Encoding: chunked\r\n", b"Connection: ", b"Upgrade: ", b"Expect: 100-continue\r\n",
    b"close", b"keep-alive", b"TE: trailers\r\n", b"Max-Forwards: ", b"0\r\n\r\n", b"http://", b"Authorization: NTLM a\r\n",
    b"200 OK", b"404 Not Found", b"100 Continue", b"103 ", b"204 ", b"304 ", b"101 ", b"X-Forwarded-For: ", b"\x00", b"\xff", b"\r", b"\t",
    b"Keep-Alive: timeout=", b"Trailer: ", b"Set-Cookie: ",
)  # fmt: skip


def run(target: str, seconds: int) -> bool:
    """Fuzz one target; whether every promise was kept."""
    with tempfile.TemporaryDirectory(prefix="saywhy-fuzz-") as name:
        folder = Path(name)
        found, kept, merged = folder / "found", folder / "kept", folder / "merged"
        for one in (found, kept, merged):
            one.mkdir()
        for data in inputs(target):
            (kept / hashlib.sha256(data).hexdigest()[:32]).write_bytes(data)
        words = folder / "words"
        words.write_text(
            "".join('"{}"\n'.format("".join(f"\\x{byte:02x}" for byte in word)) for word in _WORDS)
        )
        limits = [f"-max_len={MOST_BYTES}", f"-timeout={INPUT_SECONDS}", f"-rss_limit_mb={MEMORY_MB}"]
        options = [
            f"-max_total_time={seconds}",
            f"-dict={words}",
            "-print_final_stats=1",
            f"-artifact_prefix={folder}/find-",
        ]
        done = _atheris(target, [*limits, *options, str(found), str(kept)])
        finds = list(folder.glob("find-*"))
        _tell(target, done, finds)
        if finds or done.returncode:
            return False
        _atheris(target, [*limits, "-merge=1", str(merged), str(kept), str(found)])
        print(f"{target}: {write(target, (path.read_bytes() for path in merged.iterdir()))} inputs kept")
    return True


def _atheris(target: str, options: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fuzz", "--one", target, *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)


def _tell(target: str, done: subprocess.CompletedProcess[str], finds: list[Path]) -> None:
    said = done.stdout + done.stderr
    runs = re.findall(r"number_of_executed_units:\s+(\d+)", said) or re.findall(r"#(\d+)", said)
    cover = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", said) or [("?", "?", "?")]
    memory = re.findall(r"peak_rss_mb:\s+(\d+)", said)
    edges, features, corpus = cover[-1]
    print(
        f"{target}: {runs[-1] if runs else '?'} executions, {edges} edges, {features} features, {corpus} inputs in the"
        f" corpus, {memory[-1] if memory else '?'} MB, {len(finds)} finds"
        + (f", ended with {done.returncode}" if done.returncode else ""),
        flush=True,
    )
    if finds or done.returncode:
        print(said[-6000:])
        for path in finds:
            print(f"{path.name}: {path.read_bytes()!r}")


def _fuzz(target: str, options: list[str]) -> None:
    """Inside the process of one target."""
    import importlib
    import logging

    import atheris

    logging.disable(logging.CRITICAL)
    with atheris.instrument_imports(include=["saywhy.relay"], enable_loader_override=False):
        check = importlib.import_module(f"tests.fuzz.{target}").check
    atheris.Setup(
        [f"{sys.executable} -m tests.fuzz --one {target}", *options], lambda data: check(bytes(data))
    )
    atheris.Fuzz()


def main() -> int:
    """The command."""
    if sys.argv[1:2] == ["--one"]:
        _fuzz(sys.argv[2], sys.argv[3:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="for all targets together")
    parser.add_argument("--target", action="append", choices=TARGETS, help="only this one; repeatable")
    chosen = parser.parse_args()
    targets = chosen.target or TARGETS
    whole = sum(SHARES[target] for target in targets)
    kept = [run(target, max(5, int(chosen.seconds * SHARES[target] / whole))) for target in targets]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
