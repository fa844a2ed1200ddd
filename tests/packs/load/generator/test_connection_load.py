import socket

from servers import refusing_port


def test_a_spike_that_is_taken_has_connect_times_and_no_failure(websocket_server, generate):
    spike = {"mode": "spike", "connection_rate": 200, "duration_s": 1, "hold_s": 0.2}
    told = generate(websocket_server(), protocol="websocket", **spike)
    assert told.failure is None
    assert told.responses["connections"] == told.responses["connections_held"] == 200
    assert told.responses["connect_failed_percent"] == told.responses["server_died"] == 0
    assert 0 < told.responses["connect_p50_ms"] <= told.responses["connect_max_ms"]
    assert sum(count for metric, _, _, count, _ in told.slices if metric == "connect_us") == 200


def test_a_spike_of_http_counts_a_connection_when_its_first_request_is_answered(
    http_server, generate
):
    told = generate(http_server(), mode="spike", connection_rate=100, duration_s=0.5, hold_s=0.1)
    assert told.responses["connections"] == 50


def test_a_spike_at_a_server_that_hangs_up_fails_by_its_share(http_server, generate):
    told = generate(
        http_server("closes"), mode="spike", connection_rate=50, duration_s=0.5, hold_s=0.1
    )
    assert told.responses["connect_failed_percent"] == 100
    assert "no connection opened" in told.failure
    assert told.responses["server_died"] == 0


def test_a_ramp_ends_where_the_server_takes_no_more(websocket_server, generate):
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))"
    ramp = {"mode": "ramp", "connection_rate": 200, "connections": 2_000, "timeout_s": 0.6}
    heard = ("/topic/a", "/topic/b")
    told = generate(websocket_server(change=few), protocol="stomp", subscribe=heard, **ramp)
    assert told.failure is None
    assert 30 < told.responses["connections_held"] < 60
    assert told.responses["connect_errors"] >= 20


def test_a_ramp_that_reaches_its_end_holds_all_its_connections(websocket_server, generate):
    ramp = {"mode": "ramp", "connection_rate": 200, "connections": 60, "hold_s": 0.2}
    told = generate(websocket_server(), protocol="websocket", **ramp)
    assert told.responses["connections_held"] == 60
    assert told.responses["connections_lost"] == 0


def test_more_connections_than_file_descriptors_are_refused_beforehand(generate):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"ws://127.0.0.1:{taken.getsockname()[1]}/"
        few = ("sh", "-c", 'ulimit -n 200; exec "$@"', "sh")
        told = generate(url, few, protocol="websocket", mode="ramp", connections=500)
    assert told.code == 4
    assert "500 connections need more file descriptors than the 200" in told.err


def test_a_ramp_at_a_server_that_is_not_there_says_so(generate):
    with refusing_port() as port:
        url = f"ws://127.0.0.1:{port}/"
        told = generate(url, protocol="websocket", mode="ramp", connections=40, connection_rate=100)
    assert told.responses["server_died"] == 1
    assert "was refused" in told.failure
