"""A server of chat completions on this machine, that plays what real ones do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], str]
"""Status, headers, body."""


def completion(content: Any = "neutral", finish: str = "stop", **message: Any) -> Answer:
    body = {
        "id": "x",
        "object": "chat.completion",
        "model": "stub-1",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    }
    return 200, {}, json.dumps(body)


def failure(status: int, message: str = "no", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, json.dumps({"error": {"message": message}})


@dataclass
class Stub:
    """What a server was sent."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0


@contextmanager
def serving(answer: Callable[[int, dict[str, Any], dict[str, str]], Answer]) -> Iterator[Stub]:
    """Serve; ``answer`` is given the number of the call from 0, its body and its headers."""
    stub, lock, under_way = Stub(), threading.Lock(), 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            nonlocal under_way
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with lock:
                number = len(stub.bodies)
                stub.bodies.append(body)
                stub.headers.append(headers)
                under_way += 1
                stub.most_at_once = max(stub.most_at_once, under_way)
            status, extra, text = answer(number, body, headers)
            with lock:
                under_way -= 1
            content = text.encode()
            try:
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **extra}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):  # the client has given up
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
