"""An address at which no scheduler answers, or something else does: one line, soon, and nothing is left running."""

import contextlib
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner
from lazy_modules import import_when_used

from faithkit.cli import main

pytestmark = pytest.mark.slow  # every case is a process, or waits for one

import_when_used("distributed")


@contextlib.contextmanager
def serve(answer):
    """Accept connections, and let `answer` do something with each."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        open_connections = []

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    open_connections.append(connection)
                    answer(connection)

        threading.Thread(target=accept, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    for connection in open_connections:
        connection.close()


def send(data):
    return lambda connection: connection.sendall(data)


@contextlib.contextmanager
def web_server():
    handler = type("Handler", (BaseHTTPRequestHandler,), {"log_message": lambda *arguments: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"tcp://127.0.0.1:{server.server_port}"
        server.shutdown()


ANSWERS = {
    "nobody": lambda: contextlib.nullcontext("tcp://127.0.0.1:9"),
    "an unknown host": lambda: contextlib.nullcontext("tcp://nowhere.invalid:8786"),
    "silence": lambda: serve(lambda connection: None),
    "a web server": web_server,
    "noise": lambda: serve(send(bytes(range(256)))),
    "another protocol": lambda: contextlib.nullcontext("gopher://127.0.0.1:70"),
    "TLS without certificates": lambda: contextlib.nullcontext("tls://127.0.0.1:8786"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_is_no_scheduler_is_told_in_one_line_within_seconds(answer, monkeypatch):
    monkeypatch.setattr("faithkit_executors.dask_cluster.CONNECT_SECONDS", 1)
    with ANSWERS[answer]() as address:
        threads = {*threading.enumerate()}
        began = time.monotonic()
        result = evaluate_on(address)
        assert time.monotonic() - began < 30
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"error: no Dask scheduler answers at {address} (")
        assert result.stderr.endswith(
            "start one with `dask scheduler`, and give the address that it prints, such as tcp://10.0.0.1:8786.\n"
        )
        assert len(result.stderr.splitlines()) == 1
        assert not [
            thread for thread in {*threading.enumerate()} - threads if "process_request" not in thread.name
        ]


def evaluate_on(address):
    arguments = ("evaluate", "--data", "iris", "--model", "tree", "--explainer", "tree")
    return CliRunner().invoke(main, [*arguments, "--executor", f"dask:scheduler={address}"])


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:8786", "tcp://127.0.0.1", "", "tcp://:x"])
def test_what_is_no_address_is_told_at_once(address):
    result = evaluate_on(address)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"error: {address!r} is no address of a Dask scheduler, such as tcp://")
