"""Interrupts are ignored for as long as a clean-up takes."""

from __future__ import annotations

import os
import signal
import threading

from deadzone.run.targets.interrupts import undisturbed


def test_a_second_interrupt_does_not_stop_a_clean_up():
    before = signal.getsignal(signal.SIGINT)
    with undisturbed():
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_main_thread_there_is_nothing_to_hold():
    done = []

    def clean_up():
        with undisturbed():
            done.append(True)

    thread = threading.Thread(target=clean_up)
    thread.start()
    thread.join()
    assert done
