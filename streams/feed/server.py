"""The server of the feed: where it may listen, and how it ends."""

import socket

import uvicorn
from fastapi import FastAPI

from streams.feed.gate import check_bind

STOP_SECONDS = 5


class FeedServer(uvicorn.Server):
    """Ends the open streams first: a stream has no end of its own, and the server would wait for it.

    Args:
        app: as made by `create_app`.
        host: where to listen; other machines only with a token.
        token: the one given to `create_app`.

    Raises:
        OpenToEveryone: it would listen to other machines without a token.
    """

    def __init__(self, app: FastAPI, host: str, port: int, token: str | None = None) -> None:
        check_bind(host, token)
        self._closing = app.state.closing
        super().__init__(
            uvicorn.Config(
                app,
                host,
                port,
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let the streams end, answer what was begun, stop."""
        self._closing.set()
        await super().shutdown(sockets)


def address(server: uvicorn.Server) -> str:
    """Give the address of a server that listens."""
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    return f"http://{host}:{port}"
