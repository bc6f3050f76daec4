"""What notifications are pushed to: receiver.py PORT_FILE

One server on the loopback is a push service of browsers and of UnifiedPush, which checks who sends and decrypts as the
browser would; a server of webhooks, which checks signatures; and a page that shows what came. Written to the
specifications, with other libraries than Caravan's.

    POST /subscriptions/NAME        makes one: answers with what a browser's PushSubscription says
    POST /push/NAME                 where messages to it come
    OPTIONS, POST /hook/NAME        where events come
    POST /mode/NAME MODE            how it answers from now on: ok, gone, busy, away, refuses, redirects, hangs, garbage
    POST /secret/NAME SECRET        what signatures of the webhook are checked with
    GET  /seen/NAME                 what has come, a JSON list
    GET  /                          the page
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import http_ece
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ORIGIN = "caravan"
lock = threading.Lock()
keys, modes, secrets, seen, complaints = {}, {}, {}, {}, []

PAGE = """<!doctype html><meta charset="utf-8"><title>Notifications</title>
<style>body{font:16px sans-serif;margin:2em;max-width:40em}li{border:1px solid #999;border-radius:.5em;padding:.6em;
margin:.5em 0;list-style:none}b{display:block}small{color:#666}</style>
<h1>Notifications</h1><ul id="list"></ul><script>
async function show() {
  const list = await (await fetch("/seen/browser")).json();
  document.getElementById("list").replaceChildren(...list.map(one => {
    const item = document.createElement("li"), title = document.createElement("b"), small = document.createElement("small");
    title.textContent = one.title || one.reason + " " + (one.type || "");
    small.textContent = [one.subscription, one.zone, one.record, one.at].filter(Boolean).join(" · ");
    item.append(title, one.body || "", document.createElement("br"), small);
    return item;
  }));
}
show(); setInterval(show, 300);
</script>"""


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def check_sender(header, origin):
    """RFC 8292: who sends has signed for this push service, and for a day at most."""
    assert header.startswith("vapid "), header
    fields = dict(part.strip().split("=", 1) for part in header[6:].split(","))
    head, claims, signature = fields["t"].split(".")
    assert json.loads(unb64(head)) == {"typ": "JWT", "alg": "ES256"}
    claims_said = json.loads(unb64(claims))
    assert claims_said["aud"] == origin, claims_said
    assert time.time() < claims_said["exp"] <= time.time() + 86400, claims_said
    raw = unb64(signature)
    assert len(raw) == 64
    der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(fields["k"]))
    point.verify(der, f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    return fields["k"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fails(self, name):
        """Whether the answer is none of success, which is then given."""
        mode = modes.get(name, "ok")
        if mode == "ok":
            return False
        if mode == "hangs":
            time.sleep(30)
        elif mode == "garbage":
            self.wfile.write(b"\x00\x01 this is no HTTP \xff\r\n\r\n")
            self.close_connection = True
            return True
        elif mode == "redirects":
            self.answer(307, Location="/stolen")
            return True
        status = {"gone": 410, "busy": 429, "away": 503, "refuses": 400}.get(mode, 500)
        self.answer(status, **({"Retry_After": "1"} if mode == "busy" else {}))
        return True

    def do_OPTIONS(self):
        name = self.path.split("/")[-1]
        if modes.get(name) == "unwilling":
            return self.answer(200)
        assert self.headers["WebHook-Request-Origin"] == ORIGIN
        self.answer(200, WebHook_Allowed_Origin=ORIGIN, WebHook_Allowed_Rate="6000")

    def do_GET(self):
        if self.path == "/":
            return self.answer(200, PAGE.encode(), Content_Type="text/html; charset=utf-8")
        if self.path == "/complaints":
            return self.answer(200, json.dumps(complaints).encode())
        with lock:
            self.answer(200, json.dumps(seen.get(self.path.split("/")[-1], [])).encode(), Content_Type="application/json")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        what, name = self.path.strip("/").split("/")[:2] if self.path.count("/") > 1 else (self.path.strip("/"), "")
        try:
            getattr(self, "post_" + what)(name, body)
        except ConnectionError:  # who sent it was killed before it had the answer, and sends it again
            pass
        except Exception as error:  # whatever is wrong with a message is to be seen by the test
            complaints.append(f"{self.path}: {error!r}")
            self.answer(400)

    def post_subscriptions(self, name, _):
        key, auth = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        keys[name] = (key, auth)
        point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        host = f"http://127.0.0.1:{self.server.server_port}"
        subscription = {"endpoint": f"{host}/push/{name}", "keys": {"p256dh": b64(point), "auth": b64(auth)}}
        self.answer(200, json.dumps(subscription).encode())

    def post_push(self, name, body):
        if self.fails(name):
            return
        check_sender(self.headers["Authorization"], f"http://127.0.0.1:{self.server.server_port}")
        assert self.headers["Content-Encoding"] == "aes128gcm" and int(self.headers["TTL"]) > 0 and len(body) <= 4096
        key, auth = keys[name]
        text = http_ece.decrypt(body, private_key=key, auth_secret=auth, version="aes128gcm")
        self.take(name, json.loads(text))
        self.answer(201)

    def post_hook(self, name, body):
        if self.fails(name):
            return
        sent = self.headers["webhook-timestamp"]
        assert abs(time.time() - int(sent)) < 300
        message = f"{self.headers['webhook-id']}.{sent}.".encode() + body
        mac = hmac.new(base64.b64decode(secrets[name].removeprefix("whsec_")), message, hashlib.sha256).digest()
        assert "v1," + base64.b64encode(mac).decode() in self.headers["webhook-signature"].split(" "), "signature"
        event = json.loads(body)
        assert event["specversion"] == "1.0" and event["id"] == self.headers["webhook-id"]
        assert self.headers["Content-Type"].startswith("application/cloudevents+json")
        self.take(name, event["data"])
        self.answer(204)

    def post_stolen(self, *_):
        complaints.append("a redirect was followed")
        self.answer(200)

    def post_mode(self, name, body):
        modes[name] = body.decode()
        self.answer(200)

    def post_secret(self, name, body):
        secrets[name] = body.decode()
        self.answer(200)

    def take(self, name, notification):
        with lock:
            seen.setdefault(name, []).append(notification)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
