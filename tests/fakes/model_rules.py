"""What the providers of language models refuse: the rules of the fake in model_server.py.

Each `check_*` raises `Refused` for a request that the real service would not take.
"""

import re


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status, message, code="", param=None):
        super().__init__(message)
        self.status, self.message, self.code, self.param = status, message, code, param


def is_reasoning(model):
    return re.match(r"(gpt-[5-9]|o[134])", model) is not None


def is_newest_openai(model):
    return re.match(r"gpt-6\.2", model) is not None


EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def need(condition, message, param=None, code="invalid_value", status=400):
    if not condition:
        raise Refused(status, message, code, param)


def schema_parts(schema):
    """A schema and all schemas in it."""
    yield schema
    for key in ("items", "not"):
        if isinstance(schema.get(key), dict):
            yield from schema_parts(schema[key])
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for part in schema.get(key, []):
            yield from schema_parts(part)
    for key in ("properties", "$defs", "definitions"):
        for part in schema.get(key, {}).values():
            yield from schema_parts(part)


def check_strict_schema(schema, name, param):
    need(isinstance(schema, dict), "schema must be an object", param)
    for part in schema_parts(schema):
        if "properties" not in part and part.get("type") != "object":
            continue
        properties, required = part.get("properties", {}), part.get("required", [])
        invalid = f"Invalid schema for response_format '{name}': In context=(), "
        need(part.get("additionalProperties") is False,
             invalid + "'additionalProperties' is required to be supplied and to be false.", param,
             "invalid_json_schema")
        missing = sorted(set(properties) - set(required))
        need(not missing, invalid + "'required' is required to be supplied and to be an array including every key "
             f"in properties. Missing '{missing[0] if missing else ''}'.", param, "invalid_json_schema")
        for keyword in ("minLength", "maxLength", "uniqueItems", "default"):
            need(keyword not in part, invalid + f"'{keyword}' is not permitted.", param, "invalid_json_schema")


def check_known(body, known):
    for key in body:
        need(key in known, f"Unknown parameter: '{key}'.", key, "unknown_parameter")


def check_sampling(body, model):
    if not is_reasoning(model):
        return
    for key, default in (("temperature", 1), ("top_p", 1), ("presence_penalty", 0), ("frequency_penalty", 0)):
        need(body.get(key, default) == default,
             f"Unsupported value: '{key}' does not support {body.get(key)} with this model. "
             f"Only the default ({default}) value is supported.", key, "unsupported_value")


def check_effort(effort, model, param):
    if effort is None:
        return
    need(is_reasoning(model), f"Unsupported parameter: '{param}' is not supported with this model.", param,
         "unsupported_parameter")
    allowed = EFFORTS[2:] if is_newest_openai(model) else EFFORTS
    need(effort in allowed, f"Unsupported value: '{effort}' is not supported with the '{model}' model.", param,
         "unsupported_value")


def check_messages(messages, param, roles):
    need(isinstance(messages, list) and messages, f"Invalid '{param}': empty array.", param)
    for index, message in enumerate(messages):
        place = f"{param}[{index}]"
        need(message.get("role") in roles, f"Invalid value: '{message.get('role')}'.", place + ".role")
        need(message.get("content") not in (None, "", []), f"Invalid '{place}.content'.", place + ".content")


CHAT_KEYS = {"model", "messages", "max_completion_tokens", "max_tokens", "reasoning_effort", "response_format",
             "tools", "tool_choice", "stream", "stream_options", "temperature", "top_p", "presence_penalty",
             "frequency_penalty", "n", "stop", "seed", "user", "prompt_cache_key", "prompt_cache_retention",
             "prompt_cache_options", "store", "metadata", "service_tier", "verbosity"}


def check_chat(body, model, compatible=False):
    if not compatible:
        check_known(body, CHAT_KEYS)
        check_sampling(body, model)
        check_effort(body.get("reasoning_effort"), model, "reasoning_effort")
        if is_reasoning(model):
            need("max_tokens" not in body, "Unsupported parameter: 'max_tokens' is not supported with this model. "
                 "Use 'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter")
        if is_newest_openai(model):
            need("tools" not in body, "Function tools are not supported with this model in /v1/chat/completions. "
                 "Use /v1/responses instead.", "tools", "unsupported_parameter")
    check_messages(body.get("messages"), "messages", {"system", "developer", "user", "assistant", "tool"})
    for key in ("max_tokens", "max_completion_tokens"):
        need(isinstance(body.get(key, 1), int) and body.get(key, 1) > 0, f"Invalid '{key}'.", key)
    need(body.get("stream") or "stream_options" not in body,
         "The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    wanted = body.get("response_format", {"type": "text"})
    need(wanted.get("type") in ("text", "json_object", "json_schema"), "Invalid response_format.",
         "response_format")
    if wanted["type"] == "json_schema":
        check_format(wanted.get("json_schema", {}), "response_format")


def check_format(wanted, param):
    name = wanted.get("name", "")
    need(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name), f"Missing or invalid '{param}.name'.", param + ".name")
    need("schema" in wanted, f"Missing required parameter: '{param}.schema'.", param + ".schema")
    if wanted.get("strict"):
        check_strict_schema(wanted["schema"], name, param + ".schema" if param == "text.format" else param)


