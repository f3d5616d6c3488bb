#!/usr/bin/env python3
"""A strict fake of four model protocols on 127.0.0.1. Prints its port, serves until standard input ends.

    /v1/responses, /v1/chat/completions      OpenAI         base URL http://127.0.0.1:PORT/v1
    /v1/messages                             Anthropic      http://127.0.0.1:PORT
    /v1beta/models/M:generateContent, ...    Gemini         http://127.0.0.1:PORT
    /compatible/v1/chat/completions          imitators      http://127.0.0.1:PORT/compatible/v1

Gemini answers under /v1, too. Refused is what the real services refuse (model_rules.py). What else happens is said by
words behind the model's name, "gpt-6--bytes--retry-after": see SCENARIOS, ENDINGS, EXTRAS, CHUNKINGS and `go_wrong`.
A word that ends in "-once" goes wrong only the first time that a model of this name is asked.

`--script FILE`: a JSON object of a role ("planner") to its list of replies (text, or any JSON); the role is found in
the first line of the system prompt, "role: planner". The last reply of a list is repeated. `--hold FILE`: they are sent
once that file is there.

/control/count says how many requests came, in all and by model, /control/last shows the last one, /control/reset
forgets them (GET or POST).
"""

import argparse
import email.utils
import http.server
import json
import pathlib
import re
import sys
import threading
import time
import urllib.parse

import model_rules as rules
import model_streams as streams

TEXT = "Grüße, 世界 🚀: this reply is for {model}.\nIt has two lines."
ANTHROPIC_VERSIONS = ("2023-06-01", "2026-10-21")
LONG_PAGE = "<html><head><title>502 Bad Gateway</title></head><body>" + "nginx " * 500 + "</body></html>"

ENDINGS = {"length", "refusal", "filtered", "blocked", "window"}
EXTRAS = {"foreign-fields", "no-usage", "no-done", "empty", "empty-length"}
CHUNKINGS = {"bytes", "crlf", "cr", "pings", "bom", "whole"}


class State:
    def __init__(self, key, script):
        self.key, self.script = key, script
        self.lock = threading.Lock()
        self.reset()

    def reset(self):
        self.total, self.by_model, self.last, self.asked = 0, {}, None, {}

    def note(self, protocol, model, headers, body):
        """How often this model was asked before."""
        with self.lock:
            name = f"{protocol}/{model}"
            self.total += 1
            before = self.by_model.get(name, 0)
            self.by_model[name] = before + 1
            self.last = {"protocol": protocol, "model": model, "headers": headers, "body": body}
            return before

    def scripted(self, role):
        with self.lock:
            replies = self.script[role]
            number = self.asked.get(role, 0)
            self.asked[role] = number + 1
            reply = replies[min(number, len(replies) - 1)]
            return reply if isinstance(reply, str) else json.dumps(reply)


