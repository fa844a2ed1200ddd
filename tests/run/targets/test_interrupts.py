import os
import signal
import threading

import pytest

from deadzone.run.targets.interrupts import interrupts_later, undisturbed

pytestmark = pytest.mark.kept


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


def test_an_interrupt_that_is_put_off_arrives_when_the_work_is_done():
    before, done = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt), interrupts_later():
        os.kill(os.getpid(), signal.SIGINT)
        done.append(True)
    assert done and signal.getsignal(signal.SIGINT) is before
