"""Login by code: a complete server with the standard library alone.

    TIDINGS_API=http://localhost:8080/api/v1 TIDINGS_KEY=... GATEWAY_ID=... python3 login-by-code.py

The browser gets a session cookie and nothing else. The number and the uuid of its verification stay in the session on
the server, so a confirmed code always stands for the number that it was sent to.
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

API = os.environ["TIDINGS_API"]
KEY = os.environ["TIDINGS_KEY"]
GATEWAY_ID = os.environ["GATEWAY_ID"]
PORT = int(os.environ.get("PORT", "9000"))
PAGE = Path(__file__).with_name("login.html")
HOUR_SECONDS = 3600
MOST_BODY_BYTES = 10_000

# In memory, for the sake of the example: use your database when several processes serve the site.
sessions = {}


def send_code(session, phone, client_ip):
    status, body, retry_after = tidings("/verifier/send", {
        "channelType": "SMS",
        "gatewayId": GATEWAY_ID,
        "destination": str(phone),
        "clientIp": client_ip,
    })
    if status == 200:
        session["asked"] = (str(phone), body["uuid"])
        return 200, "We sent you a code.", {}
    if status == 429:
        return 429, f"Too many codes: try again in {retry_after} seconds.", {"Retry-After": retry_after}
    print("No code was sent:", status, body.get("error"), file=sys.stderr)
    if status == 400:
        return 400, "We cannot send a code to this number.", {}
    return 503, "No code can be sent now: try again later.", {}


def check_code(session, code):
    if "asked" not in session:
        return 409, "Ask for a code first.", {}
    phone, uuid = session["asked"]  # before the call: another request may ask for a code meanwhile
    status, body, _ = tidings("/verifier/check", {"uuid": uuid, "code": str(code).strip()})
    if status != 200:
        return 503, "The code cannot be checked now: try again later.", {}
    if body["status"] == "CONFIRMED":
        return 200, "You are logged in.", {"Set-Cookie": log_in(session, phone)}
    if body["status"] == "WRONG_CODE":
        return 401, "The code is wrong.", {}
    return 401, "The code is no longer valid: ask for a new one.", {}  # EXPIRED, NOT_FOUND


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
    try:
        with urlopen(Request(API + path, json.dumps(body).encode(), headers), timeout=10) as answer:
            return answer.status, json.load(answer), "60"
    except HTTPError as refusal:
        return refusal.code, json.load(refusal), refusal.headers.get("Retry-After", "60")
    except (URLError, TimeoutError) as error:
        return 503, {"error": str(error)}, "60"


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        session = self.session()
        if self.path == "/":
            headers = {} if session else {"Set-Cookie": start_session()}
            self.answer(200, PAGE.read_bytes(), {"Content-Type": "text/html; charset=utf-8", **headers})
        elif self.path == "/me" and session and "phone" in session:
            self.say(200, f"You are {session['phone']}.")
        elif self.path == "/me":
            self.say(401, "You are not logged in.")
        else:
            self.say(404, "There is no such page.")

    def do_POST(self):
        session = self.session()
        if self.path not in ("/login/send", "/login/check"):
            return self.say(404, "There is no such page.")
        if not session:
            return self.say(403, "Load the page again.")
        try:
            body = self.body()
        except ValueError:
            return self.say(400, "The request was not understood.")
        if self.path == "/login/send":
            # Behind a proxy of yours, take the address from the header that the proxy sets.
            return self.say(*send_code(session, body.get("phone"), self.client_address[0]))
        return self.say(*check_code(session, body.get("code")))

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


server = ThreadingHTTPServer(("", PORT), Site)
print(f"Login by code: http://localhost:{PORT}", flush=True)
server.serve_forever()
