"""The official OpenAI SDK for Python in front of each of the upstream protocols. Needs nothing but `openai`.

Run by test/clients/sdk/python.test.ts with DRAGOMAN_BASE_URL and DRAGOMAN_KEY of a running gateway, and in DRAGOMAN_MODELS a
model for each of the protocols.
"""

import asyncio
import json
import os
import unittest

import openai
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

BASE_URL = os.environ["DRAGOMAN_BASE_URL"]
KEY = os.environ["DRAGOMAN_KEY"]
client = OpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def function(name):
    return {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    }


TOOLS = [function("get_weather"), function("get_time")]


def user(content):
    return [{"role": "user", "content": content}]


class Person(BaseModel):
    name: str
    age: int


class Scenarios:
    """Everything that must be the same over each protocol."""

    model = ""
    shows_reasoning = True

    def create(self, messages, **parameters):
        return client.chat.completions.create(model=self.model, messages=messages, **parameters)

    def test_plain(self):
        answer = self.create(user("What is 6 x 7?"))
        self.assertIn("42", answer.choices[0].message.content)
        self.assertEqual(answer.choices[0].finish_reason, "stop")
        self.assertEqual(answer.model, self.model)
        self.assertIsNone(answer.choices[0].message.tool_calls)
        self.assertEqual(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens)
        self.assertEqual(answer._request_id, answer.id)

    def test_streamed(self):
        whole = self.create(user("count to 20")).choices[0].message.content
        # As the product's own samples read it: choices[0] without a look.
        chunks = list(self.create(user("count to 20"), stream=True))
        self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks), whole)
        self.assertEqual(chunks[-1].choices[0].finish_reason, "stop")
        counted = list(self.create(user("count to 20"), stream=True, stream_options={"include_usage": True}))
        self.assertEqual(counted[-1].choices, [])
        self.assertGreater(counted[-1].usage.completion_tokens, 0)

    def test_tool_loop(self):
        messages = user('What is the weather in "Paris"?')
        message = self.create(messages, tools=TOOLS).choices[0].message
        self.assertEqual([call.function.name for call in message.tool_calls], ["get_weather"])
        messages += [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "sunny"}]
        self.assertIn("sunny", self.create(messages, tools=TOOLS).choices[0].message.content)

    def test_parallel_calls_streamed(self):
        messages = user('In parallel: get_weather and get_time for "Rome"')
        with client.chat.completions.stream(model=self.model, messages=messages, tools=TOOLS) as stream:
            for _ in stream:
                pass
            message = stream.get_final_completion().choices[0].message
        self.assertEqual(sorted(call.function.name for call in message.tool_calls), ["get_time", "get_weather"])
        self.assertEqual(len({call.id for call in message.tool_calls}), 2)
        for call in message.tool_calls:
            self.assertIn("city", json.loads(call.function.arguments))

    def test_tool_choice(self):
        named = {"type": "function", "function": {"name": "get_time"}}
        message = self.create(user("no tools"), tools=TOOLS, tool_choice=named).choices[0].message
        self.assertEqual([call.function.name for call in message.tool_calls], ["get_time"])
        self.assertTrue(self.create(user("no tools"), tools=TOOLS, tool_choice="required").choices[0].message.tool_calls)
        self.assertIsNone(self.create(user("get_time"), tools=TOOLS, tool_choice="none").choices[0].message.tool_calls)

    def test_structured_output(self):
        answer = client.chat.completions.parse(
            model=self.model, messages=user('Describe "Ada", 36 years old.'), response_format=Person
        )
        self.assertIsInstance(answer.choices[0].message.parsed, Person)

    def test_reasoning(self):
        extra = {"reasoning": {"effort": "high"}}
        message = self.create(user("What is 12 / 5?"), extra_body=extra).choices[0].message
        # As the guide's sample reads it: its absence is legal.
        self.assertEqual(bool(getattr(message, "reasoning", None)), self.shows_reasoning)
        hidden = {"reasoning": {"effort": "high", "exclude": True}}
        message = self.create(user("What is 12 / 5?"), extra_body=hidden).choices[0].message
        for name in ("reasoning", "reasoning_content", "reasoning_details"):
            self.assertFalse(hasattr(message, name))
        off = self.create(user("What is 12 / 5?"), extra_body={"reasoning": {"enabled": False}})
        # No upstream counts reasoning of which there is none: then there may be no details at all.
        details = off.usage.completion_tokens_details
        self.assertIn(details and details.reasoning_tokens, (0, None))

    def test_reasoning_goes_on_over_a_tool_turn(self):
        extra = {"reasoning": {"effort": "high"}}
        messages = user('What is the weather in "Oslo"?')
        message = self.create(messages, tools=TOOLS, extra_body=extra).choices[0].message
        messages += [message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "snow"}]
        second = self.create(messages, tools=TOOLS, extra_body=extra).choices[0].message
        self.assertIn("snow", second.content)
        self.assertEqual(bool(getattr(second, "reasoning", None)), self.shows_reasoning)

    def test_image(self):
        parts = [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
        ]
        self.assertTrue(self.create(user(parts)).choices[0].message.content)

    def test_stop(self):
        answer = self.create(user("count to 20"), stop=["7"])
        self.assertNotIn("7", answer.choices[0].message.content)
        self.assertIn("6", answer.choices[0].message.content)
        self.assertEqual(answer.choices[0].finish_reason, "stop")

    def test_asynchronous(self):
        async def read():
            async with AsyncOpenAI(base_url=BASE_URL, api_key=KEY) as asynchronous:
                stream = await asynchronous.chat.completions.create(
                    model=self.model, messages=user("count to 9"), stream=True
                )
                return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

        self.assertIn("9", asyncio.run(read()))


for named in os.environ["DRAGOMAN_MODELS"].split():
    # One class for each: OpenAI's Chat Completions never show reasoning.
    members = {"model": named, "shows_reasoning": named != "sim/chat"}
    globals()[named] = type(named, (Scenarios, unittest.TestCase), members)


class Errors(unittest.TestCase):
    def failure(self, expected, model, **parameters):
        with self.assertRaises(expected) as raised:
            client.with_options(max_retries=2).chat.completions.create(
                model=model, messages=user("Tell me a story."), **parameters
            )
        return raised.exception

    def test_classes(self):
        self.assertEqual(self.failure(openai.NotFoundError, "sim/nothing").code, "model_not_found")
        self.failure(openai.BadRequestError, "sim/error-400")
        self.assertEqual(self.failure(openai.BadRequestError, "sim/chat", temperature=-1).param, "temperature")
        error = self.failure(openai.InternalServerError, "sim/error-401")
        self.assertEqual(error.status_code, 502)
        self.assertEqual(error.response.headers["x-should-retry"], "false")
        self.assertEqual(self.failure(openai.InternalServerError, "sim/error-503").status_code, 503)
        self.assertIn("retry-after", self.failure(openai.RateLimitError, "sim/error-429").response.headers)

    def test_key(self):
        with self.assertRaises(openai.AuthenticationError):
            client.with_options(api_key="sk-wrong").models.list()

    def test_cut_stream(self):
        stream = client.chat.completions.create(model="sim/cut-after-10", messages=user("Tell me a story."), stream=True)
        with self.assertRaises(openai.APIError):
            for _ in stream:
                pass


class Models(unittest.TestCase):
    def test_list_and_retrieve(self):
        self.assertIn("sim/chat", [model.id for model in client.models.list()])
        self.assertEqual(client.models.retrieve("sim/chat").id, "sim/chat")


if __name__ == "__main__":
    unittest.main()
