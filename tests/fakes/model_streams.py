"""How each provider's answer looks, whole and as a stream: the forms of the fake in model_server.py.

A stream is a list of (event name or None, data). The counts of tokens are the same everywhere, so that a client that
reads them right comes to the same numbers: 120 of input, of these 40 cached and 8 written to the cache; 30 of output,
of these 10 of reasoning. Gemini knows no cache writes.
"""

INPUT, CACHED, WRITTEN, OUTPUT, REASONING = 120, 40, 8, 30, 10
REFUSAL = "I cannot help with that."


def pieces(text, size=7):
    return [text[i:i + size] for i in range(0, len(text), size)]


def chat_usage():
    return {"prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT,
            "prompt_tokens_details": {"cached_tokens": CACHED, "cache_write_tokens": WRITTEN},
            "completion_tokens_details": {"reasoning_tokens": REASONING}}


CHAT_REASONS = {"length": "length", "filtered": "content_filter"}


def chat_whole(model, text, ending):
    message = {"role": "assistant", "content": text or None, "refusal": REFUSAL if ending == "refusal" else None}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": CHAT_REASONS.get(ending, "stop")}],
            "usage": chat_usage()}


def chat_stream(model, text, ending, extras):
    def chunk(choices, **more):
        return None, {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
                      "choices": choices, **more}

    def delta(reason=None, **content):
        return chunk([{"index": 0, "delta": content, "finish_reason": reason}])

    events = [delta(role="assistant", content="")]
    if "foreign-fields" in extras:
        events += [delta(reasoning_content="Let me see.", content=None), delta(reasoning="Let me see."),
                   (None, {"timings": {"n": 1}}), ("custom", {"choices": [], "progress": 0.5})]
    events += [delta(content=piece) for piece in pieces(text)]
    if ending == "refusal":
        events += [delta(refusal=piece) for piece in pieces(REFUSAL)]
    events.append(delta(CHAT_REASONS.get(ending, "stop")))
    if "no-usage" not in extras:
        events.append(chunk([], usage=chat_usage()))
    return events if "no-done" in extras else events + [(None, "[DONE]")]


def responses_whole(model, text, ending):
    reasons = {"length": "max_output_tokens", "filtered": "content_filter"}
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}] if text else []
    if ending == "refusal":
        content = [{"type": "refusal", "refusal": REFUSAL}]
    incomplete = ending in reasons
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": content,
               "status": "incomplete" if incomplete else "completed"}
    return {"id": "resp_1", "object": "response", "created_at": 1, "model": model, "error": None,
            "status": "incomplete" if incomplete else "completed",
            "incomplete_details": {"reason": reasons[ending]} if incomplete else None,
            "output": [{"id": "rs_1", "type": "reasoning", "summary": []}] + ([message] if content else []),
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
            "usage": {"input_tokens": INPUT, "output_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT,
                      "input_tokens_details": {"cached_tokens": CACHED, "cache_write_tokens": WRITTEN},
                      "output_tokens_details": {"reasoning_tokens": REASONING}}}


def responses_stream(model, text, ending, extras):
    whole = responses_whole(model, text, ending)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    place = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    events = [("response.created", {"response": begun}), ("response.in_progress", {"response": begun}),
              ("response.output_item.added", {"output_index": 0, "item": whole["output"][0]}),
              ("response.output_item.done", {"output_index": 0, "item": whole["output"][0]})]
    if "foreign-fields" in extras:
        events.append(("response.something_new", {"odd": True}))
    if len(whole["output"]) > 1:
        item = whole["output"][1]
        part = item["content"][0]
        blank = {**part, "refusal": ""} if ending == "refusal" else {**part, "text": ""}
        kind = "response.refusal" if ending == "refusal" else "response.output_text"
        more = {} if ending == "refusal" else {"logprobs": []}
        events.append(("response.output_item.added",
                       {"output_index": 1, "item": {**item, "content": [], "status": "in_progress"}}))
        events.append(("response.content_part.added", {**place, "part": blank}))
        said = REFUSAL if ending == "refusal" else text
        events += [(kind + ".delta", {**place, "delta": piece, **more}) for piece in pieces(said)]
        events.append((kind + ".done", {**place, "refusal" if ending == "refusal" else "text": said, **more}))
        events.append(("response.content_part.done", {**place, "part": part}))
        events.append(("response.output_item.done", {"output_index": 1, "item": item}))
    events.append(("response." + whole["status"], {"response": whole}))
    return [(name, {"type": name, "sequence_number": number, **data})
            for number, (name, data) in enumerate(events)]


CLAUDE_REASONS = {"length": "max_tokens", "refusal": "refusal", "filtered": "refusal",
                  "window": "model_context_window_exceeded"}


def claude_usage():
    return {"input_tokens": INPUT - CACHED - WRITTEN, "cache_read_input_tokens": CACHED,
            "cache_creation_input_tokens": WRITTEN, "output_tokens": OUTPUT,
            "output_tokens_details": {"thinking_tokens": REASONING}}


