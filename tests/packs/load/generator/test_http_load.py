from functools import partial

import pytest
from servers import refusing_port

from deadzone.store.histograms import merged, percentiles_ms
from deadzone_load.generator.recording import RESPONSES


@pytest.mark.alone("it measures when requests are sent and answered")
def test_a_server_that_stalls_a_second_in_five_is_not_flattered(http_server, generate):
    told = generate(http_server("stall"), rate=200, duration_s=5, drain_s=3)
    assert told.failure is None
    # One second in five, whoever is due waits 0 to 1 s: mean 100 ms, 90 % wait at most 0.5 s, 99 %
    # at most 0.95 s.
    assert told.responses["latency_mean_ms"] == pytest.approx(100, abs=12)
    assert told.responses["latency_p50_ms"] < 20
    assert told.responses["latency_p90_ms"] == pytest.approx(500, abs=40)
    assert told.responses["latency_p99_ms"] == pytest.approx(950, abs=40)
    assert told.responses["requests"] == told.responses["offered_rate"] * 5 == 1_000
    whole = merged(histogram for metric, *_, histogram in told.slices if metric == "latency_us")
    assert whole.get_total_count() == 1_000
    p99_ms = told.responses["latency_p99_ms"]
    assert percentiles_ms(whole, [99])[99] == pytest.approx(p99_ms, rel=2e-3)


@pytest.mark.alone("it measures when requests are sent and answered")
def test_an_even_load_is_sent_on_time_and_answered(http_server, generate):
    told = generate(http_server(), rate=500, duration_s=1)
    assert told.failure is None
    assert told.responses.keys() <= set(RESPONSES)
    assert told.responses["requests"] == 500
    assert told.responses["achieved_rate"] == pytest.approx(500, rel=0.05)
    assert told.responses["errors"] == told.responses["dropped"] == 0
    assert told.responses["lag_p99_ms"] < 5
    assert 0 < told.responses["client_cpu"] < 0.9


def test_the_warm_up_is_kept_in_the_histograms_alone(http_server, generate):
    told = generate(http_server(), rate=100, duration_s=1, warmup_s=2)
    latency = [one for one in told.slices if one[0] == "latency_us"]
    assert [(t_s, count) for _, t_s, _, count, _ in latency] == [(-2, 100), (-1, 100), (0, 100)]
    assert told.responses["requests"] == 100


@pytest.mark.alone("it measures when requests are sent and answered")
def test_random_arrivals_have_the_mean_rate(http_server, generate):
    told = generate(http_server(), rate=1_000, duration_s=1, arrival="poisson")
    assert told.responses["requests"] == pytest.approx(1_000, rel=0.15)


def test_a_server_may_close_a_connection_after_its_answer(http_server, generate):
    body = '{{"n": "{id}"}}'
    told = generate(http_server("once"), rate=100, duration_s=0.5, method="POST", body=body)
    assert told.responses["requests"] == told.responses["connections"] == 50, told


def test_an_answer_to_no_request_ends_the_connection_alone(http_server, generate):
    told = generate(http_server("tires"), rate=4, duration_s=2)
    assert told.failure is None and told.responses["requests"] == 8, told
    assert told.responses["errors"] == 0


def test_a_request_on_a_kept_connection_that_is_closed_is_sent_again(http_server, generate):
    told = generate(http_server("drops"), rate=100, duration_s=0.5)
    assert told.responses["requests"] == 50
    assert told.responses["errors"] == 0
    assert told.responses["connections_lost"] > 0


@pytest.mark.parametrize(
    ("behaviour", "kind", "words"),
    [("garbage", "garbage", "does not speak HTTP/1.1"),
     ("closes", "closed", "closed the connection before it answered"),
     ("error", "status", "answered with status 500 (50 times)")],
)  # fmt: skip
def test_failures_are_counted_by_kind_and_said(http_server, generate, behaviour, kind, words):
    told = generate(http_server(behaviour), rate=100, duration_s=0.5, timeout_s=0.3, drain_s=1)
    assert told.responses[f"errors_{kind}"] == told.responses["errors"] == 50
    assert told.responses["requests"] == 0
    assert "none of 50 requests was answered" in told.failure
    assert words in told.failure


def test_requests_without_an_answer_count_with_the_time_they_waited(http_server, generate):
    told = generate(http_server("silent"), rate=100, duration_s=0.5, timeout_s=0.4, drain_s=1)
    for name in ("unfinished", "errors_timeout", "errors"):
        assert told.responses[name] == 50
    assert told.responses["latency_min_ms"] >= 400
    assert "gave no answer in time" in told.failure


def test_requests_that_found_no_free_connection_are_dropped_and_counted(http_server, generate):
    waiting = {"timeout_s": 5, "drain_s": 0.2, "connections": 10}
    told = generate(http_server("silent"), rate=100, duration_s=0.5, **waiting).responses
    assert (told["dropped"], told["unfinished"], told["errors"]) == (40, 10, 50)


@pytest.mark.alone("it measures when requests are sent and answered")
def test_a_server_that_dies_leaves_what_was_measured_and_a_sentence(http_server, generate):
    fresh = partial(http_server.__wrapped__, "dies")  # at each attempt one that has not died yet
    told = generate(fresh, rate=200, duration_s=1)
    assert told.responses["requests"] == pytest.approx(100, abs=2)
    assert told.responses["errors_refused"] > 0
    assert "the server closed all" in told.failure


def test_a_port_where_nobody_listens_is_said(generate):
    with refusing_port() as port:
        told = generate(f"http://127.0.0.1:{port}/", rate=50, duration_s=0.3)
    assert told.code == 0
    assert told.responses["errors_refused"] == 15
    assert "was refused" in told.failure


@pytest.mark.alone("it measures when requests are sent and answered")
def test_a_rate_beyond_reach_fails_the_trial(http_server, generate):
    told = generate(http_server(), rate=300_000, duration_s=0.1, drain_s=0.1)
    assert told.failure.startswith("generator saturated: it used ")


def test_running_out_of_file_descriptors_fails_the_trial(http_server, generate):
    few = ("sh", "-c", 'ulimit -n 70; exec "$@"', "sh")
    told = generate(http_server("silent"), few, rate=200, duration_s=0.5, drain_s=0.1)
    assert told.responses["errors_descriptors"] > 0
    assert "ran out of file descriptors" in told.failure
