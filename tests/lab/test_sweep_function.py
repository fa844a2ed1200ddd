import pytest
from jupyter_client.manager import start_new_kernel
from waiting import wait_for

DEFINED = """
import os
os.environ["DEADZONE_HOME"] = {home!r}
import deadzone as dz
sizes = {{1: 10, 2: 20}}

def train(num_workers):
    return {{"size": sizes.get(num_workers, 0), "is_kernel": os.getpid() == {pid}}}

def slow(seconds):
    import time
    time.sleep(seconds)
"""


@pytest.fixture(scope="module")
def kernel():
    manager, client = start_new_kernel()
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def ask(client, source, timeout_s=60):
    """Execute a cell; what it shows, and the name of an error."""
    shown = []

    def take(message):
        content = message["content"]
        shown.append(content.get("text") or str(content.get("data", {}).get("text/plain", "")))

    # for a moment after an error the kernel aborts what it is asked
    while True:
        reply = client.execute_interactive(source, timeout=timeout_s, output_hook=take)
        if reply["content"]["status"] != "aborted":
            break
    return "\n".join(shown), reply["content"].get("ename", "")


def test_a_function_of_a_cell_is_swept_with_progress_and_the_kernel_goes_on(kernel, tmp_path):
    _, client = kernel
    pid = ask(client, "import os; print(os.getpid())")[0].strip()
    assert ask(client, DEFINED.format(home=str(tmp_path), pid=pid))[1] == ""
    code = 'run = dz.sweep(train, {"num_workers": [1, 2]}, replicates=1, response="size")'
    shown, error = ask(client, code)
    assert error == ""
    assert "trial" in shown and "recorded in" in shown
    assert "2" in ask(client, "run.trials['num_workers'].nunique()")[0]
    assert "{0.0}" in ask(client, "set(run.trials['is_kernel'])")[0]
    assert "train" in ask(client, "run")[0]


def test_an_interrupted_sweep_keeps_what_was_measured_and_goes_on(kernel, tmp_path):
    manager, client = kernel
    ask(client, DEFINED.format(home=str(tmp_path), pid=0))
    client.execute(
        'dz.sweep(slow, {"seconds": [0.01, 0.4]}, replicates=5, warmup=0, '
        "trust__max_foreign_cpu=99)"
    )
    [journal] = wait_for(lambda: [*tmp_path.glob("runs/slow/*/trials.jsonl")], "no trial", 60)
    wait_for(lambda: len(journal.read_text().splitlines()) > 2, "no third trial", 60)
    manager.interrupt_kernel()
    while (reply := client.get_shell_msg(timeout=60))["msg_type"] != "execute_reply":
        pass
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    kept, error = ask(client, 'len(dz.load_run("slow/latest").trials)')
    assert error == "" and 2 < int(kept.split()[-1]) < 10
    resumed = 'len(dz.sweep(slow, {"seconds": [0.01, 0.4]}, replicates=5, warmup=0, quiet=True, ' \
        'trust__max_foreign_cpu=99, resume="slow/latest").trials["trial"].unique())'  # fmt: skip
    assert ask(client, resumed)[0].split()[-1] == "10"
