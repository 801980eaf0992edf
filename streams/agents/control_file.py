"""The control file: what a trainer shall do differently, fetched from the server and laid beside its rank files."""

import urllib.parse
from pathlib import Path

import aiohttp
import msgspec
from yarl import URL

from schemas.action import Control
from schemas.codec import encode
from streams.agents.rank_file import job_folder
from streams.agents.whole_file import write_whole

_decoder = msgspec.json.Decoder(Control)


def control_path(directory: Path, job: str) -> Path:
    """Say where the hook of a job looks."""
    return job_folder(directory, job) / "control.json"


def write_control(directory: Path, control: Control) -> bool:
    """Write the control file; False where it says the same already, so that the hook has nothing to read."""
    path, body = control_path(directory, control.job), encode(control)
    try:
        if path.read_bytes() == body:
            return False
    except FileNotFoundError:
        pass
    write_whole(path, body)
    return True


class ControlMail:
    """Fetches control documents and remembers which it has.

    Args:
        session: carries the authorisation.
        url: the server's address.
        directory: where the rank files are.
    """

    def __init__(self, session: aiohttp.ClientSession, url: str, directory: Path) -> None:
        self._session, self._url, self._directory = session, url.rstrip("/"), directory
        self._etags: dict[str, str] = {}

    async def fetch(self, job: str) -> bool:
        """Ask for the document of a job; True where a new one was written.

        Raises:
            OSError: the server did not answer, or the file could not be written.
            ValueError: the answer is no control document of that job.
        """
        address = URL(f"{self._url}/api/v1/control/{urllib.parse.quote(job, safe='')}", encoded=True)
        headers = {"If-None-Match": self._etags[job]} if job in self._etags else {}
        try:
            async with self._session.get(address, headers=headers, allow_redirects=False) as answer:
                if answer.status != 200:
                    return False
                body, etag = await answer.read(), answer.headers.get("ETag", "")
        except (aiohttp.ClientError, TimeoutError) as fault:
            raise ConnectionError(f"no control document: {type(fault).__name__}") from None
        control = _decoder.decode(body)
        if control.job != job:
            raise ValueError("the control document is another job's")
        written = write_control(self._directory, control)
        if etag:
            self._etags[job] = etag
        return written