RESPONSES_KEYS = {"model", "instructions", "input", "max_output_tokens", "reasoning", "text", "tools", "tool_choice",
                  "store", "include", "stream", "temperature", "top_p", "prompt_cache_key", "prompt_cache_options",
                  "prompt_cache_retention", "metadata", "previous_response_id", "truncation", "user",
                  "service_tier", "stream_options", "parallel_tool_calls"}


def check_responses(body, model):
    check_known(body, RESPONSES_KEYS)
    check_sampling(body, model)
    need("input" in body, "Missing required parameter: 'input'.", "input", "missing_required_parameter")
    if not isinstance(body["input"], str):
        check_messages(body["input"], "input", {"system", "developer", "user", "assistant"})
    limit = body.get("max_output_tokens", 16)
    need(isinstance(limit, int) and limit >= 16, "Invalid 'max_output_tokens': below the minimum of 16.",
         "max_output_tokens", "integer_below_min_value")
    reasoning = body.get("reasoning") or {}
    need(set(reasoning) <= {"effort", "summary", "mode"}, "Unknown parameter in 'reasoning'.", "reasoning")
    check_effort(reasoning.get("effort"), model, "reasoning.effort")
    need(not ("prompt_cache_retention" in body and "ttl" in body.get("prompt_cache_options", {})),
         "'prompt_cache_retention' cannot be used with a ttl.", "prompt_cache_retention")
    text = body.get("text") or {}
    need(set(text) <= {"format", "verbosity"}, "Unknown parameter in 'text'.", "text")
    wanted = text.get("format", {"type": "text"})
    need(wanted.get("type") in ("text", "json_object", "json_schema"), "Invalid 'text.format.type'.",
         "text.format.type")
    if wanted["type"] == "json_schema":
        check_format(wanted, "text.format")
    for tool in body.get("tools", []):
        need(tool.get("type") != "function" or "name" in tool, "Missing required parameter: 'tools[0].name'.",
             "tools[0].name", "missing_required_parameter")


def claude_version(model):
    """("opus", 5.5) of claude-opus-5-5; older names begin with the number."""
    match = re.match(r"claude-(opus|sonnet|haiku)-(\d+)(?:-(\d)(?!\d))?", model)
    if match:
        return match[1], int(match[2]) + int(match[3] or 0) / 10
    match = re.match(r"claude-(\d)(?:-(\d)(?!\d))?-(opus|sonnet|haiku)", model)
    return (match[3], int(match[1]) + int(match[2] or 0) / 10) if match else ("opus", 9)


MESSAGES_KEYS = {"model", "max_tokens", "system", "messages", "tools", "tool_choice", "output_config", "thinking",
                 "stream", "temperature", "top_p", "top_k", "stop_sequences", "metadata", "cache_control",
                 "service_tier"}
UNSUPPORTED_BY_CLAUDE = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
                         "maxLength", "maxItems", "uniqueItems")


def check_messages_api(body, model, version_header="2023-06-01"):
    family, version = claude_version(model)
    for key in body:
        need(key in MESSAGES_KEYS, f"{key}: Extra inputs are not permitted")
    need("max_tokens" in body, "max_tokens: Field required")
    need(isinstance(body["max_tokens"], int) and 1 <= body["max_tokens"] <= 128000, "max_tokens: out of range")
    check_claude_messages(body)
    # The API of 2026-10-21 knows no sampling parameters, whatever the model.
    if version >= 5 or (family == "opus" and version >= 4.7) or version_header != "2023-06-01":
        for key in ("temperature", "top_p", "top_k"):
            need(key not in body, f"{key}: this parameter is not supported on this model")
    check_thinking(body, family, version)
    check_output_config(body.get("output_config", {}), version)
    if family == "sonnet" and version >= 5.5:
        need(body.get("tool_choice", {}).get("type") not in ("any", "tool"),
             "tool_choice: forced tool use is not supported on this model")