def example_of(schema):
    """A value that fits a schema."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: example_of(part) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [example_of(schema.get("items", {"type": "string"}))] * max(1, schema.get("minItems", 1))
    return {"string": "Zürich 🚀", "integer": schema.get("minimum", 1), "number": schema.get("minimum", 0.5),
            "boolean": True}.get(kind)


def schema_of(protocol, body):
    if protocol == "responses":
        return body.get("text", {}).get("format", {}).get("schema")
    if protocol == "messages":
        return body.get("output_config", {}).get("format", {}).get("schema")
    if protocol == "gemini":
        return body.get("generationConfig", {}).get("responseJsonSchema")
    form = body.get("response_format", {})
    return form.get("schema") if form.get("type") == "json_object" else form.get("json_schema", {}).get("schema")


def system_of(protocol, body):
    def text(value):
        if isinstance(value, list):
            return "\n".join(block.get("text", "") for block in value)
        return value or ""

    if protocol == "responses":
        return text(body.get("instructions"))
    if protocol == "messages":
        return text(body.get("system"))
    if protocol == "gemini":
        return text(body.get("systemInstruction", {}).get("parts", []))
    first = body["messages"][0]
    return text(first["content"]) if first["role"] in ("system", "developer") else ""


# What goes wrong before a stream begins: status, message, code, headers. Functions of the protocol.
def rate_limit(**headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda protocol: (429, "Rate limit reached.", "rate_limit_exceeded", headers, None)


def overload(protocol):
    return (529 if protocol == "messages" else 503), "Overloaded, try later.", "server_is_overloaded", {}, None


def final_limit(protocol):
    if protocol == "messages":
        return (429, "The spend limit was reached.", "", {"x-should-retry": "true"},
                {"error_code": "enforced_spend_limit_reached"})
    if protocol in ("gemini", "compatible"):
        return 402, "The prepaid balance is used up.", "", {}, None
    return 429, "You exceeded your current quota.", "insufficient_quota", {}, None


def retry_info(protocol):
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.2s"}]
    return 429, "Resource exhausted.", "rate_limit_exceeded", {}, details if protocol == "gemini" else None


def in_a_moment(protocol):
    return rate_limit(retry_after=email.utils.formatdate(time.time() + 2, usegmt=True))(protocol)


def fixed(status, message, code="", **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda protocol: (status, message, code, headers, None)


SCENARIOS = {
    "retry-after": rate_limit(retry_after="0.2"),
    "retry-after-ms": rate_limit(retry_after_ms="150", retry_after="300"),
    "retry-date": in_a_moment,
    "retry-info": retry_info,
    "retry-long": rate_limit(retry_after="500"),
    "no-advice": rate_limit(),
    "final-limit": final_limit,
    "overload": overload,
    "conflict": fixed(409, "Conflict."),
    "timeout": fixed(408, "Request timeout."),
    "broken": fixed(500, "Internal error."),
    "should-retry": fixed(400, "Try that again.", "odd", x_should_retry="true"),
    "should-not-retry": fixed(503, "Do not try again.", "server_is_overloaded", x_should_retry="false"),
    "unauthorized": fixed(401, "Incorrect API key provided.", "invalid_api_key"),
    "missing": fixed(404, "The model does not exist.", "model_not_found"),
    "too-long": fixed(400, "The prompt is too long.", "context_length_exceeded"),
    "redirect": fixed(307, "Elsewhere.", "", Location="/v1/elsewhere"),
}

# A parameter that the model does not take, as the words say it: in error.param, or only in the message.
REJECTS = {
    "responses": {"schema": ("text", "format"), "effort": ("reasoning", "effort"), "store": ("store",)},
    "chat": {"schema": ("response_format",), "limit": ("max_completion_tokens",), "effort": ("reasoning_effort",)},
    "compatible": {"schema": ("response_format",), "limit": ("max_tokens",), "options": ("stream_options",)},
    "messages": {"schema": ("output_config", "format"), "effort": ("output_config", "effort"),
                 "thinking": ("thinking",)},
    "gemini": {"schema": ("generationConfig", "responseJsonSchema"),
               "effort": ("generationConfig", "thinkingConfig")},
}


def check_rejects(protocol, words, body):
    if "older-schema" in words and body.get("response_format", {}).get("type", "text") not in ("text", "json_object"):
        raise rules.Refused(500, "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', "
                            "'type'), 'msg': \"Input should be 'text' or 'json_object'\"}", "internal_server_error")
    for word in words:
        match = re.fullmatch(r"reject-([a-z]+)", word)
        path = REJECTS[protocol].get(match[1]) if match else None
        value = body
        for part in path or ():
            value = value.get(part) if isinstance(value, dict) else None
        if path is None or value is None:
            continue
        name = ".".join(path)
        if protocol in ("messages", "gemini"):
            raise rules.Refused(400, f"{name}: '{path[-1]}' is not supported on this model")
        raise rules.Refused(400, f"Unsupported parameter: '{name}'.", "unsupported_parameter", name)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    # The control side

    def do_GET(self):
        if not self.control():
            self.send_json(404, {"error": {"message": "not found"}})

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            if not self.control():
                self.serve(data)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def control(self):
        state = self.server.state
        if self.path == "/control/count":
            self.send_json(200, {"total": state.total, "by_model": state.by_model})
        elif self.path == "/control/last":
            self.send_json(200, state.last)
        elif self.path == "/control/reset":
            state.reset()
            self.send_json(200, {})
        return self.path.startswith("/control/")

    # The protocols

    def route(self):
        """Protocol, model or None when the body says it, whether Gemini streams, whether its stream is of events."""
        url = urllib.parse.urlsplit(self.path)
        match = re.fullmatch(r"/v1(?:beta)?/models/(.+):(generateContent|streamGenerateContent)", url.path)
        if match:
            events = urllib.parse.parse_qs(url.query).get("alt") == ["sse"]
            return "gemini", urllib.parse.unquote(match[1]), match[2].startswith("stream"), events
        protocol = {"/v1/responses": "responses", "/v1/chat/completions": "chat", "/v1/messages": "messages",
                    "/compatible/v1/chat/completions": "compatible"}.get(url.path)
        return protocol, None, None, True

    def serve(self, data):
        protocol, model, streamed, events = self.route()
        if protocol is None:
            return self.send_json(404, {"error": {"message": "no such path", "code": 404}})
        try:
            body = json.loads(data.decode("utf-8"))
        except ValueError:
            return self.send_error_of(protocol, rules.Refused(400, "We could not parse the JSON body."))
        model = model or body.get("model", "")
        streamed = bool(body.get("stream")) if streamed is None else streamed
        before = self.server.state.note(protocol, model, dict(self.headers.items()), body)
        plain, *words = model.split("--")
        words = [word.removesuffix("-once") for word in words if before == 0 or not word.endswith("-once")]
        try:
            self.check(protocol, plain, words, body)
        except rules.Refused as refused:
            return self.send_error_of(protocol, refused)
        if not self.go_wrong(protocol, words):
            self.answer(protocol, plain, words, body, streamed, events)

    def check(self, protocol, model, words, body):
        if self.headers.get("Content-Type", "").split(";")[0] != "application/json":
            raise rules.Refused(415, "The content type has to be application/json.")
        self.check_key(protocol)
        if not model:
            raise rules.Refused(400, "you must provide a model parameter", "missing_required_parameter", "model")
        {"responses": rules.check_responses, "chat": rules.check_chat, "gemini": rules.check_gemini,
         "messages": lambda b, m: rules.check_messages_api(b, m, self.headers.get("anthropic-version")),
         "compatible": lambda b, m: rules.check_chat(b, m, compatible=True)}[protocol](body, model)
        check_rejects(protocol, words, body)

    def key_of(self, protocol):
        if protocol == "messages" and "x-api-key" in self.headers:
            return self.headers["x-api-key"]
        if protocol == "gemini":
            return self.headers.get("x-goog-api-key", "")
        value = self.headers.get("Authorization", "")
        return value.removeprefix("Bearer ") if value.startswith("Bearer ") else ""

    def check_key(self, protocol):
        key, wanted = self.key_of(protocol), self.server.state.key
        if protocol == "compatible":
            return
        if protocol == "messages" and self.headers.get("anthropic-version") not in ANTHROPIC_VERSIONS:
            raise rules.Refused(400, "anthropic-version: header is required")
        if not key:
            raise rules.Refused(403 if protocol == "gemini" else 401, "No API key was given.", "invalid_api_key")
        if key != wanted and protocol == "gemini":
            refused = rules.Refused(400, "API key not valid. Please pass a valid API key.")
            refused.details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
            raise refused
        if key != wanted:
            raise rules.Refused(401, f"Incorrect API key provided: {key}.", "invalid_api_key")

    def go_wrong(self, protocol, words):
        """Whether an answer was given, or nothing more is to be said."""
        for word in words:
            if word in SCENARIOS:
                status, message, code, headers, details = SCENARIOS[word](protocol)
                self.send_json(status, streams.error_body(protocol, status, message, code, None, details), headers)
                return True
        if "html" in words or "html-200" in words:
            self.send_bytes(200 if "html-200" in words else 502, LONG_PAGE.encode(), "text/html")
        elif "garbage" in words:
            self.send_bytes(200, b"data: {\"half\": \n\ndata: 17\n\n", "text/event-stream")
        elif "no-body" in words:
            self.send_bytes(500, b"", "text/plain")
        elif "echo-key" in words:
            message = f"bad key {self.key_of(protocol)}\n\tand again {self.key_of(protocol)}: " + "ü" * 500
            self.send_json(400, streams.error_body(protocol, 400, message, "invalid_api_key"))
        elif "echo-key-raw" in words:
            page = b"bad \xff\xfe " + self.key_of(protocol).encode() + b"\r\n\x00 \x1b[31m rest"
            self.send_bytes(400, page, "text/plain")
        elif "hang-up" in words:
            self.close_connection = True
        elif "slow" in words:
            self.sleep(20)
            self.close_connection = True
        else:
            return False
        return True

    def answer(self, protocol, model, words, body, streamed, events):
        ending = next((word for word in words if word in ENDINGS), "")
        text = self.text_of(protocol, model, words, body)
        if not streamed or "plain-json" in words:
            return self.send_json(200, streams.WHOLE[protocol](model, text, ending))
        stream = streams.STREAMS[protocol](model, text, ending, set(words) & EXTRAS)
        if protocol == "gemini" and not events:
            return self.send_json(200, [data for _, data in stream])
        self.send_stream(protocol, stream, words)

    def text_of(self, protocol, model, words, body):
        if "empty" in words or "empty-length" in words:
            return ""
        if "echo-key-text" in words:
            return f"Your key is {self.key_of(protocol)}."
        role = re.match(r"role: *(\S+)", system_of(protocol, body).split("\n")[0])
        if role and role[1] in self.server.state.script:
            while self.server.hold and not self.server.hold.exists() and not self.server.ending.is_set():
                self.sleep(0.02)
            return self.server.state.scripted(role[1])
        schema = schema_of(protocol, body)
        return json.dumps(example_of(schema), ensure_ascii=False) if schema else TEXT.format(model=model)

    # Bytes

    def send_stream(self, protocol, stream, words):
        self.send_response(200)
        kind = "text/plain" if "text-plain" in words else "text/event-stream; charset=utf-8"
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if "error-at-start" in words or "error-in-stream" in words:
            stop = 0 if "error-at-start" in words else len(stream) // 2
            status = 529 if protocol == "messages" else 503
            stream = stream[:stop] + [streams.error_event(protocol, status, "Overloaded.", "server_is_overloaded")]
        if "disconnect" in words or "slow-stream" in words:
            stream = stream[:len(stream) // 2]
        for piece in self.encoded(stream, words):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        if "slow-stream" in words:
            self.sleep(20)
        if "disconnect" in words or "slow-stream" in words:
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")

    def encoded(self, stream, words):
        end = "\r\n" if "crlf" in words else "\r" if "cr" in words else "\n"
        text = "\ufeff" if "bom" in words else ""
        for name, data in stream:
            if "pings" in words:
                text += f": keep-alive{end}{end}: {end}id: 1{end}retry: 10{end}"
            if name:
                text += f"event: {name}{end}"
            data = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
            if "pings" in words and data.startswith("{"):
                data = "{\n" + data[1:]   # data of several lines
            text += "".join(f"data:{' ' if end == chr(10) else ''}{line}{end}" for line in data.split("\n")) + end
        data = text.encode("utf-8")
        # 13 bytes cut most characters of several bytes somewhere.
        size = 1 if "bytes" in words else len(data) if "whole" in words else 13
        return [data[i:i + size] for i in range(0, len(data), size)]

    def sleep(self, seconds):
        """Until the time is over or the server ends."""
        self.server.ending.wait(seconds)

    def send_error_of(self, protocol, refused):
        body = streams.error_body(protocol, refused.status, refused.message, refused.code, refused.param,
                                  getattr(refused, "details", None))
        self.send_json(refused.status, body)

    def send_json(self, status, value, headers=None):
        self.send_bytes(status, json.dumps(value).encode(), "application/json", headers)

    def send_bytes(self, status, data, kind, headers=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):   # clients of ours leave when they have enough
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser(description="a strict fake of four model protocols")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="test-key-0123456789abcdef")
    parser.add_argument("--script", help="a JSON file of role to list of replies")
    parser.add_argument("--hold", type=pathlib.Path, help="scripted replies wait for this file")
    options = parser.parse_args()
    script = {}
    if options.script:
        with open(options.script, encoding="utf-8") as file:
            script = json.load(file)
    server = Server(("127.0.0.1", options.port), Handler)
    server.state = State(options.key, script)
    server.hold = options.hold
    server.ending = threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()   # whoever started this closes it, or dies
    server.ending.set()
    server.shutdown()


if __name__ == "__main__":
    main()