def claude_stop(ending):
    reason = CLAUDE_REASONS.get(ending, "end_turn")
    details = {"type": "refusal", "category": "frontier_llm", "explanation": REFUSAL}
    return {"stop_reason": reason, "stop_sequence": None, "stop_details": details if reason == "refusal" else None}


def messages_whole(model, text, ending):
    thinking = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": model,
            "content": [thinking] + ([{"type": "text", "text": text}] if text else []),
            **claude_stop(ending), "usage": claude_usage()}


def messages_stream(model, text, ending, extras):
    start = {**messages_whole(model, "", ending), "content": [], "stop_reason": None, "stop_details": None}
    start["usage"] = {**claude_usage(), "output_tokens": 1}
    del start["usage"]["output_tokens_details"]
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    events = [("message_start", {"message": start}),
              ("content_block_start", {"index": 0, "content_block": thinking}),
              ("ping", {}),
              ("content_block_delta", {"index": 0, "delta": {"type": "thinking_delta", "thinking": "Let me see."}}),
              ("content_block_delta", {"index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}}),
              ("content_block_stop", {"index": 0})]
    if "foreign-fields" in extras:
        events.append(("something_new", {"odd": True}))
    if text:
        events.append(("content_block_start", {"index": 1, "content_block": {"type": "text", "text": ""}}))
        events += [("content_block_delta", {"index": 1, "delta": {"type": "text_delta", "text": piece}})
                   for piece in pieces(text)]
        events.append(("content_block_stop", {"index": 1}))
    usage = {**claude_usage(), "input_tokens": None, "cache_read_input_tokens": None,
             "cache_creation_input_tokens": None}
    events.append(("message_delta", {"delta": claude_stop(ending), "usage": usage}))
    events.append(("message_stop", {}))
    return [(name, {"type": name, **data}) for name, data in events]


GEMINI_REASONS = {"length": "MAX_TOKENS", "refusal": "SAFETY", "filtered": "PROHIBITED_CONTENT"}


def gemini_usage():
    return {"promptTokenCount": INPUT, "cachedContentTokenCount": CACHED, "thoughtsTokenCount": REASONING,
            "candidatesTokenCount": OUTPUT - REASONING, "totalTokenCount": INPUT + OUTPUT}


def gemini_whole(model, text, ending):
    if ending == "blocked":
        return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": model,
                "usageMetadata": {"promptTokenCount": INPUT, "totalTokenCount": INPUT}}
    candidate = {"index": 0, "finishReason": GEMINI_REASONS.get(ending, "STOP"), "content": {"role": "model"}}
    if text:
        candidate["content"]["parts"] = [{"text": text}]
    return {"candidates": [candidate], "usageMetadata": gemini_usage(), "modelVersion": model, "responseId": "r1"}


def gemini_stream(model, text, ending, extras):
    if ending == "blocked":
        return [(None, gemini_whole(model, text, ending))]

    def chunk(parts, **more):
        return None, {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, **more}],
                      "usageMetadata": gemini_usage(), "modelVersion": model, "responseId": "r1"}

    events = [chunk([{"text": "Let me see.", "thought": True}])]
    if "foreign-fields" in extras:
        events.append((None, {"somethingNew": {"odd": True}}))
    events += [chunk([{"text": piece}]) for piece in pieces(text)]
    return events + [chunk([{"text": "", "thoughtSignature": "c2ln"}],
                           finishReason=GEMINI_REASONS.get(ending, "STOP"))]


STREAMS = {"chat": chat_stream, "compatible": chat_stream, "responses": responses_stream,
           "messages": messages_stream, "gemini": gemini_stream}
WHOLE = {"chat": chat_whole, "compatible": chat_whole, "responses": responses_whole, "messages": messages_whole,
         "gemini": gemini_whole}

STATUS_NAMES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "PAYMENT_REQUIRED", 403: "PERMISSION_DENIED",
                404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}
CLAUDE_TYPES = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error",
                403: "permission_error", 404: "not_found_error", 413: "request_too_large",
                429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}


def error_body(protocol, status, message, code="", param=None, details=None):
    """The body of an answer that is an error."""
    if protocol == "messages":
        error = {"type": CLAUDE_TYPES.get(status, "api_error"), "message": message}
        if details:
            error["details"] = details
        return {"type": "error", "error": error, "request_id": "req_1"}
    if protocol == "gemini":
        error = {"code": status, "message": message, "status": STATUS_NAMES.get(status, "UNKNOWN")}
        if details:
            error["details"] = details
        return {"error": error}
    kind = "invalid_request_error" if status < 429 else "server_error"
    if protocol == "compatible":
        return {"error": {"message": message, "type": kind, "code": status, "param": param}}
    return {"error": {"message": message, "type": kind, "param": param, "code": code or None}}


def error_event(protocol, status, message, code=""):
    """An error in a stream that began well."""
    if protocol == "messages":
        return "error", error_body(protocol, status, message)
    if protocol == "responses":
        return "error", {"type": "error", "sequence_number": 9, "code": code, "message": message, "param": None}
    return None, error_body(protocol, status, message, code)