def check_claude_messages(body):
    messages = body.get("messages")
    need(isinstance(messages, list) and messages, "messages: at least one message is required")
    need(messages[0].get("role") == "user", "messages: first message must use the \"user\" role")
    need(messages[-1].get("role") == "user", "This model does not support assistant message prefill. "
         "The conversation must end with a user message.")
    system = body.get("system", "-")
    need(system != [], "system: list must not be empty")
    blocks = list(system) if isinstance(system, list) else []
    for message in messages:
        need(message.get("role") in ("user", "assistant"), "messages: Unexpected role")
        content = message.get("content")
        need(content, "messages: text content blocks must be non-empty")
        blocks += content if isinstance(content, list) else []
    for block in blocks:
        need(block.get("type") != "text" or block.get("text", "").strip(),
             "messages: text content blocks must be non-empty")
    marks = [block["cache_control"] for block in blocks if "cache_control" in block]
    need(len(marks) <= 4, f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    for mark in marks:
        need(mark.get("type") == "ephemeral" and mark.get("ttl", "5m") in ("5m", "1h"), "cache_control: invalid")


def check_thinking(body, family, version):
    thinking = body.get("thinking", {})
    kind = thinking.get("type")
    if kind is None:
        return
    effort = body.get("output_config", {}).get("effort")
    newest = version >= 5 or (family == "opus" and version >= 4.7)
    if kind == "adaptive":
        need(version >= 4.6, "adaptive thinking is not supported on this model")
        need("budget_tokens" not in thinking, "thinking.budget_tokens: Extra inputs are not permitted")
    elif kind == "enabled":
        need(not newest, "thinking.type.enabled: budget_tokens is not supported on this model")
        need(thinking.get("budget_tokens", 0) >= 1024, "thinking.enabled.budget_tokens: Field required")
    else:
        need(kind == "disabled" and version < 5.5 and not (version >= 5 and effort in ("xhigh", "max")),
             f"thinking.type: '{kind}' is not supported on this model")


def check_output_config(config, version):
    for key in config:
        need(key in ("effort", "format"), f"output_config.{key}: Extra inputs are not permitted")
    if "effort" in config:
        need(version >= 4.5 and config["effort"] in EFFORTS[2:],
             "output_config.effort: not supported on this model")
    if "format" not in config:
        return
    need(version >= 4.1, "output_config.format: Extra inputs are not permitted")
    wanted = config["format"]
    need(wanted.get("type") == "json_schema" and isinstance(wanted.get("schema"), dict),
         "output_config.format: a json_schema with a schema is required")
    for part in schema_parts(wanted["schema"]):
        if part.get("type") == "object":
            need(part.get("additionalProperties") is False,
                 "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly "
                 "set to false")
        for keyword in UNSUPPORTED_BY_CLAUDE:
            need(keyword not in part, f"output_config.format.schema: For '{part.get('type')}' type, property "
                 f"'{keyword}' is not supported")
        need(part.get("minItems", 0) <= 1, "output_config.format.schema: 'minItems' above 1 is not supported")


GEMINI_KEYS = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings",
               "cachedContent"}
GENERATION_KEYS = {"maxOutputTokens", "responseMimeType", "responseJsonSchema", "responseSchema", "thinkingConfig",
                   "temperature", "topP", "topK", "candidateCount", "stopSequences", "seed"}
THINKING_KEYS = {"thinkingLevel", "thinkingBudget", "includeThoughts"}


def check_gemini(body, model):
    def check_fields(value, known, place):
        for key in value:
            where = f" at '{place}'" if place else ""
            need(key in known, f'Invalid JSON payload received. Unknown name "{key}"{where}: Cannot find field.',
                 code="INVALID_ARGUMENT")

    def want(condition, message):
        need(condition, message, code="INVALID_ARGUMENT")

    check_fields(body, GEMINI_KEYS, "")
    config = body.get("generationConfig", {})
    check_fields(config, GENERATION_KEYS, "generation_config")
    thinking = config.get("thinkingConfig", {})
    check_fields(thinking, THINKING_KEYS, "generation_config.thinking_config")
    want(body.get("contents"), "* GenerateContentRequest.contents: contents is not specified")
    for content in body["contents"]:
        want(content.get("role", "user") in ("user", "model"), "Please use a valid role: user, model.")
        want(content.get("parts"), "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.")
    want(not ("thinkingLevel" in thinking and "thinkingBudget" in thinking),
         "You can only set only one of thinking budget and thinking level.")
    want("thinkingLevel" not in thinking or not re.match(r"gemini-[12]", model),
         "Thinking level is not supported for this model.")
    want(str(thinking.get("thinkingLevel", "HIGH")).upper() in ("MINIMAL", "LOW", "MEDIUM", "HIGH"),
         "Invalid thinkingLevel")
    want(not {"responseJsonSchema", "responseSchema"} & set(config)
         or config.get("responseMimeType") == "application/json",
         "Function calling or schema needs responseMimeType application/json")
    limit = config.get("maxOutputTokens", 1)
    want(isinstance(limit, int) and 1 <= limit <= 65536, "maxOutputTokens: out of range")
    for part in schema_parts(config.get("responseJsonSchema", {})):
        want("minLength" not in part, "responseJsonSchema: unknown keyword")
