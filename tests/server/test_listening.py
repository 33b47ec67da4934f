"""Connections of the server."""

from __future__ import annotations

import socket

from everlog.server.http_process import listening_socket


def test_no_answer_waits_until_its_first_piece_is_acknowledged() -> None:
    with listening_socket("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
