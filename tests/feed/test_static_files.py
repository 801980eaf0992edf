"""What is shipped with the page is what was reviewed: own files without foreign addresses, others' with checksums."""

import hashlib
import re
from pathlib import Path

import pytest

from streams.feed.page import FOLDER
from tests.feed.conftest import Feed

OWN = sorted(path for path in FOLDER.iterdir() if path.is_file())
VENDOR = FOLDER / "vendor"


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_own_files_fetch_nothing_from_elsewhere(path: Path) -> None:
    """No address of another host, apart from the name of the SVG language, stands in any file of the page."""
    foreign = re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", path.read_text())
    assert [address for address in foreign if address != "http://www.w3.org/2000/svg"] == []


def test_the_page_has_nothing_inline() -> None:
    """No script text, no style text, no handler attribute: the policy would block it."""
    page = (FOLDER / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert "<style" not in page
    assert re.findall(r"\s(?:on\w+|style)=", page) == []


@pytest.mark.parametrize("path", [path for path in OWN if path.suffix == ".js"], ids=lambda path: path.name)
def test_own_scripts_make_no_markup_from_text(path: Path) -> None:
    """Nothing that parses text as markup or code is used."""
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", path.read_text())
        == []
    )


def test_vendored_files_are_the_published_ones() -> None:
    """Every vendored file has its checksum, its licence lies beside it, and nothing unlisted is there."""
    folders = [folder for folder in VENDOR.iterdir() if folder.is_dir()]
    assert folders
    for folder in folders:
        lines = (folder / "SHA256SUMS").read_text().splitlines()
        listed = {name: digest for digest, name in (line.split() for line in lines)}
        present = {path.name for path in folder.iterdir()} - {"SHA256SUMS", "VERSION"}
        assert set(listed) == present
        assert "LICENSE" in present
        for name, digest in listed.items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_files_are_served_with_their_kind(shared_feed: Feed) -> None:
    """Scripts are scripts, styles are styles, each is asked for anew, and nothing outside the folder is given."""
    kinds = {"/": "text/html", "/app.js": "javascript", "/style.css": "text/css", "/mark.svg": "image/svg+xml"}
    for path, kind in kinds.items():
        answer = shared_feed.call("GET", path)
        assert answer.status == 200
        assert kind in answer.headers["content-type"]
        assert answer.headers["cache-control"] == "no-cache"
    for path in ("/../page.py", "/%2e%2e/page.py", "/none.js"):
        assert shared_feed.call("GET", path).status == 404
