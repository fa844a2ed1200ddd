import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from functools import partial
from pathlib import Path

import pytest
import yaml
from servers import free_port
from waiting import wait_for

from deadzone.run.workloads.ffmpeg import BUNDLED, find_ffmpeg, generated_clip
from deadzone.study.loading import load_study
from deadzone.study.workload_spec import ClipSpec
from programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 30.0
CLIP = ClipSpec(duration_s=0.5, width=320, height=180, frames_per_second=20)


@pytest.fixture(scope="module")
def clip():
    return generated_clip(find_ffmpeg(BUNDLED), CLIP)


@pytest.fixture
def serve(tmp_path):
    """Start one of the programs on a port of its own and wait until it answers."""
    started = []

    def start(module, *arguments):
        port = free_port()
        argv = (sys.executable, PROGRAMS / f"{module}.py", "--port", port, *arguments)
        started.append(subprocess.Popen([*map(str, argv)]))
        address = f"http://127.0.0.1:{port}"
        ask = partial(urllib.request.urlopen, f"{address}/health", timeout=PATIENCE_S)
        wait_for(lambda: ask().read(), "it does not answer")
        return address, started[-1]

    yield start
    for process in started:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


def post(url, content, name="video"):
    """Upload a file in a form that has a field too."""
    boundary = uuid.uuid4().hex
    field = 'Content-Disposition: form-data; name="model_name"\r\n\r\ntest\r\n'
    file = f'Content-Disposition: form-data; name="{name}"; filename="clip.mp4"\r\n'
    file += "Content-Type: video/mp4\r\n\r\n"
    before = f"--{boundary}\r\n{field}--{boundary}\r\n{file}".encode()
    body = before + content + f"\r\n--{boundary}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    request = urllib.request.Request(f"{url}/frames", body, headers)
    began = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, json.loads(answer.read()), time.monotonic() - began
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read()), time.monotonic() - began


@pytest.mark.parametrize("options", [[], ["--fsync"]], ids=["plain", "fsync"])
def test_it_extracts_the_frames_of_an_upload_and_leaves_nothing(serve, clip, tmp_path, options):
    url, _ = serve("upload_service", "--folder", tmp_path, *options)
    content = clip.path.read_bytes()
    status, said, _ = post(url, content)
    assert (status, said) == (200, {"frames": clip.frames, "bytes": len(content)})
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_video_or_no_form_is_refused(serve, tmp_path):
    url, _ = serve("upload_service", "--folder", tmp_path)
    assert post(url, b"no video")[0] == 422
    assert post(url, b"x", name="other")[:2] == (400, {"error": "the form has no file 'video'"})
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(f"{url}/frames", b"{}", timeout=PATIENCE_S)
    assert refusal.value.code == 415
    assert list(tmp_path.iterdir()) == []


def test_the_relay_delays_the_first_byte_and_ends_with_its_service(serve, clip, tmp_path):
    service = (sys.executable, PROGRAMS / "upload_service.py", "--port", "{port}")
    delays = ("--request-delay-s", "0.5", "--answer-delay-s", "1")
    late, relay = serve("late_relay", *delays, "--", *service, "--folder", tmp_path)
    status, said, elapsed = post(late, clip.path.read_bytes())
    assert (status, said["frames"]) == (200, clip.frames)
    assert elapsed >= 1.5
    children = Path(f"/proc/{relay.pid}/task/{relay.pid}/children").read_text().split()
    os.kill(int(children[0]), 15)
    assert relay.wait(timeout=PATIENCE_S) is not None
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(late.rpartition(":")[2]))).close()


@pytest.mark.night
def test_the_bundled_study_runs_out_of_the_box(quota, sweep, home):
    """As it stands, with a shorter clip and one block."""
    source = ROOT / "notebooks" / "studies" / "upload-cpu-limit.yaml"
    assert load_study(source).factor_names() == ("environment",)
    document = yaml.safe_load(source.read_text())
    clip = CLIP.model_copy(update={"duration_s": 4})
    document["workload"]["clip"] = clip.model_dump()
    document["design"] |= {"replicates": 1, "warmup": 0}
    document["trust"] = {"max_attempts": 1}
    path = home / "notebooks" / "studies" / source.name
    path.write_text(yaml.safe_dump(document))
    trials = sweep(path).trials().set_index("environment")
    assert trials["status"].eq("ok").all(), trials["error"].tolist()
    assert trials["frames"].eq(clip.duration_s * clip.frames_per_second).all()
    # On a busy machine an environment is measured once more.
    limited, unlimited = trials.loc[["limited"]], trials.loc[["unlimited"]]
    assert limited["throttled_s"].gt(0).all()
    # 0.25, and one period's quota more over a request of ten periods and more
    assert limited["cpu_efficiency"].lt(0.4).all(), limited["cpu_efficiency"].tolist()
    assert unlimited["nr_throttled"].eq(0).all()
