"""A site that confirms phone numbers with the widget: a complete server with the standard library alone.

    TIDINGS_URL=http://localhost:8080 TIDINGS_KEY=... WIDGET_ID=... python3 widget-server.py

The server lets a visitor in on three conditions: the key came from this visitor first, Tidings confirms the key, and the
confirmed number is the one that the visitor gave before. A key lets a visitor in once.
"""

import json
import os
import re
import secrets
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

TIDINGS_URL = os.environ["TIDINGS_URL"]
KEY = os.environ["TIDINGS_KEY"]
WIDGET_ID = os.environ["WIDGET_ID"]
PORT = int(os.environ.get("PORT", "9000"))
PAGE = Path(__file__).with_name("widget.html")
HOUR_SECONDS = 3600
KEEP_KEYS_SECONDS = 24 * HOUR_SECONDS  # longer than Tidings confirms a key
MOST_BODY_BYTES = 10_000

# In memory, for the sake of the example: use your database when several processes serve the site.
sessions = {}
owners = {}


def begin(session, phone):
    """Tidings writes numbers in digits with the country code; so does this site."""
    digits = re.sub(r"[\s()+-]", "", str(phone))
    if not re.fullmatch(r"[1-9][0-9]{6,14}", digits):
        return 400, "Give the number with its country code.", {}
    session["asked"] = digits
    session.pop("key", None)
    return 200, digits, {}


def send_code(session, key):
    """An answer that is not 200 lets the widget show why no code comes."""
    if "asked" not in session:
        return 409, "Give your number first.", {}
    status, body = tidings("/verifier/widget/send", {"key": key})
    if status != 200:
        print("No code was sent:", status, body.get("error"), file=sys.stderr)
        return 502, "No code can be sent now.", {}
    if owner_of(str(key), session) is not session:
        return 403, "This key is of another visitor.", {}
    session["key"] = str(key)
    return 200, "A code is on its way.", {}


def owner_of(key, session):
    """The visitor who brings a key first owns it, so that a key seen elsewhere lets no other visitor in."""
    for old in [each for each, (_, forget_at) in list(owners.items()) if forget_at < time.time()]:
        owners.pop(old, None)
    return owners.setdefault(key, (session, time.time() + KEEP_KEYS_SECONDS))[0]


def finish(session):
    """What the browser says counts for nothing here: key and number are those that the session has."""
    key, asked = session.get("key"), session.get("asked")  # before the call: another request may change them meanwhile
    if not key or not asked:
        return 409, "Confirm your number first.", {}
    status, body = tidings("/verifier/widget/check", {"key": key})
    if status != 200:
        return 503, "The number cannot be checked now: try again later.", {}
    if body["status"] == "WAITING":
        return 409, "The number is not confirmed yet.", {}
    if session.pop("key", None) != key:
        return 409, "This key was used before.", {}
    if body["status"] != "CONFIRMED":
        return 403, "The code is no longer valid: begin again.", {}
    if body["destination"] != asked:
        return 403, "Another number was confirmed.", {}
    return 200, "You are logged in.", {"Set-Cookie": log_in(session, asked)}


def log_in(session, phone):
    """The session gets a new id, so that an id from before the login is worth nothing."""
    for session_id in [key for key, each in list(sessions.items()) if each is session]:
        sessions.pop(session_id, None)
    return start_session(phone=phone)


def start_session(**members):
    for session_id in [key for key, each in list(sessions.items()) if each["ends_at"] < time.time()]:
        sessions.pop(session_id, None)
    session_id = secrets.token_urlsafe(24)
    sessions[session_id] = {"ends_at": time.time() + HOUR_SECONDS, **members}
    return f"session={session_id}; HttpOnly; SameSite=Strict; Path=/"  # on a real site also: Secure


def tidings(path, body):
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    request = Request(f"{TIDINGS_URL}/api/v1{path}", json.dumps(body).encode(), headers)
    try:
        with urlopen(request, timeout=10) as answer:  # the widget waits for 15 s
            return answer.status, json.load(answer)
    except HTTPError as refusal:
        return refusal.code, json.load(refusal)
    except (URLError, TimeoutError) as error:
        return 503, {"error": str(error)}


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        session = self.session()
        if self.path == "/":
            headers = {} if session else {"Set-Cookie": start_session()}
            self.answer(200, page(), {"Content-Type": "text/html; charset=utf-8", **headers})
        elif self.path == "/me" and session and "phone" in session:
            self.say(200, f"You are {session['phone']}.")
        elif self.path == "/me":
            self.say(401, "You are not logged in.")
        else:
            self.say(404, "There is no such page.")

    def do_POST(self):
        session = self.session()
        if not session:
            return self.say(403, "Load the page again.")
        try:
            body = self.body()
        except ValueError:
            return self.say(400, "The request was not understood.")
        if self.path == "/verify/begin":
            return self.say(*begin(session, body.get("phone")))
        if self.path == "/verify/send":
            return self.say(*send_code(session, body.get("key")))
        if self.path == "/verify/finish":
            return self.say(*finish(session))
        return self.say(404, "There is no such page.")

    def session(self):
        found = re.search(r"(?:^|; )session=([\w-]+)", self.headers.get("Cookie", ""))
        session = sessions.get(found[1]) if found else None
        return session if session and session["ends_at"] > time.time() else None

    def body(self):
        length = int(self.headers.get("Content-Length", "0"))
        if length > MOST_BODY_BYTES:
            raise ValueError("the body is too large")
        body = json.loads(self.rfile.read(length))
        if not isinstance(body, dict):
            raise ValueError("the body is no object")
        return body

    def say(self, status, message, headers={}):
        self.answer(status, json.dumps({"message": message}).encode(), {"Content-Type": "application/json", **headers})

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def page():
    return PAGE.read_text("utf-8").replace("TIDINGS_URL", TIDINGS_URL).replace("WIDGET_ID", WIDGET_ID).encode()


server = ThreadingHTTPServer(("", PORT), Site)
print(f"Widget: http://localhost:{server.server_port}", flush=True)
server.serve_forever()
