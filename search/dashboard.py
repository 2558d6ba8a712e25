"""Serves Optuna's dashboard of all studies, live and read-only, on this machine only.

python -m kneepoint.search.dashboard --config config/config.yaml [--port 8080]
"""

import argparse
import errno
import re
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import optuna
import optuna_dashboard  # type: ignore[import-untyped]
from optuna.storages import BaseStorage, InMemoryStorage

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.project import enter
from kneepoint.runs.settings import read_settings
from kneepoint.search.readable import REPORT
from kneepoint.search.storage_copy import sync

HOST = "127.0.0.1"
_PAUSE_S, _PAUSE = 1.0, 10
"""Minimum pause between updates: in seconds, and as a multiple of the last update's duration."""
_HIDDEN = (
    b"<style>.MuiCard-root:has(#graph-timeline),"
    b'label:has(input[value^="datetime_"]) { display: none !important; }</style>'
)
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def read_only(
    application: Application, report: Path, storage: BaseStorage, update: Callable[[], None]
) -> Application:
    """Returns the application extended by the report, with every modifying request refused.

    `/studies/FOLDER` redirects to the page of the study in that folder of the results, whose number
    in Optuna depends on the other studies. Requests with another Host header are refused, too:
    otherwise a page whose name resolves to this machine could read all studies (DNS rebinding).
    `update` is called before the application answers.
    """

    def refuse_changes(
        environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        if re.sub(r":\d+$", "", environ.get("HTTP_HOST", "")).lower() not in (HOST, "localhost"):
            start_response("403 Forbidden", [("Content-Type", "text/plain")])
            return [f"This is {HOST}; use this address.".encode()]
        if environ["PATH_INFO"] == f"/{report.name}" and report.is_file():
            start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
            return [report.read_bytes()]
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            update()
            if asked := re.fullmatch("/studies/([^/]+)", environ["PATH_INFO"]):
                start_response("302 Found", [("Location", _page(storage, asked[1]))])
                return []
            if re.match("/dashboard(/|$)", environ["PATH_INFO"]):
                return _without_times(application, environ, start_response)
            return application(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "application/json")])
        return [b'{"reason": "Studies are read-only here; change config/studies and run again."}']

    return refuse_changes


def _without_times(
    application: Application, environ: dict[str, Any], start_response: Callable[..., Any]
) -> Iterable[bytes]:
    """Returns Optuna's page without its plots over time.

    Copied trials have no times, and Optuna would plot the present instead.
    """
    begun: list[Any] = []
    whole = b"".join(application(environ, lambda *of: begun.extend(of)))
    page = whole.replace(b"</head>", _HIDDEN + b"</head>")
    status, headers, *_ = begun
    kept = [each for each in headers if each[0].lower() not in ("content-length", "etag")]
    start_response(status, [*kept, ("Content-Length", str(len(page)))])
    return [page]


def make_dashboard(results: Path, port: int) -> WSGIServer:
    """Returns a server of all studies in the results folder, which follows their progress.

    Raises:
        KneepointError: the port is unavailable, or a file of a study is damaged.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = InMemoryStorage()
    next_s = 0.0

    def update() -> None:
        nonlocal next_s
        began_s = time.monotonic()
        if began_s >= next_s:
            sync(results, storage)
            ended_s = time.monotonic()
            next_s = ended_s + max(_PAUSE_S, _PAUSE * (ended_s - began_s))

    update()
    application = read_only(optuna_dashboard.wsgi(storage), results / REPORT, storage, update)
    try:
        return make_server(HOST, port, application, handler_class=_QuietHandler)
    except (OSError, OverflowError) as error:
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        reason = "is taken" if taken else f"cannot be used ({error})"
        raise KneepointError(
            f"port {port} {reason}; choose another with --port, or make dashboard PORT=8081"
        ) from None


def _page(storage: BaseStorage, folder: str) -> str:
    """Returns the path of a study's page, or of the list for an unknown study."""
    names = (n for n in optuna.get_all_study_names(storage) if n.startswith(f"{folder}: "))
    numbers = [storage.get_study_id_from_name(name) for name in names]
    return f"/dashboard/studies/{numbers[0]}" if numbers else "/dashboard/"


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base's name)
        """Suppresses the request log."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--port", type=int, default=8080, help="%(default)s")
    arguments = parser.parse_args()
    results = read_settings(enter(arguments.config)).results
    with make_dashboard(results, arguments.port) as server:
        url = f"http://{HOST}:{server.server_port}/"
        print(f"All studies under {results.absolute()}: {url} (Ctrl-C to stop)")
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    run_command_line(main)
