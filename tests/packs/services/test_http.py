import contextlib
import hashlib
import json
import ssl
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic import ValidationError
from servers import await_port, refusing_port

from deadzone.errors import StudyError, WorkloadError
from deadzone.run.targets.local import LocalTarget
from deadzone.study.target_specs import LocalTargetSpec
from deadzone_services.base import SERVICE_RESPONSES, placeholders_of
from deadzone_services.http import MEASURED, HttpWorkload
from deadzone_services.service import free_port
from deadzone_services.specs import HttpWorkloadSpec

MISBEHAVING = Path(__file__).with_name("misbehaving.py")
WORK_S = 0.2


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was sent, after some work; speaks HTTP/1.1, leaves connections open."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(WORK_S)
        said = {
            "method": self.command,
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "bytes": len(body),
            "sha256": hashlib.sha256(body).hexdigest(),
            "text": body[:2000].decode(errors="replace"),
            "frames": 12,
        }
        text = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def web_server(scheme="http", context=None):
    """The address of a web server of the standard library."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"{scheme}://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def echo():
    with web_server() as address:
        yield address


@pytest.fixture
def misbehaving():
    with contextlib.ExitStack() as stack:

        def start(fault):
            port = free_port("127.0.0.1")
            argv = (sys.executable, "-S", str(MISBEHAVING), str(port), fault)
            stack.callback(stack.enter_context(subprocess.Popen(argv)).kill)
            await_port(port)
            return f"http://127.0.0.1:{port}"

        yield start


@pytest.fixture
def request_once(tmp_path):
    """One trial of a workload: what was measured, and the outcome."""

    def ask(url="", levels=None, **keys):
        workload = HttpWorkload(HttpWorkloadSpec(**({"url": url} if url else {}), **keys), tmp_path)
        with LocalTarget(LocalTargetSpec(mechanism="unlimited")) as client:
            workload.prepare_sweep(client.scratch)
            command = workload.prepare_trial(levels or {}, client.scratch)
            measured = client.execute(command, 60)
            outcome = workload.outcome(measured, client.scratch)
            body = client.scratch / "answer"
            said = body.read_bytes() if body.exists() else b""
        return outcome, said

    return ask


@pytest.mark.alone("it measures the phases of a request")
def test_the_phases_of_a_request_follow_each_other_and_add_up(echo, request_once):
    outcome, _ = request_once(f"{echo}/")
    got = outcome.responses
    assert outcome.failure is None
    names = ("dns_s", "connect_s", "pretransfer_s", "posttransfer_s", "ttfb_s", "total_s")
    order = [got[name] for name in names]
    assert order == sorted(order)
    assert WORK_S <= got["waiting_s"] <= got["ttfb_s"]
    assert got["total_s"] == pytest.approx(got["ttfb_s"] + got["server_s"])
    assert (got["http_status"], got["new_connections"], got["tls_s"]) == (200, 1, 0)
    assert outcome.wall_s == got["total_s"]
    assert 0 < got["client_cpu_s"] < got["total_s"] / 2


def test_an_upload_arrives_whole_and_the_first_byte_is_that_of_the_answer(
    echo, request_once, tmp_path
):
    content = bytes(range(256)) * 20_000
    (tmp_path / "clip.bin").write_bytes(content)
    outcome, said = request_once(f"{echo}/", body_file="clip.bin")
    told = json.loads(said)
    assert told["sha256"] == hashlib.sha256(content).hexdigest()
    assert told["method"] == "POST"
    assert "expect" not in told["headers"]
    assert outcome.responses["sent_bytes"] == len(content)
    assert outcome.responses["ttfb_s"] >= WORK_S
    assert outcome.responses["upload_s"] > 0


def test_a_form_carries_texts_and_files_as_a_browser_does(echo, request_once, tmp_path):
    (tmp_path / "clip.mp4").write_bytes(b"not much of a video")
    video = {"file": "clip.mp4", "content_type": "video/mp4"}
    form = {"model_name": "test-{pool_size}", "video": video}
    outcome, said = request_once(f"{echo}/", {"pool_size": 4}, form=form)
    told = json.loads(said)
    assert outcome.failure is None
    assert told["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    typed, content = "Content-Type: video/mp4", "not much of a video"
    for words in ("test-4", 'filename="clip.mp4"', typed, content):
        assert words in told["text"]


def test_json_headers_and_method_carry_the_levels(echo, request_once, monkeypatch):
    monkeypatch.setenv("API_TOKEN", "Bearer 123")
    body = {"threads": "{threads}", "nested": [1, {"x": "{{}}"}]}
    heads = {
        "headers": {"X-Run": "run {threads}"},
        "headers_from_env": {"Authorization": "API_TOKEN"},
    }
    read = {"responses": {"frames": {"json_path": "frames"}}}
    address = f"{echo}/jobs?n={{threads}}"
    asked = request_once(address, {"threads": 2}, json_body=body, method="PUT", **heads, **read)
    outcome, told = asked[0], json.loads(asked[1])
    assert told["method"] == "PUT"
    assert json.loads(told["text"]) == {"threads": "2", "nested": [1, {"x": "{}"}]}
    assert told["headers"]["content-type"] == "application/json"
    assert (told["headers"]["x-run"], told["headers"]["authorization"]) == ("run 2", "Bearer 123")
    assert outcome.responses["frames"] == 12


@pytest.mark.parametrize(
    ("fault", "keys", "words"),
    [("error", {}, "wrong status: 503 where 200 is expected; the body begins: busy"),
     ("short", {}, "body too short: "),
     ("none", {"answer": {"min_bytes": 100}}, "body too short: 6 bytes where 100 are expected"),
     ("none", {"answer": {"regex": "^done"}},
      "wrong body: it does not match '^done'; it begins: ready"),
     ("none", {"answer": {"json_path": "frames"}}, "wrong body: there is nothing at 'frames'"),
     ("none", {"responses": {"frames": {"regex": r"(\d+)"}}},
      "holds no number for the response frames"),
     ("silent", {}, "connection closed before the answer was complete"),
     ("reset", {"body_file": "big"}, "connection closed in the middle of the upload, after "),
     ("hang", {"timeout_s": 0.3}, "time-out: ")],
)  # fmt: skip
def test_a_fast_error_is_no_fast_success(misbehaving, request_once, tmp_path, fault, keys, words):
    with (tmp_path / "big").open("wb") as big:
        big.truncate(20_000_000)
    outcome, _ = request_once(f"{misbehaving(fault)}/", **keys)
    assert words in outcome.failure
    assert outcome.status == ("timeout" if fault == "hang" else None)
    assert outcome.responses["total_s"] == outcome.wall_s


@pytest.mark.parametrize(
    ("url", "words"),
    [("http://no-such-host.invalid/", "DNS failure: "),
     ("http://127.0.0.1:1/", "connection refused: ")],
    ids=["no such name", "nobody listens"],
)  # fmt: skip
def test_a_service_that_cannot_be_reached_is_told_apart(request_once, url, words):
    outcome, _ = request_once(url)
    assert outcome.failure.startswith(words)
    assert "total_s" in outcome.responses
    assert "posttransfer_s" not in outcome.responses


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """An https server with a certificate of its own making."""
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "cert.pem"
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    kind = ("-x509", *curve, "-nodes", "-days", "1", *names)
    argv = ("openssl", "req", *kind, "-keyout", key, "-out", certificate)
    try:
        subprocess.run(argv, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no certificate can be made here: {error}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with web_server("https", context) as address:
        yield address, certificate


def test_tls_takes_its_time_and_an_unknown_certificate_is_refused(tls, echo, request_once):
    address, certificate = tls
    trusted, _ = request_once(f"{address}/", ca_file=str(certificate))
    assert trusted.failure is None
    assert trusted.responses["tls_handshake_s"] > 0
    assert trusted.responses["tls_s"] > trusted.responses["connect_s"]
    refused, _ = request_once(f"{address}/")
    assert refused.failure.startswith("TLS failure: ")
    careless, _ = request_once(f"{address}/", verify_tls=False)
    assert careless.failure is None
    plain, _ = request_once(echo.replace("http:", "https:"))
    assert plain.failure.startswith("TLS failure: ")


def test_a_password_in_an_address_is_never_repeated(request_once):
    with refusing_port() as port:
        outcome, _ = request_once(f"http://somebody:sesame@127.0.0.1:{port}/?token=sesame")
    assert "sesame" not in outcome.failure


def test_a_proxy_of_the_environment_is_not_measured_in_the_services_place(
    echo, request_once, monkeypatch
):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    outcome, _ = request_once(f"{echo}/")
    assert outcome.failure is None


def test_a_request_has_one_body_and_what_is_gone_is_refused_with_what_to_do_instead():
    with pytest.raises(ValidationError, match="json_body and body_file"):
        HttpWorkloadSpec(json_body={"a": 1}, body_file="b")
    with pytest.raises(ValidationError, match="the workload load asks over connections"):
        HttpWorkloadSpec(keep_alive=True)


def test_placeholders_are_factors_the_service_or_files(tmp_path):
    service = tuple(placeholders_of("http://127.0.0.1:1"))

    def check(*names, **keys):
        HttpWorkload(HttpWorkloadSpec(**keys), tmp_path).check((*names, *service))

    check(form={"video": {"file": "{clip}"}})
    with pytest.raises(StudyError, match=r"\{thread\} in .* is no factor"):
        check("threads", json_body={"a": "{thread}"})
    with pytest.raises(StudyError, match="ttfb_s is measured of every request"):
        check(responses={"ttfb_s": {"json_path": "x"}})


@pytest.mark.parametrize(
    ("keys", "words"),
    [({"body_file": "gone"}, "gone, is missing"),
     ({"url": "ftp://127.0.0.1/"}, "no address of http or https"),
     ({"headers_from_env": {"Authorization": "NOT_SET_ANYWHERE"}}, "NOT_SET_ANYWHERE is not set")],
)  # fmt: skip
def test_what_is_missing_is_told_before_anything_is_sent(request_once, keys, words):
    with pytest.raises(WorkloadError, match=words):
        request_once(**{"url": "http://127.0.0.1:9/", **keys})


def test_the_codebook_has_every_column():
    codebook = (Path(__file__).resolve().parents[3] / "data" / "README.md").read_text()
    for name in (*MEASURED, *SERVICE_RESPONSES):
        assert f"| `{name}` |" in codebook, f"data/README.md does not explain {name}"
