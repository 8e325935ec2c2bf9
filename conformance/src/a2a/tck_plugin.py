"""
A plugin of pytest for the TCK of A2A.

- The TCK sends no login: the plugin adds a bearer.
- It reads the card without its version of the protocol, which the protocol asks of its clients: the plugin adds the version.
- It names the work of the agent in the message id, which no agent of the marketplace gets: the plugin repeats it as the text.
- It has its webhook on any port. The marketplace calls allowed ports alone: the plugin fixes the port.
"""

import copy
import os

import httpx

build_request = httpx.Client.build_request


def with_bearer(self, method, url, **options):
    headers = httpx.Headers(options.pop("headers", None))
    headers["Authorization"] = f"Bearer {os.environ['TCK_BEARER']}"
    if method == "GET":
        headers.setdefault("A2A-Version", "1.0")
    body = copy.deepcopy(options.pop("json", None))
    params = body.get("params") if isinstance(body, dict) else None
    message = params.get("message") if isinstance(params, dict) else None
    if message and message.get("messageId"):
        for part in message.get("parts") or []:
            if "text" in part:
                part["text"] = message["messageId"]
    return build_request(self, method, url, headers=headers, json=body, **options)


httpx.Client.build_request = with_bearer


def pytest_configure(config):
    from tck.webhook import server

    class OnPort(server.HTTPServer):
        def __init__(self, address, handler):
            super().__init__((address[0], int(os.environ["TCK_WEBHOOK_PORT"])), handler)

    server.HTTPServer = OnPort
