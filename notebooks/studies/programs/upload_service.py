"""The bundled service under test: takes a video as a multipart upload, extracts its frames with
ffmpeg, and counts them.

    python upload_service.py --port 8000
    curl -F video=@clip.mp4 http://127.0.0.1:8000/frames

It is a plain media service as many are: Starlette on uvicorn, the work in a subprocess, the answer
when all is done. `--fsync` plants a cause for the tests of attribution: every piece of the upload
waits for the disk.
"""

import argparse
import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import imageio_ffmpeg
import uvicorn
from python_multipart.multipart import MultipartParser, parse_options_header
from server_timing import ServerTiming
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

FORM_FIELD = "video"

BUNDLED = "bundled"
"""The ffmpeg that the wheel imageio-ffmpeg brings."""

GRACE_S = 1
"""Open requests get this long when the service is told to end [s]."""


class Upload:
    """Writes one part of a multipart body to a file, piece by piece as it arrives."""

    def __init__(self, boundary: bytes, path: Path, fsync: bool) -> None:
        self._file = path.open("wb")
        self._fsync = fsync
        self._name, self._value = b"", b""
        self._wanted = False
        self.size = 0
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_name,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_part_data": self._data,
            },
        )

    def take(self, piece: bytes) -> None:
        """The next piece of the body."""
        self._parser.write(piece)
        if self._fsync:
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """The body is complete."""
        self._file.close()

    def _begin(self) -> None:
        self._wanted = False

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._name.lower() == b"content-disposition":
            _, options = parse_options_header(self._value)
            self._wanted = options.get(b"name") == FORM_FIELD.encode()
        self._name, self._value = b"", b""

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._wanted:
            self._file.write(data[start:end])
            self.size += end - start


class FrameService:
    """Frames of uploaded videos. folder: where uploads and frames lie as long as a request
    lasts."""

    def __init__(self, folder: Path, fsync: bool = False, ffmpeg: str = BUNDLED) -> None:
        self._folder, self._fsync = folder, fsync
        self._ffmpeg = str(imageio_ffmpeg.get_ffmpeg_exe()) if ffmpeg == BUNDLED else ffmpeg

    def app(self) -> Starlette:
        """The application: POST /frames, GET /health."""
        return Starlette(
            routes=[Route("/frames", self.frames, methods=["POST"]), Route("/health", self.health)],
            middleware=[Middleware(ServerTiming)],
        )

    async def health(self, request: Request) -> Response:
        """Ready as soon as it answers."""
        return PlainTextResponse("ready\n")

    async def frames(self, request: Request) -> Response:
        """Store the upload, extract its frames, answer how many there are."""
        kind, options = parse_options_header(request.headers.get("content-type"))
        if kind != b"multipart/form-data" or b"boundary" not in options:
            return JSONResponse({"error": "send a multipart form with the video"}, status_code=415)
        async with work_folder(self._folder) as work:
            upload = Upload(options[b"boundary"], work / "upload", self._fsync)
            async for piece in request.stream():
                await run_in_threadpool(upload.take, piece) if self._fsync else upload.take(piece)
            upload.close()
            if not upload.size:
                return JSONResponse({"error": f"the form has no file {FORM_FIELD!r}"}, status_code=400)
            frames, said = await self._extract(work)
        if not frames:
            return JSONResponse({"error": f"ffmpeg found no frames: {said[-300:]}"}, status_code=422)
        return JSONResponse({"frames": frames, "bytes": upload.size})

    async def _extract(self, work: Path) -> tuple[int, str]:
        """Frames that ffmpeg wrote, and what it said."""
        frames = work / "frames"
        frames.mkdir()
        process = await asyncio.create_subprocess_exec(
            *(self._ffmpeg, "-nostdin", "-loglevel", "error", "-i", str(work / "upload")),
            *("-vf", "scale=1280:720", "-q:v", "2", "-fps_mode", "vfr", str(frames / "frame_%06d.jpg")),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, said = await process.communicate()
        return sum(1 for _ in frames.iterdir()), said.decode(errors="replace")


@asynccontextmanager
async def work_folder(folder: Path) -> AsyncIterator[Path]:
    """A folder for one request, removed with it."""
    work = Path(tempfile.mkdtemp(prefix="upload-", dir=folder))
    try:
        yield work
    finally:
        await run_in_threadpool(shutil.rmtree, work, ignore_errors=True)


def main() -> None:
    """Serve until told to end."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--host", default="127.0.0.1", help="address to listen on")
    options.add_argument("--port", type=int, required=True, help="port to listen on")
    options.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()), help="for uploads and frames"
    )
    options.add_argument(
        "--fsync", action="store_true", help="wait for the disk after every piece of an upload"
    )
    options.add_argument("--ffmpeg", default=BUNDLED, help="bundled, or a program on the PATH")
    given = options.parse_args()
    service = FrameService(given.folder, given.fsync, given.ffmpeg)
    uvicorn.run(
        service.app(),
        host=given.host,
        port=given.port,
        log_level="warning",
        timeout_graceful_shutdown=GRACE_S,
    )


if __name__ == "__main__":
    main()
