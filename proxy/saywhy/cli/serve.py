"""`saywhy serve`: the proxy."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from saywhy.cli import layers
from saywhy.cli.output import Failure


def serve(
    upstream: layers.Upstream = None,
    listen: layers.Listen = None,
    admin: layers.Admin = None,
    config: layers.Config = None,
    rules: layers.RuleFolders = None,
    workers: layers.Workers = None,
    log_format: layers.LogFormat = None,
    log_level: layers.LogLevel = None,
    public_url: layers.PublicUrl = None,
    as_json: layers.Json = False,
) -> None:
    """The proxy: agents get structured errors, everybody else gets what the site sent, byte for byte.

    Before one site, in front of port 3000, reachable on port 8080 of every address:

        saywhy serve --upstream http://127.0.0.1:3000 --listen :8080

    With rules of your own, looked at again whenever they change:

        saywhy serve --upstream http://127.0.0.1:3000 --rules ./my-rules

    With a settings file (saywhy schema settings prints every key; saywhy check finds mistakes):

        saywhy serve --config saywhy.yaml

    On several cores, or with HTTPS for callers (tls.certificate_file and tls.key_file name the files, SAYWHY_TLS__LISTEN or
    tls.listen the address):

        saywhy serve --upstream http://127.0.0.1:3000 --workers 4

    A setting comes from the file, then from SAYWHY_SECTION__KEY in the environment (SAYWHY__LISTEN for the keys at the
    top), then from flags; the last one wins. SIGHUP reloads, SIGTERM drains and ends, SIGINT (Ctrl-C) ends after a second. A second SIGTERM or SIGINT cuts off whatever
    is still in flight; the last line of the log says how much that was.
    """
    from saywhy.serve.starting import before_serving

    before_serving(os.getpid())
    with _absent("charset_normalizer"):
        import bs4  # noqa: F401 - on bytes it would want to guess; here it is given text

    from saywhy.edge.events import style_for
    from saywhy.edge.heap import share_one_arena
    from saywhy.edge.lines import json_gap, queued_stderr, text_gap
    from saywhy.edge.settings import Loaded, load
    from saywhy.serve.app import StartError, run

    share_one_arena()
    given = layers.flags(
        upstream=upstream, listen=listen, admin=admin, workers=workers, rules=rules,
        log_format=log_format, log_level=log_level, public_url=public_url,
    )  # fmt: skip

    def again() -> Loaded:
        return load(config, flags=given)

    loaded = layers.settings(config, given, quiet=True, files=True)  # it tells its doubts in its log
    style = style_for(loaded.settings.log.format, sys.stderr)
    try:
        with queued_stderr(json_gap if style == "json" else text_gap):
            run(loaded, again)
    except StartError as cannot:
        raise Failure(str(cannot), exit_code=2) from None


@contextlib.contextmanager
def _absent(name: str) -> Iterator[None]:
    """Whatever is imported in the block finds no module `name`: for what others take along and a proxy never uses (two
    megabytes of a process). Whoever needs it afterwards imports it as ever.
    """
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
