import time

import numpy as np
import pytest

from deadzone_load.generator.loop import Loop
from deadzone_load.generator.pacing import RequestPacer, moments
from deadzone_load.generator.recording import Recorder, Timed, columns, saturation


def test_constant_arrivals_are_evenly_spaced_and_fill_the_window():
    assert list(moments(4, -0.5, 1)) == pytest.approx([-0.5, -0.25, 0, 0.25, 0.5, 0.75])
    assert len(list(moments(0.3, 0, 10))) == 3


def test_poisson_arrivals_vary_as_their_mean_and_come_back_from_their_seed():
    counts = [len(list(moments(100, 0, 10, "poisson", seed))) for seed in range(60)]
    assert np.mean(counts) == pytest.approx(1_000, rel=0.02)
    assert np.var(counts) == pytest.approx(1_000, rel=0.6)
    assert list(moments(100, 0, 1, "poisson", 7)) == list(moments(100, 0, 1, "poisson", 7))


@pytest.mark.alone("it measures how late the generator is")
def test_a_loop_that_was_held_up_catches_up_and_tells_how_late_it_was():
    loop, fired, lags = Loop(), [], []
    origin = time.monotonic() + 0.01
    calls = (fired.append, lambda t, late: lags.append(late), loop.stop)
    pacer = RequestPacer(loop, origin, moments(1_000, 0, 0.1), 0.1, *calls)
    pacer.start()
    loop.at(origin + 0.02, lambda _: time.sleep(0.05))
    loop.run()
    loop.close()
    assert len(fired) == len(lags) == 100
    assert max(lags) >= 0.045


def test_slices_are_seconds_of_the_intended_send_and_add_up():
    timed = Timed()
    for moment in (-0.5, 0.0, 0.99, 1.0, 2.4, 2.6):
        timed.add(moment, 0.001)
    found = timed.slices("latency_us", 2.5)
    told = [(one.t_s, one.duration_s, one.count) for one in found]
    assert told == [(-1, 1, 1), (0, 1, 2), (1, 1, 1), (2, 0.5, 2)]
    assert len(timed.in_window()) == 5


def test_an_overloaded_server_achieves_less_than_what_was_offered():
    recorder = Recorder(due=100)
    for number in range(100):
        recorder.answer(number / 100, 2 * number / 100)
    told = columns(recorder, 1.0, 0.1)
    assert told["offered_rate"] == 100
    assert told["achieved_rate"] == pytest.approx(100 / 1.98)


@pytest.mark.parametrize(
    ("lag", "cpu", "words"), [(6.0, 0.2, "others kept it"), (1.0, 0.97, "lower the rate")]
)
def test_a_generator_that_was_late_or_had_no_core_left_says_so(lag, cpu, words):
    assert words in saturation({"lag_p99_ms": lag, "client_cpu": cpu})
    assert saturation({"lag_p99_ms": 4.9, "client_cpu": 0.9}) is None
