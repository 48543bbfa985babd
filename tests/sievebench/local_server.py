"""A web server on this machine, for the tests of downloads."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What the server sends, and what it was asked for.

    `files` maps a path to its bytes; `failures` maps a path to how often it fails
    first, with status 500; `short` lists paths whose answer is cut.
    """

    def __init__(self):
        self.files, self.failures, self.short, self.asked = {}, {}, set(), []
        self.address = ""


@contextmanager
def local_server():
    """Serve a `Site` on a free port while the block lasts."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            site.asked.append(self.path)
            if site.failures.get(self.path, 0) > 0:
                site.failures[self.path] -= 1
                self.send_error(500)
                return
            if self.path not in site.files:
                self.send_error(404)
                return
            body = site.files[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:-1] if self.path in site.short else body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
