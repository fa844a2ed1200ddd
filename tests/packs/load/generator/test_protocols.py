import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.server import ServerProtocol

from deadzone_load.generator.protocols import (
    FrameReader,
    GarbageError,
    ResponseReader,
    UpgradeRefusedError,
    escaped,
    read_frame,
    request,
    text_frame,
    write_frame,
)

RESPONSES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: "
    b"Chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
]


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("pieces", [1, 2, 7, 1_000])
def test_a_response_is_complete_at_its_last_byte_however_it_is_cut(response, pieces):
    reader = ResponseReader()
    for _ in range(2):
        cuts = range(0, len(response), pieces)
        complete = [reader.feed(response[at : at + pieces]) for at in cuts]
        assert complete == [False] * (len(complete) - 1) + [True]
        assert reader.status in (200, 201, 204)
        assert reader.keeps_open


def test_a_response_without_a_length_ends_with_the_connection():
    reader = ResponseReader()
    assert not reader.feed(b"HTTP/1.1 200 OK\r\n\r\nhello")
    assert reader.closed()
    assert not reader.keeps_open


@pytest.mark.parametrize(
    "data",
    [b"220 mail ESMTP\r\n", b"HTTP/1.1 abc\r\n\r\n",
     b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n", b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"HTTP/1." + b"x" * 70_000],
)  # fmt: skip
def test_what_is_no_response_is_garbage(data):
    with pytest.raises(GarbageError):
        ResponseReader().feed(data)


@given(st.binary(max_size=300))
def test_no_bytes_do_more_harm_than_to_be_garbage(data):
    for feed in (ResponseReader().feed, asking().feed, upgraded().feed, read_frame):
        with contextlib.suppress(GarbageError, UpgradeRefusedError):
            feed(data)


def test_a_request_with_a_body_tells_its_length():
    assert request("POST", "/a?b", "h:1", {"X": "y"}, b"body") == (
        b"POST /a?b HTTP/1.1\r\nHost: h:1\r\nX: y\r\nContent-Length: 4\r\n\r\nbody"
    )


def asking() -> FrameReader:
    return FrameReader("ws://localhost/chat", {"X-Token": "1"}, "v12.stomp")


def agreed(reader: FrameReader) -> ServerProtocol:
    """Another implementation, which has agreed to what a reader asked for."""
    server = ServerProtocol(subprotocols=["v12.stomp"])
    server.receive_data(b"".join(reader.answers))
    server.send_response(server.accept(server.events_received()[0]))
    reader.answers.clear()
    assert reader.feed(b"".join(server.data_to_send())) == []
    assert reader.is_upgraded
    return server


def upgraded() -> FrameReader:
    reader = asking()
    agreed(reader)
    return reader


@pytest.mark.parametrize("length", [0, 1, 125, 126, 65_535, 65_536])
def test_frames_of_every_length_are_understood_by_another_implementation(length):
    reader = asking()
    server = agreed(reader)
    server.receive_data(text_frame(b"a" * length))
    assert bytes(server.events_received()[0].data) == b"a" * length
    server.send_text(b"b" * length)
    assert reader.feed(b"".join(server.data_to_send())) == [b"b" * length]


def test_fragments_become_one_message_and_a_ping_is_answered_in_between():
    reader = upgraded()
    frames = (
        Frame(Opcode.TEXT, b"he", fin=False),
        Frame(Opcode.PING, b"?"),
        Frame(Opcode.CONT, b"llo"),
    )
    data = b"".join(frame.serialize(mask=False) for frame in frames)
    assert [message for byte in data for message in reader.feed(bytes((byte,)))] == [b"hello"]
    assert len(reader.answers) == 1


def test_a_server_that_closes_is_answered():
    reader = upgraded()
    reader.feed(Frame(Opcode.CLOSE, b"\x03\xe8bye").serialize(mask=False))
    assert reader.is_closed
    assert reader.answers


@pytest.mark.parametrize(
    "data", [b"\xf1\x00", b"\x81\x81aaaab", b"\x83\x00", b"\x81\x7f" + b"\xff" * 8]
)
def test_frames_that_no_server_may_send_are_garbage(data):
    with pytest.raises(GarbageError):
        upgraded().feed(data)


def test_an_upgrade_that_is_declined_tells_the_status():
    with pytest.raises(UpgradeRefusedError) as refused:
        asking().feed(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
    assert refused.value.args == (403,)
    with pytest.raises(GarbageError):
        asking().feed(b"HTTP/1.1 101 Yes\r\nSec-WebSocket-Accept: y\r\n\r\n")


def test_a_stomp_frame_is_headers_and_a_null_byte():
    assert write_frame("SEND", {"destination": "/a:b"}) == b"SEND\ndestination:/a\\cb\n\n\0"
    assert write_frame("CONNECT", {"host": "a:b"}) == b"CONNECT\nhost:a:b\n\n\0"
    assert escaped("a\nb\\") == "a\\nb\\\\"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_message_of_a_stomp_server_is_read(end):
    lines = (b"MESSAGE", b"destination:/topic/a", b"subscription:0", b"", b"hello\0\n")
    assert read_frame(end.join(lines)) == (b"MESSAGE", b"hello")


def test_a_heart_beat_is_no_frame_and_an_unknown_command_is_garbage():
    assert read_frame(b"\n") is None
    with pytest.raises(GarbageError):
        read_frame(b"HELLO\n\n\0")


def test_a_path_in_other_letters_is_asked_for_as_it_is_written():
    made = request("GET", "/검색?q=한글&x=%20", "h", {}, b"")
    assert made.startswith(b"GET /%EA%B2%80%EC%83%89?q=%ED%95%9C%EA%B8%80&x=%20 HTTP/1.1\r\n")
