"""The official Anthropic and Google SDKs for Python in front of each of the upstream protocols.

Run by test/clients/sdk/python.test.ts with DRAGOMAN_ORIGIN and DRAGOMAN_KEY of a running gateway, and in
DRAGOMAN_MODELS a model for each of the protocols. Needs `anthropic` and
`google-genai`; what is not installed is skipped.
"""

import base64
import hashlib
import io
import json
import os
import tempfile
import time
import unittest

try:
    import anthropic
except ImportError:
    anthropic = None
try:
    from google import genai
    from google.genai import errors, types
except ImportError:
    genai = None

ORIGIN = os.environ["DRAGOMAN_ORIGIN"]
KEY = os.environ["DRAGOMAN_KEY"]
MODELS = os.environ["DRAGOMAN_MODELS"].split()
TASK = 'Please do this.\ncall get_weather {"city": "Lima"}\ncall get_weather {"city": "Oslo"}'
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}


@unittest.skipIf(anthropic is None, "anthropic is not installed")
class Anthropic(unittest.TestCase):
    def setUp(self):
        self.client = anthropic.Anthropic(base_url=ORIGIN, api_key=KEY, max_retries=0)
        self.addCleanup(self.client.close)

    def sent_by(self, client):
        """What the client sends from now on: the type of each request's thread."""
        types = []
        send = client._client.send

        def watched(request, **options):
            types.append((json.loads(request.content).get("thread") or {}).get("type"))
            return send(request, **options)

        client._client.send = watched
        return types

    def test_threads_hold_what_was_said(self):
        for model in MODELS:
            for streamed in (False, True):
                with self.subTest(model=model, streamed=streamed):
                    sent = self.sent_by(self.client)
                    thread = self.client.beta.messages.thread(
                        model=model, max_tokens=4000, tools=[{"name": "get_weather", "input_schema": SCHEMA}]
                    )

                    def say(content):
                        message = {"role": "user", "content": content}
                        if not streamed:
                            return thread.send(message)
                        with thread.stream(message) as stream:
                            return stream.get_final_message()

                    answer = say(TASK)
                    steps = 1
                    while calls := [block for block in answer.content if block.type == "tool_use"]:
                        answer = say(
                            [
                                {"type": "tool_result", "tool_use_id": call.id, "content": f"fog in {call.input['city']}"}
                                for call in calls
                            ]
                        )
                        steps += 1
                    self.assertGreater(steps, 1)
                    self.assertEqual(sent, ["create"] + ["continue"] * (steps - 1))
                    self.assertIn("fog in Oslo", "".join(block.text for block in answer.content if block.type == "text"))

    def test_tool_runner_runs_over_a_thread(self):
        for model in MODELS:
            for streamed in (False, True):
                with self.subTest(model=model, streamed=streamed):
                    sent = self.sent_by(self.client)

                    @anthropic.beta_tool
                    def get_weather(city: str) -> str:
                        """Weather of a city."""
                        return f"fog in {city}"

                    runner = self.client.beta.messages.tool_runner(
                        model=model,
                        max_tokens=4000,
                        tools=[get_weather],
                        messages=[{"role": "user", "content": TASK}],
                        stream=streamed,
                    )
                    answer = runner.until_done()
                    self.assertEqual(sent[0], "create")
                    self.assertEqual(set(sent[1:]), {"continue"})
                    self.assertIn("fog in Oslo", "".join(block.text for block in answer.content if block.type == "text"))

    def test_tools_and_thinking_over_several_steps(self):
        for model in MODELS:
            with self.subTest(model=model):
                messages = [{"role": "user", "content": TASK}]
                thoughts = 0
                for _ in range(5):
                    with self.client.messages.stream(
                        model=model,
                        max_tokens=8000,
                        thinking={"type": "enabled", "budget_tokens": 2000},
                        tools=[{"name": "get_weather", "input_schema": SCHEMA}],
                        messages=messages,
                    ) as stream:
                        answer = stream.get_final_message()
                    self.assertGreater(answer.usage.input_tokens, 0)
                    thoughts += any(block.type in ("thinking", "redacted_thinking") for block in answer.content)
                    messages.append({"role": "assistant", "content": answer.content})
                    calls = [block for block in answer.content if block.type == "tool_use"]
                    if not calls:
                        break
                    self.assertEqual(answer.stop_reason, "tool_use")
                    results = [
                        {"type": "tool_result", "tool_use_id": call.id, "content": f"fog in {call.input['city']}"}
                        for call in calls
                    ]
                    messages.append({"role": "user", "content": results})
                text = "".join(block.text for block in answer.content if block.type == "text")
                self.assertEqual(text, "get_weather returned: fog in Oslo")
                self.assertEqual(thoughts, 0 if model == "sim/chat" else 3)

    def test_counts_and_errors(self):
        counted = self.client.messages.count_tokens(
            model="sim/messages", messages=[{"role": "user", "content": "What is 6 x 7?"}]
        )
        self.assertGreater(counted.input_tokens, 0)
        with self.assertRaises(anthropic.NotFoundError):
            self.client.messages.create(
                model="sim/nobody", max_tokens=10, messages=[{"role": "user", "content": "x"}]
            )


