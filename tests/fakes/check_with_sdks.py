#!/usr/bin/env python3
"""The official libraries of three providers against the fake: run by scripts/check_fake."""

import json
import os
import pathlib
import subprocess
import sys

import anthropic
import openai
from google import genai
from google.genai import errors, types

KEY = "test-key-0123456789abcdef"
HELLO = "Grüße, 世界 🚀"
SCHEMA = {"type": "object", "additionalProperties": False, "required": ["name"],
          "properties": {"name": {"type": "string"}}}
AWKWARD = "--crlf--bytes--foreign-fields"
ASK = [{"role": "user", "content": "Hello?"}]


def expect(condition, what):
    print(("ok      " if condition else "FAILED  ") + what)
    expect.failed |= not condition


expect.failed = False


def check_responses(client, model):
    reply = client.responses.create(model=model, input="Hello?")
    expect(HELLO in reply.output_text and reply.usage.input_tokens == 120, "responses, whole")
    with client.responses.stream(model=model + "--crlf--bytes", input="Hello?") as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        final = stream.get_final_response()
    expect(HELLO in text and text == final.output_text, "responses, streamed")
    wanted = {"type": "json_schema", "name": "plan", "strict": True, "schema": SCHEMA}
    reply = client.responses.create(model=model, input="Hello?", text={"format": wanted})
    expect("name" in json.loads(reply.output_text), "responses, structured")
    try:
        client.responses.create(model=model, input="Hello?", temperature=0.2)
        expect(False, "responses, error")
    except openai.BadRequestError as error:
        expect(error.param == "temperature" and error.code == "unsupported_value", "responses, error")
    events = client.responses.create(model=model + "--error-in-stream", input="Hello?", stream=True)
    expect([event.code for event in events if event.type == "error"] == ["server_is_overloaded"],
           "responses, error in the stream")


def check_chat(client, model, name):
    reply = client.chat.completions.create(model=model, messages=ASK)
    expect(HELLO in reply.choices[0].message.content and reply.usage.prompt_tokens == 120, name + ", whole")
    stream = client.chat.completions.create(model=model + AWKWARD, messages=ASK, stream=True,
                                            stream_options={"include_usage": True})
    text, usage = "", None
    for chunk in stream:
        usage = chunk.usage or usage
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
    expect(HELLO in text and usage.completion_tokens == 30, name + ", streamed")
    wanted = {"type": "json_schema", "json_schema": {"name": "plan", "strict": True, "schema": SCHEMA}}
    reply = client.chat.completions.create(model=model, messages=ASK, response_format=wanted)
    expect("name" in json.loads(reply.choices[0].message.content), name + ", structured")
    try:
        client.chat.completions.create(model=model + "--final-limit", messages=ASK)
        expect(False, name + ", error")
    except openai.APIStatusError as error:
        expect(error.status_code in (402, 429), name + ", error")


def check_messages(client, model):
    asked = {"model": model, "max_tokens": 1000, "messages": ASK}
    reply = client.messages.create(**asked)
    text = "".join(block.text for block in reply.content if block.type == "text")
    expect(HELLO in text and reply.usage.cache_read_input_tokens == 40, "messages, whole")
    with client.messages.stream(**{**asked, "model": model + "--crlf--bytes--pings"}) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    expect(HELLO in text and final.stop_reason == "end_turn", "messages, streamed")
    wanted = {"format": {"type": "json_schema", "schema": SCHEMA}}
    reply = client.messages.create(**asked, extra_body={"output_config": wanted})
    text = "".join(block.text for block in reply.content if block.type == "text")
    expect("name" in json.loads(text), "messages, structured")
    try:
        client.messages.create(**asked, extra_body={"temperature": 0.2})
        expect(False, "messages, error")
    except anthropic.BadRequestError as error:
        expect("temperature" in error.message, "messages, error")
    try:
        with client.messages.stream(**{**asked, "model": model + "--error-in-stream"}) as stream:
            stream.get_final_message()
        expect(False, "messages, error in the stream")
    except anthropic.APIStatusError as error:
        expect("verloaded" in str(error), "messages, error in the stream")


def check_gemini(client, model):
    reply = client.models.generate_content(model=model, contents="Hello?")
    expect(HELLO in reply.text and reply.usage_metadata.thoughts_token_count == 10, "gemini, whole")
    stream = client.models.generate_content_stream(model=model, contents="Hello?")
    expect(HELLO in "".join(chunk.text or "" for chunk in stream), "gemini, streamed")
    config = types.GenerateContentConfig(response_mime_type="application/json", response_json_schema=SCHEMA)
    reply = client.models.generate_content(model=model, contents="Hello?", config=config)
    expect("name" in json.loads(reply.text), "gemini, structured")
    try:
        client.models.generate_content(model=model + "--final-limit", contents="Hello?")
        expect(False, "gemini, error")
    except errors.APIError as error:
        expect(error.code == 402, "gemini, error")


def main():
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    server = pathlib.Path(__file__).with_name("model_server.py")
    command = [sys.executable, server, "--key", KEY]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        base = f"http://127.0.0.1:{int(process.stdout.readline())}"
        client = openai.OpenAI(base_url=base + "/v1", api_key=KEY, max_retries=0)
        check_responses(client, "gpt-6.2-sol")
        check_chat(client, "gpt-6.2-sol", "chat")
        other = openai.OpenAI(base_url=base + "/compatible/v1", api_key="none", max_retries=0)
        check_chat(other, "qwen3", "compatible")
        check_messages(anthropic.Anthropic(base_url=base, api_key=KEY, max_retries=0), "claude-opus-5-5")
        check_gemini(genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=base)), "gemini-3-pro")
    finally:
        process.stdin.close()
        process.wait()
    sys.exit("the fake is not what the libraries expect" if expect.failed else 0)


if __name__ == "__main__":
    main()
