"""A line of JSON an exchange for mitmdump, whose own log is for people. SAYWHY_BENCH_LOG names the file."""

from __future__ import annotations

import json
import os
from typing import Any, TextIO


class JsonLog:
    """Buffered, a line a response; written out once a second."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.flushed = 0.0

    def response(self, flow: Any) -> None:
        """mitmproxy calls this once a response's head is there, and its body where it is not streamed."""
        request, response, end = flow.request, flow.response, flow.response.timestamp_start
        line = {
            "time": end, "method": request.method, "path": request.path, "status": response.status_code,
            "bytes": response.headers.get("content-length"), "duration": end - request.timestamp_start, "id": flow.id,
        }  # fmt: skip
        self.file.write(json.dumps(line) + "\n")
        if end - self.flushed > 1:
            self.file.flush()
            self.flushed = end


addons = [JsonLog(open(os.environ["SAYWHY_BENCH_LOG"], "a"))]  # noqa: SIM115