@unittest.skipIf(genai is None, "google-genai is not installed")
class Google(unittest.TestCase):
    def setUp(self):
        self.client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=ORIGIN))

    def test_tools_and_thinking_over_several_steps(self):
        declaration = types.FunctionDeclaration(name="get_weather", parameters_json_schema=SCHEMA)
        config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=[declaration])],
            thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_budget=2000),
        )
        for model in MODELS:
            with self.subTest(model=model):
                contents = [types.Content(role="user", parts=[types.Part(text=TASK)])]
                thoughts = 0
                for _ in range(5):
                    answer = self.client.models.generate_content(model=model, contents=contents, config=config)
                    self.assertGreater(answer.usage_metadata.prompt_token_count, 0)
                    content = answer.candidates[0].content
                    thoughts += any(part.thought for part in content.parts)
                    contents.append(content)
                    if not answer.function_calls:
                        break
                    contents.append(
                        types.Content(
                            role="user",
                            parts=[
                                types.Part(
                                    function_response=types.FunctionResponse(
                                        id=call.id, name=call.name, response={"output": f"fog in {call.args['city']}"}
                                    )
                                )
                                for call in answer.function_calls
                            ],
                        )
                    )
                self.assertEqual(answer.text, "get_weather returned: fog in Oslo")
                self.assertEqual(thoughts, 0 if model == "sim/chat" else 3)

    def test_streams_counts_and_errors(self):
        for model in MODELS:
            with self.subTest(model=model):
                chunks = list(self.client.models.generate_content_stream(model=model, contents="count to 12"))
                self.assertIn("12", "".join(chunk.text or "" for chunk in chunks))
                self.assertEqual(chunks[-1].candidates[0].finish_reason, types.FinishReason.STOP)
        self.assertGreater(self.client.models.count_tokens(model="sim/chat", contents="hello").total_tokens, 0)
        with self.assertRaises(errors.ClientError) as caught:
            self.client.models.generate_content(model="sim/nobody", contents="x")
        self.assertEqual(caught.exception.code, 404)

    def ended(self, batch):
        for _ in range(1_200):
            if batch.done:
                return batch
            time.sleep(0.05)
            batch = self.client.batches.get(name=batch.name)
        self.fail("the batch did not end")

    def test_files_hold_what_requests_and_batches_name(self):
        files = self.client.files
        notes = files.upload(file=io.BytesIO(b"The meeting is on Tuesday."), config={"name": "notes", "mime_type": "text/plain"})
        self.assertEqual((notes.name, notes.size_bytes, notes.state), ("files/notes", 26, types.FileState.ACTIVE))
        # The hex text in base64, as Google returns it.
        self.assertEqual(base64.b64decode(notes.sha256_hash).decode(), hashlib.sha256(b"The meeting is on Tuesday.").hexdigest())
        self.assertEqual((notes.expiration_time - notes.create_time).total_seconds(), 48 * 3600)
        for model in MODELS:
            with self.subTest(model=model):
                answer = self.client.models.generate_content(model=model, contents=[notes, "When is the meeting?"])
                self.assertTrue(answer.text)
        lines = [{"key": model, "request": {"contents": [{"parts": [{"text": "What is 6 x 7?"}]}], "model": model}} for model in MODELS]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lines.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                # Larger than one piece of the library's, which is 8 MB.
                file.write("\n".join([" " * 9_000_000, *map(json.dumps, lines)]))
            asked = files.upload(file=path, config={"name": "batch-lines", "mime_type": "jsonl", "display_name": "lines"})
        self.assertEqual((asked.display_name, asked.mime_type), ("lines", "application/jsonl"))
        self.assertIn(asked.name, [each.name for each in files.list(config={"page_size": 1})])
        batch = self.ended(self.client.batches.create(model=MODELS[0], src=asked.name))
        self.assertEqual(batch.state, types.JobState.JOB_STATE_SUCCEEDED)
        results = files.get(name=batch.dest.file_name)
        for file in (results, batch.dest.file_name):
            ends = [json.loads(line) for line in files.download(file=file).splitlines()]
            self.assertEqual([each["key"] for each in ends], MODELS)
            self.assertTrue(all(each["response"]["candidates"] for each in ends))
        for each in (notes, asked, results):
            files.delete(name=each.name)
            with self.assertRaises(errors.ClientError) as caught:
                files.get(name=each.name)
            self.assertEqual(caught.exception.code, 404)
        with self.assertRaises(errors.ClientError) as caught:
            files.upload(file=io.BytesIO(b"x" * 53_000_000), config={"mime_type": "text/plain"})
        self.assertIn("files.max_mb", caught.exception.message)

    def test_batches_of_any_model(self):
        asked = [
            types.InlinedRequest(model=model, contents="What is 6 x 7?", metadata={"key": model}) for model in MODELS
        ]
        asked.append(types.InlinedRequest(model="sim/nobody", contents="x", metadata={"key": "nobody"}))
        made = self.client.batches.create(model=MODELS[0], src=asked, config={"display_name": "demo"})
        self.assertEqual(made.display_name, "demo")
        batch = self.ended(made)
        self.assertEqual(batch.state, types.JobState.JOB_STATE_SUCCEEDED)
        responses = batch.dest.inlined_responses
        self.assertEqual([each.metadata["key"] for each in responses], MODELS + ["nobody"])
        for each in responses[:-1]:
            self.assertTrue(each.response.text)
        self.assertIn("nobody", responses[-1].error.message)
        self.assertIn(made.name, [each.name for each in self.client.batches.list(config={"page_size": 5})])
        self.client.batches.cancel(name=made.name)
        self.client.batches.delete(name=made.name)
        with self.assertRaises(errors.ClientError) as caught:
            self.client.batches.get(name=made.name)
        self.assertEqual(caught.exception.code, 404)


if __name__ == "__main__":
    unittest.main()
