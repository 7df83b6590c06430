"""Opening sockets: one port for all addresses and workers, and never one that somebody else serves."""

from __future__ import annotations

import socket
from collections import Counter
from pathlib import Path

import pytest

from saywhy.edge.settings import Settings
from saywhy.serve.listening import StartError, open_listeners


def settings(listen: str, workers: int) -> Settings:
    """Settings with these listeners."""
    return Settings.model_validate({"listen": listen, "workers": workers})


def port_of(url: str) -> int:
    """The port in a listener's URL."""
    return int(url.rpartition(":")[2])


@pytest.mark.parametrize("workers", [1, 3])
def test_every_address_has_the_same_free_port(workers: int) -> None:
    listeners = open_listeners(settings(":0", workers))
    try:
        (url,) = listeners.urls
        assert url == f"http://*:{port_of(url)}"
        families = Counter(sock.family for sock in listeners.all_sockets())
        assert set(families.values()) == {workers}
        assert {sock.getsockname()[1] for sock in listeners.all_sockets()} == {port_of(url)}
        for worker in range(workers):
            assert len(listeners.share(worker)) == len(families)
    finally:
        listeners.close()


def test_connections_are_dealt_out_among_the_workers() -> None:
    listeners = open_listeners(settings("127.0.0.1:0", 2))
    callers = [socket.create_connection(("127.0.0.1", port_of(listeners.urls[0]))) for _ in range(60)]
    counts = []
    for worker in range(2):
        ((sock, _),) = listeners.share(worker)
        count = 0
        while True:
            try:
                sock.accept()[0].close()
            except BlockingIOError:
                break
            count += 1
        counts.append(count)
    listeners.close()
    for one in callers:
        one.close()
    assert sum(counts) == 60
    assert min(counts) > 5


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("others", [1, 2])
def test_a_port_that_others_serve_is_not_joined(workers: int, others: int) -> None:
    first = open_listeners(settings("127.0.0.1:0", others))
    try:
        with pytest.raises(StartError, match=r"\(listen\): it is in use"):
            open_listeners(settings(f"127.0.0.1:{port_of(first.urls[0])}", workers))
    finally:
        first.close()
    open_listeners(settings(f"127.0.0.1:{port_of(first.urls[0])}", workers)).close()


def test_a_unix_socket_that_nobody_serves_is_replaced_and_another_is_not(tmp_path: Path) -> None:
    path = tmp_path / "shop.sock"
    listeners = open_listeners(settings(f"unix:{path}", 2))
    assert len(listeners.all_sockets()) == 1
    with pytest.raises(StartError, match="in use"):
        open_listeners(settings(f"unix:{path}", 1))
    listeners.close()
    assert path.exists()  # as after a crash
    again = open_listeners(settings(f"unix:{path}", 1))
    again.remove_files()
    again.close()
    assert not path.exists()
    path.write_text("a file of somebody's")
    with pytest.raises(StartError, match=r"\(listen\): something that is no socket is there; remove it"):
        open_listeners(settings(f"unix:{path}", 1))
    assert path.read_text() == "a file of somebody's"


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_is_no_socket_is_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "shop.sock"
    path.mkdir() if kind == "folder" else path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(StartError, match="something that is no socket is there; remove it"):
        open_listeners(settings(f"unix:{path}", 1))
    assert path.is_dir() or path.is_symlink()


def test_an_address_of_another_machine(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"none of this machine's; write one that is, or :8080 for all"):
        open_listeners(settings("192.0.2.7:8080", 1))


def test_what_was_opened_is_closed_when_another_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "shop.sock"
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(StartError):
        open_listeners(settings(f"unix:{path},127.0.0.1:{taken.getsockname()[1]}", 2))
    assert not path.exists()
