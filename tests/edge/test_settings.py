"""Settings: layers and their order, origins, and every mistake as one sentence with place, key and remedy."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from saywhy.core.policy import Policy
from saywhy.edge.settings import SettingsError, load, parse_address, to_routes
from saywhy.edge.settings.reference import json_schema, markdown, rows
from saywhy.edge.settings.sections import Settings

SITE = {"SAYWHY_UPSTREAMS__DEFAULT": "http://127.0.0.1:3000"}


def mistakes(environ: Mapping[str, str], file: Path | None = None) -> list[str]:
    """What is said about these settings, a line each."""
    with pytest.raises(SettingsError) as wrong:
        load(file, environ=environ)
    return str(wrong.value).splitlines()


def written(folder: Path, text: str) -> Path:
    """A settings file with this text."""
    file = folder / "saywhy.yaml"
    file.write_text(text)
    return file


def test_without_anything_all_is_default() -> None:
    loaded = load(environ={})
    assert loaded.settings == Settings()
    assert loaded.settings.listen == ("127.0.0.1:8080",)
    assert {origin for _, _, origin in loaded.effective()} == {"default"}


def test_the_later_layer_wins_and_every_value_knows_its_origin(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "listen: 127.0.0.1:1\nadmin: 127.0.0.1:2\nlimits:\n  head_bytes: 2000\n  line_bytes: 1000\nupstreams:\n  default: http://a\n",
    )
    environ = {"SAYWHY__ADMIN": "127.0.0.1:3", "SAYWHY_LIMITS__LINE_BYTES": "3000"}
    flags: Any = {("upstreams", "default", "url"): ("--upstream", "http://b")}
    loaded = load(file, environ=environ, flags=flags)
    known = {key: (value, origin) for key, value, origin in loaded.effective()}
    assert known["listen"] == (["127.0.0.1:1"], f"{file}:1")
    assert known["admin"] == ("127.0.0.1:3", "SAYWHY__ADMIN")
    assert known["limits.head_bytes"] == (2000, f"{file}:4")
    assert known["limits.line_bytes"] == (3000, "SAYWHY_LIMITS__LINE_BYTES")
    assert known["upstreams.default.url"] == ("http://b", "--upstream")
    assert known["limits.fields_count"] == (200, "default")


def test_names_without_two_underscores_are_somebody_elses() -> None:
    environ = {
        "SAYWHY_PORT": "tcp://10.0.0.1:80",
        "SAYWHY_SERVICE_HOST": "10.0.0.1",
        "SAYWHY_PORT_80_TCP": "x",
        "OTHER__X": "1",
    }
    loaded = load(environ=environ)
    assert (loaded.settings, loaded.doubts) == (Settings(), ())


NEARLY = [
    # what stands in the environment, what should
    ("SAYWHY_LISTEN", "SAYWHY__LISTEN"),
    ("SAYWHY_PUBLIC_URL", "SAYWHY__PUBLIC_URL"),
    ("SAYWHY_LOG_LEVEL", "SAYWHY_LOG__LEVEL"),
    ("SAYWHY_LOGLEVEL", "SAYWHY_LOG__LEVEL"),
    ("SAYWHY_LIMITS_HELD_BODY_BYTES", "SAYWHY_LIMITS__HELD_BODY_BYTES"),
    ("SAYWHY_UPSTREAM", "SAYWHY_UPSTREAMS__DEFAULT"),
    ("SAYWHY_UPSTREAMS_DEFAULT", "SAYWHY_UPSTREAMS__DEFAULT"),
]


@pytest.mark.parametrize(("wrong", "right"), NEARLY)
def test_a_name_that_is_nearly_a_setting_is_doubted_and_not_read(wrong: str, right: str) -> None:
    loaded = load(environ={wrong: "error"})
    assert loaded.settings == Settings()
    assert [str(one) for one in loaded.doubts] == [
        f"{wrong}: is not read, it has single underscores; write {right}."
    ]


def test_mistakes_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = (
        "limits:\n  nonsense: 1\n  head_bytes: few\nadmin: nowhere\nroutes:\n  - {mode: on}\nlisten: here\n"
    )
    file = written(tmp_path, text)
    said = mistakes({"SAYWHY_LOG__LEVEL": "loud"}, file)
    assert [line.partition(": ")[0] for line in said] == [
        *(f"{file}:{number}" for number in (2, 3, 4, 6, 7)),
        "SAYWHY_LOG__LEVEL",
    ]


WRONG_VALUES: list[Any] = [
    None,
    5,
    -1,
    1.5,
    "x",
    "",
    True,
    [],
    [1],
    [None],
    {},
    {"a": 1},
    [[1]],
    "x" * 5000,
    float("inf"),
    10**30,
    {"a": [1]},
]
LIBRARYS_WORDS = re.compile(
    r"Input should|Value error|String should|a valid |Extra inputs|Field required|greater than or"
)


@pytest.mark.parametrize(
    "name", [*(row.name for row in rows()), "upstreams", "routes", "rules", "limits", "log"]
)
def test_no_message_speaks_the_words_of_a_library(tmp_path: Path, name: str) -> None:
    said = []
    for value in WRONG_VALUES:
        for step in reversed(name.replace("<name>", "site").split(".")):
            value = {step.removesuffix("[]"): [value] if step.endswith("[]") else value}
        file = written(tmp_path, json.dumps(value))
        try:
            load(file, environ={})
        except SettingsError as wrong:
            said.append(str(wrong))
    assert len(said) >= 3
    assert not LIBRARYS_WORDS.search("\n".join(said))


@pytest.mark.parametrize(
    ("name", "text", "path", "value"),
    [
        ("SAYWHY__LISTEN", ":80, [::1]:81", "listen", (":80", "[::1]:81")),
        ("SAYWHY__ADMIN", "", "admin", ""),
        ("SAYWHY__ADMIN", "off", "admin", ""),
        (
            "SAYWHY_FORWARDING__TRUSTED_PROXIES",
            "10.0.0.0/8,fd00::/8,unix",
            "forwarding.trusted_proxies",
            ("10.0.0.0/8", "fd00::/8", "unix"),
        ),
        ("SAYWHY_FORWARDING__VIA", "true", "forwarding.via", True),
        ("SAYWHY_DEADLINES__CONNECT_SECONDS", "0.5", "deadlines.connect_seconds", 0.5),
        ("SAYWHY_RULES__SHIPPED", "false", "rules.shipped", False),
        ("SAYWHY_RULES__DISABLE", '["a/b", "c/d"]', "rules.disable", ("a/b", "c/d")),
        ("SAYWHY_RULES__FOLDERS", "x, /y", "rules.folders", (Path("x"), Path("/y"))),
        ("SAYWHY__LISTEN", "[::1]:80", "listen", ("[::1]:80",)),
    ],
)
def test_the_environment(name: str, text: str, path: str, value: object) -> None:
    found: Any = load(environ={name: text}).settings
    for step in path.split("."):
        found = getattr(found, step)
    assert found == value


MISTAKES = [
    ("SAYWHY_LIMITS__HEAD_BYTE", "1024", "SAYWHY_LIMITS__HEAD_BYTE: limits.head_byte is not a setting; did you mean head_bytes?"),
    ("SAYWHY_LIMTS__HEAD_BYTES", "1024", "SAYWHY_LIMTS__HEAD_BYTES: limts is not a setting; did you mean limits?"),
    ("SAYWHY__HEAD_BYTES", "1", "SAYWHY__HEAD_BYTES: head_bytes is not a setting here; did you mean limits.head_bytes?"),
    ("SAYWHY_LIMITS__HEAD_BYTES", "-1", "SAYWHY_LIMITS__HEAD_BYTES: limits.head_bytes is '-1'; it must be at least 1024."),
    ("SAYWHY_LIMITS__HEAD_BYTES", "many", "SAYWHY_LIMITS__HEAD_BYTES: limits.head_bytes is 'many'; it must be a whole number."),
    ("SAYWHY_DEADLINES__IDLE_SECONDS", "x", "SAYWHY_DEADLINES__IDLE_SECONDS: deadlines.idle_seconds is 'x'; it must be a number."),
    ("SAYWHY_FORWARDING__VIA", "x", "SAYWHY_FORWARDING__VIA: forwarding.via is 'x'; it must be true or false."),
    ("SAYWHY__LIMITS", "5", "SAYWHY__LIMITS: limits is '5'; it must be a mapping of keys to values."),
    ("SAYWHY_LOG__FORMAT", "jsn", "SAYWHY_LOG__FORMAT: log.format is 'jsn'; it must be one of auto, json, text; did you mean json?"),
    ("SAYWHY_X__", "1", "SAYWHY_X__: is not a setting; write SAYWHY_SECTION__KEY."),
    ("SAYWHY__ROUTES", '{"a', "SAYWHY__ROUTES: routes begins like JSON and is none; check its quotes."),
    ("SAYWHY__PUBLIC_URL", "shop", "SAYWHY__PUBLIC_URL: public_url is 'shop': it must be an absolute URL; write https://shop.example."),
    ("SAYWHY__LISTEN", "", "SAYWHY__LISTEN: listen is off, and so is tls.listen: nobody could come in; write 127.0.0.1:8080."),
    (
        "SAYWHY_FORWARDING__TRUSTED_PROXIES", "10/8",
        "SAYWHY_FORWARDING__TRUSTED_PROXIES: forwarding.trusted_proxies is '10/8': '10/8' is no address or network; write 10.0.0.0/8, 192.0.2.7, fd00::/8 or unix.",
    ),
    ("SAYWHY__LIMITS", '{"fields_count": true}', "SAYWHY__LIMITS: limits.fields_count is True; it must be a whole number."),
    ("SAYWHY__DEADLINES", '{"drain_seconds": false}', "SAYWHY__DEADLINES: deadlines.drain_seconds is False; it must be a number."),
    ("SAYWHY__UPSTREAMS", '{"a": {"url": "https://a", "breaker_failures": true}}', "SAYWHY__UPSTREAMS: upstreams.a.breaker_failures is True; it must be a whole number."),
    ("SAYWHY__ROUTES", '[{"mode": "of"}]', "SAYWHY__ROUTES: routes[0].mode is 'of'; it must be one of enforce, shadow, off; did you mean off?"),
    ("SAYWHY__ROUTES", '[{"hosts": "x"}]', "SAYWHY__ROUTES: routes[0].hosts is not a setting; did you mean host?"),
    ("SAYWHY__ROUTES", '[{"upstream": "defalt"}]', "SAYWHY__ROUTES: routes[0].upstream is 'defalt', which is not among upstreams; did you mean default?"),
    ("SAYWHY__ROUTES", '[{}, {"path": "/x"}]', "SAYWHY__ROUTES: routes[1] can never be reached: routes[0] matches everything; move it up."),
    ("SAYWHY__LISTEN", "28001", "SAYWHY__LISTEN: listen is '28001': it is a port alone; write :28001 (every address) or 127.0.0.1:28001."),
    ("SAYWHY__ADMIN", "127.0.0.1:8080", "SAYWHY__ADMIN: admin is 127.0.0.1:8080, and listen has it too; give listen or admin another."),
    ("SAYWHY__LISTEN", ":9180", "SAYWHY__LISTEN: admin is 127.0.0.1:9180, and listen has :9180; give listen or admin another."),
    ("SAYWHY__LISTEN", "unix:/a,unix:/b,unix:/a", "SAYWHY__LISTEN: listen is unix:/a, and listen has it too; write it once."),
    (
        "SAYWHY__TLS", '{"listen": "localhost:8080", "certificate_file": "x"}',
        "SAYWHY__TLS: tls.listen is localhost:8080, and listen has 127.0.0.1:8080; give listen or tls.listen another.",
    ),
    ("SAYWHY_TLS__LISTEN", ":8443", "SAYWHY_TLS__LISTEN: tls.certificate_file is missing: HTTPS needs a certificate; name its file (and tls.key_file)."),
    (
        "SAYWHY_TLS__CERTIFICATE_FILE", "x",
        "SAYWHY_TLS__CERTIFICATE_FILE: tls.certificate_file is given, and no HTTPS is served: add tls.listen, such as 0.0.0.0:8443, or write it as off.",
    ),
    ("SAYWHY_TLS__MINIMUM_VERSION", "1.1", "SAYWHY_TLS__MINIMUM_VERSION: tls.minimum_version is '1.1': write 1.2 or 1.3; what came before is broken (RFC 8996)."),
    ("SAYWHY_UPSTREAMS__DEFAULT__DNS_SECONDS", "-1", "SAYWHY_UPSTREAMS__DEFAULT__DNS_SECONDS: upstreams.default.dns_seconds is '-1'; it must be more than 0."),
    ("SAYWHY_LIMITS__UNSENT_BYTES_BUDGET", "1", "SAYWHY_LIMITS__UNSENT_BYTES_BUDGET: limits.unsent_bytes_budget is '1'; it must be at least 1048576."),
    ("SAYWHY_DEADLINES__IDLE_SECONDS", "inf", "SAYWHY_DEADLINES__IDLE_SECONDS: deadlines.idle_seconds is 'inf'; it must be a number."),
    ("SAYWHY__UPSTREAMS", '{"W w": "http://x"}', "SAYWHY__UPSTREAMS: upstreams.\"W w\" cannot be an upstream's name; use letters, digits, dots and dashes, at most 63."),
    ("SAYWHY__PUBLIC_URL", '{"a": 1}', "SAYWHY__PUBLIC_URL: public_url is a mapping; it must be a text."),
    (
        "SAYWHY__UPSTREAMS", '{"a": "http://x", "b": "http://y"}',
        "SAYWHY__UPSTREAMS: upstreams are a, b, and nothing says which of them gets what: add routes, or call one of them default.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), MISTAKES, ids=[f"{row[0]}={row[1]}" for row in MISTAKES])
def test_a_mistake_is_a_sentence(name: str, text: str, said: str) -> None:
    assert mistakes({**SITE, name: text}) == [said]


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "ftp://x",
        "http://",
        "http://x/path",
        "http://x?q",
        "http://x:99999",
        "http://x:y",
        "http://[::1",
        "unix:relative",
        "",
    ],
)
def test_an_upstream_that_is_none(url: str) -> None:
    (said,) = mistakes({"SAYWHY_UPSTREAMS__SHOP": url})
    assert said.startswith(f"SAYWHY_UPSTREAMS__SHOP: upstreams.shop.url is {url!r}: ")


@pytest.mark.parametrize(
    "url", ["http://x", "https://x:1", "http://[::1]:3000/", "unix:/run/x.sock", "http://127.0.0.1"]
)
def test_an_upstream_that_is_one(url: str) -> None:
    assert load(environ={"SAYWHY_UPSTREAMS__SHOP": url}).settings.upstreams["shop"].url == url.rstrip("/")


def test_a_password_in_an_upstream_is_refused_and_not_repeated() -> None:
    (said,) = mistakes({"SAYWHY_UPSTREAMS__SHOP": "http://ann:open-sesame@x"})
    assert "credentials" in said
    assert "sesame" not in said


@pytest.mark.parametrize("name", ["a b", "x" * 64, "", 'a"b', "-a"])
def test_an_upstream_name_that_would_need_quoting(name: str) -> None:
    (said,) = mistakes({"SAYWHY__UPSTREAMS": json.dumps({name: "http://x"})})
    assert "cannot be an upstream's name" in said


def test_every_mistake_of_a_file_with_its_line(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "upstreams:\n  default: http://a\nlimits:\n  head_bytes: 12\n  head_byts: 1\nroutes:\n  - path: /x\n    mode: off\n  - pth: /y\nadmin: nowhere\n",
    )
    assert sorted(mistakes({}, file)) == [
        f"{file}:10: admin is 'nowhere': it has no port; write 127.0.0.1:8080, [::1]:8080, :8080 or unix:/path.",
        f"{file}:4: limits.head_bytes is 12; it must be at least 1024.",
        f"{file}:5: limits.head_byts is not a setting; did you mean head_bytes?",
        f"{file}:9: routes[1].pth is not a setting; did you mean path?",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "limits: [1, 2\n",
        "- just\n- a list\n",
        "x: !!python/object/apply:os.system ['true']\n",
        "just words\n",
        "a: 1\na: 2\n",
        "\x00",
    ],
)
def test_a_file_that_is_no_settings_file(tmp_path: Path, text: str) -> None:
    file = written(tmp_path, text)
    assert str(file) in " ".join(mistakes({}, file))


def test_a_file_that_is_not_there_and_one_that_is_empty(tmp_path: Path) -> None:
    assert mistakes({}, tmp_path / "nowhere.yaml") == [
        f"{tmp_path}/nowhere.yaml: cannot be read (no such file or directory); check the path and who may read it."
    ]
    assert load(written(tmp_path, "# nothing yet\n"), environ={}).settings == Settings()


def test_rule_folders_of_a_file_are_beside_it_and_those_of_a_flag_are_not(tmp_path: Path) -> None:
    file = written(tmp_path, "rules:\n  folders: [mine, /abs]\n")
    assert load(file, environ={}).settings.rules.folders == (tmp_path / "mine", Path("/abs"))
    flags: Any = {("rules", "folders"): ("--rules", [Path("mine")])}
    assert load(file, environ={}, flags=flags).settings.rules.folders == (Path("mine"),)


def test_off_without_quotes_is_the_word(tmp_path: Path) -> None:
    file = written(
        tmp_path, "upstreams: {default: http://a}\nadmin: off\nroutes:\n  - {mode: off, scrub: off}\n"
    )
    settings = load(file, environ={}).settings
    assert (settings.routes[0].mode, settings.routes[0].scrub, settings.admin) == ("off", "off", "")


ADDRESSES = [
    ("127.0.0.1:8080", ("127.0.0.1", 8080, "")),
    ("[::1]:8080", ("::1", 8080, "")),
    (":8080", (None, 8080, "")),
    ("*:8080", (None, 8080, "")),
    ("shop.internal:0", ("shop.internal", 0, "")),
    ("unix:/run/saywhy.sock", (None, 0, "/run/saywhy.sock")),
]


@pytest.mark.parametrize(("text", "parts"), ADDRESSES)
def test_an_address(text: str, parts: tuple[str | None, int, str]) -> None:
    address = parse_address(text)
    assert address == parts
    assert parse_address(address.shown) == parts


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", ":::80", "::1:80", "[::g]:80", "x:http", "http://x:80",
     "unix:x", "unix:", "unix:/" + "x" * 107, "a b:80", " :80", "u@h:80", "x:-1", "x:٣"],
)  # fmt: skip
def test_no_address(text: str) -> None:
    with pytest.raises(ValueError, match=r"write|at most 107"):
        parse_address(text)


ROUTES = [
    # upstreams, routes -> (host, path) -> upstream
    ({"default": "http://a"}, [], {("x", "/"): "default"}),
    ({"shop": "http://a"}, [], {("x", "/"): "shop"}),
    (
        {"a": "http://a", "b": "http://b"},
        [{"host": "A.example", "upstream": "a"}],
        {("a.example", "/"): "a", ("b", "/"): None},
    ),
    (
        {"a": "http://a", "default": "http://b"},
        [{"path": "/api/*", "upstream": "a"}],
        {("x", "/api/1"): "a", ("x", "/"): "default"},
    ),
    ({"a": "http://a"}, [{"host": ["x", "y"]}], {("y", "/"): "a", ("z", "/"): "a"}),
]


@pytest.mark.parametrize(("upstreams", "routes", "expected"), ROUTES)
def test_routes(
    upstreams: dict[str, str], routes: list[Any], expected: dict[tuple[str, str], str | None]
) -> None:
    environ = {"SAYWHY__UPSTREAMS": json.dumps(upstreams), "SAYWHY__ROUTES": json.dumps(routes)}
    made = to_routes(load(environ=environ).settings)
    for (host, path), upstream in expected.items():
        picked = made.pick(host, path)
        assert (picked.upstream if picked else None) == upstream


UNMATCHED = [
    # a glob of the route, what to write instead
    ("host", "https://a.example:443", "a.example"),
    ("host", "a.example:443", "a.example"),
    ("host", "a.example:*", "a.example"),
    ("host", "*.a.example/", "*.a.example"),
    ("host", "::1", "[::1]"),
    ("host", "http://[::1]:80/x", "[::1]"),
    ("host", "a b", "a host name such as"),
    ("path", "api", "/api"),
    ("path", "api/*", "/api/*"),
    ("path", "https://a.example/x", "/x"),
    ("path", "https://a.example", "/"),
    ("passthrough_paths", "metrics", "/metrics"),
]


@pytest.mark.parametrize(("key", "glob", "instead"), UNMATCHED)
def test_a_glob_that_can_never_match(key: str, glob: str, instead: str) -> None:
    (said,) = mistakes({**SITE, "SAYWHY__ROUTES": json.dumps([{key: ["*x", glob]}])})
    assert said.startswith(f"SAYWHY__ROUTES: routes[0].{key} has {glob!r}, which can never match: ")
    assert f"write {instead}" in said


@pytest.mark.parametrize(
    "host",
    [
        "a.example",
        "A.example.",
        "*",
        "*.a.example",
        "[::1]",
        "[2001:db8::*]",
        "?.a",
        "10.0.0.1",
        "bücher.example",
    ],
)
@pytest.mark.parametrize("path", ["/", "*", "*.php", "/a:b", "?api", "[/]x", "/a b"])
def test_a_glob_that_may_match(host: str, path: str) -> None:
    assert load(environ={**SITE, "SAYWHY__ROUTES": json.dumps([{"host": [host], "path": [path]}])})


BESIDE = [
    ("127.0.0.1:1", "127.0.0.1:1", True),
    ("127.0.0.1:1", "127.0.0.1:2", False),
    ("127.0.0.1:1", "127.0.0.2:1", False),
    ("127.0.0.1:1", "[::1]:1", False),
    ("127.0.0.1:0", "127.0.0.1:0", False),
    (":1", "127.0.0.1:1", True),
    (":1", "[::1]:1", True),
    (":1", "shop.internal:1", True),
    ("0.0.0.0:1", "127.0.0.1:1", True),
    ("0.0.0.0:1", "[::1]:1", False),
    ("0.0.0.0:1", "[::]:1", False),
    ("[::]:1", "[::1]:1", True),
    ("localhost:1", "[::1]:1", True),
    ("[::1]:1", "[0:0::1]:1", True),
    ("Shop.internal:1", "shop.internal:1", True),
    ("shop.internal:1", "127.0.0.1:1", False),
    ("unix:/a", "unix:/a", True),
    ("unix:/a", ":1", False),
]


@pytest.mark.parametrize(("one", "other", "collide"), BESIDE)
def test_addresses_that_cannot_both_be_listened_on(one: str, other: str, collide: bool) -> None:
    assert parse_address(one).collides(parse_address(other)) is collide
    assert parse_address(other).collides(parse_address(one)) is collide


IN_ONE_GO = [
    # a file, and the beginnings of what is said about it
    (
        "limts: {head_bytes: 1}\nupstreams: {a: 'http://x'}\nroutes: [{upstream: b}]\n",
        ["limts is not a setting; did you mean limits?", "limits.head_bytes is 1;", "routes[0].upstream is 'b', which is not among"],
    ),
    ("lisen: 8080\nupstream: {a: 'http://x'}\nroutes: [{upstream: a}]\n", ["lisen is not", "listen is 8080: it is a port alone", "upstream is not"]),
    ("upstreams: {a: nonsense, b: 'http://x'}\nroutes: [{upstream: a}, {upstream: c}]\n", ["upstreams.a.url is 'nonsense'", "routes[1] can never", "routes[1].upstream is 'c'"]),
    ("upstreams: {a: 'http://x', b: 'http://y'}\nroutes: [{upstream: a, mode: on}, {upstream: b}]\n", ["routes[0].mode is 'on'"]),
    ("upstreams: {a: 'http://x', b: 'http://y'}\nroutes: 5\n", ["routes is 5;"]),
    ("upstreams: {a: 'http://x', b: 'http://y'}\nrotues: [{upstream: a}]\n", ["rotues is not a setting; did you mean routes?"]),
    ("upstreams: {'W w': 'http://x'}\nroutes: [{upstream: W w}]\n", ["upstreams.\"W w\" cannot be"]),
    ("listen: nowhere\nadmin: 127.0.0.1:8080\nupstreams: {default: 'http://x'}\n", ["listen is 'nowhere'"]),
    ("upstreams: {default: 'http://x'}\ntls: {listen: ':x', certificate_file: a.pem, kyefile: b}\n", ["tls.listen is ':x'", "tls.kyefile is not a setting; did you mean key_file?"]),
    ("upstreams: {default: 'http://x'}\ntls: {liste: ':8443', certificate_file: a.pem}\n", ["tls.liste is not a setting; did you mean listen?"]),
    ("log: {level: loud}\nadmin: ':8080'\nupstreams: {default: 'http://x'}\n", ["log.level is 'loud'", "admin is :8080, and listen has"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "beginnings"), IN_ONE_GO)
def test_one_mistake_hides_no_other_and_makes_none(tmp_path: Path, text: str, beginnings: list[str]) -> None:
    said = [line.partition(": ")[2] for line in mistakes({}, written(tmp_path, text))]
    assert len(said) == len(beginnings), said
    for beginning in beginnings:
        assert any(line.startswith(beginning) for line in said), said


def test_https_that_is_switched_off_by_its_word_may_keep_its_files() -> None:
    environ = {**SITE, "SAYWHY_TLS__CERTIFICATE_FILE": "/x", "SAYWHY_TLS__LISTEN": "off"}
    assert load(environ=environ).settings.tls.listen == ()


def test_a_port_alone_in_a_file_is_a_number_and_is_told_the_same(tmp_path: Path) -> None:
    file = written(tmp_path, "listen: 8080\nadmin: 9180\n")
    first, second = mistakes(SITE, file)
    assert first.endswith(
        "1: listen is 8080: it is a port alone; write :8080 (every address) or 127.0.0.1:8080."
    )
    assert second.endswith("write :9180 (every address) or 127.0.0.1:9180.")


def test_a_route_may_say_everything_that_a_policy_knows() -> None:
    from saywhy.edge.settings.sections import Route

    assert set(Route.model_fields) == set(Policy.__dataclass_fields__) - {"public_url", "edge_safe_status"}
    environ = {**SITE, "SAYWHY__PUBLIC_URL": "https://shop.example/", "SAYWHY_RULES__PACKS": "captcha,login",
               "SAYWHY__ROUTES": '[{"path": "/a", "packs": "login", "callers": "everyone", "useragents": true}, {"path": "/b"}]'}  # fmt: skip
    first, second, last = to_routes(load(environ=environ).settings).routes
    assert (first.packs, first.callers, first.useragents, first.public_url) == (
        ("login",),
        "everyone",
        True,
        "https://shop.example",
    )
    assert second.packs == ("captcha", "login")  # rules.packs
    assert last == Policy(public_url="https://shop.example", packs=("captcha", "login"))


def test_the_reference_has_a_row_a_setting_and_each_says_why() -> None:
    named = {row.name: row for row in rows()}
    for key, _, _ in load(environ=SITE).effective():
        row = key.replace("upstreams.default.", "upstreams.<name>.")
        assert row in named or key == "routes", key
    assert all(row.why.endswith(".") for row in named.values())
    assert named["limits.head_bytes"].unit == "bytes"
    assert named["deadlines.drain_seconds"][1:3] == ("s", "2")
    assert len(markdown().splitlines()) == len(named) + 2


def test_every_number_has_its_unit_in_the_reference() -> None:
    numbers = [row for row in rows() if row.default.replace(".", "").isdigit()]
    assert [row.name for row in numbers if not row.unit] == []


def test_the_schema_takes_what_load_takes() -> None:
    import jsonschema

    validator = jsonschema.Draft202012Validator(json_schema())
    assert validator.is_valid({"upstreams": {"a": {"url": "http://x"}}, "limits": {"head_bytes": 2000}})
    assert not validator.is_valid({"limits": {"hed_bytes": 2000}})
    assert not validator.is_valid({"limits": {"head_bytes": 20}})
