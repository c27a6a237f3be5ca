// The requests of Claude Code, also those of settings that `claude-code-task.test.ts` does not run: written by hand after
// what its documentation on gateways and public captures of it show (2026-11), and sent as it sends them.
import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, describe, expect, test } from 'bun:test';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { readMessagesStream } from '../../support/rules/messages-stream-rules.ts';

const gateway = await startEveryUpstream();
afterAll(() => gateway.close());

const HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'claude-cli/2.1.0 (external, cli)',
  'x-app': 'cli',
  'anthropic-version': '2023-06-01',
  'anthropic-beta':
    'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,fine-grained-tool-streaming-2025-05-14',
  'anthropic-dangerous-direct-browser-access': 'true',
  'x-claude-code-session-id': '8f0c2d5e-0000-4000-8000-000000000001',
  'x-stainless-helper-method': 'stream',
  'x-stainless-lang': 'js',
  'x-stainless-retry-count': '0',
};

const post = (path: string, body: unknown, credential: Record<string, string> = {}): Promise<Response> =>
  fetch(gateway.origin + path, {
    method: 'POST',
    headers: { ...HEADERS, authorization: `Bearer ${gateway.key}`, ...credential },
    body: JSON.stringify(body),
  });

const bash = {
  name: 'Bash',
  description: 'Runs a command',
  input_schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      command: { description: 'The command', type: 'string' },
      timeout: { description: 'Milliseconds', type: 'number' },
    },
    required: ['command'],
    additionalProperties: false,
  },
};
const TASK = 'Please do this.\ncall Bash {"command": "echo hello"}\ncall Bash {"command": "ls"}';

/** A turn as the program writes it: system blocks with breakpoints, its metadata, and what its betas add. */
function turn(model: string, messages: readonly unknown[], changes: object = {}): Record<string, unknown> {
  return {
    model,
    max_tokens: 32_000,
    stream: true,
    metadata: { user_id: '{"device_id":"d","account_uuid":"","session_id":"s"}' },
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.0; cc_entrypoint=cli;' },
      { type: 'text', text: 'You help in a terminal.', cache_control: { type: 'ephemeral' } },
    ],
    tools: [bash],
    messages,
    ...changes,
  };
}

const reminder = { type: 'text', text: '<system-reminder>\nToday is a day.\n</system-reminder>' };
const said = (text: string): unknown => ({
  role: 'user',
  content: [reminder, { type: 'text', text, cache_control: { type: 'ephemeral' } }],
});

test('the probe and the list of models work with either credential', async () => {
  expect((await fetch(`${gateway.origin}/`, { method: 'HEAD' })).status).toBe(200);
  for (const credential of [{ authorization: `Bearer ${gateway.key}` }, { 'x-api-key': gateway.key }]) {
    const response = await fetch(`${gateway.origin}/v1/models?limit=1000`, {
      headers: { 'anthropic-version': '2023-06-01', ...credential },
      redirect: 'manual',
    });
    expect(response.status).toBe(200);
  }
});

describe.each([...UPSTREAMS, 'sim/claude'])('%s', (model) => {
  test.each([
    ['a budget', { thinking: { type: 'enabled', budget_tokens: 31_999 }, temperature: 1 }],
    [
      'adaptive thinking and an effort',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' }, temperature: 1 },
    ],
    [
      'edits of the context',
      {
        thinking: { type: 'adaptive' },
        context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      },
    ],
  ])('completes a task of two commands, with %s', async (_, changes) => {
    const messages: unknown[] = [said(TASK)];
    const commands: unknown[] = [];
    for (let step = 0; step < 3; step++) {
      const response = await post('/v1/messages?beta=true', turn(model, messages, changes));
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      expect(response.headers.get('request-id')).toMatch(/^[0-9a-f]{32}$/);
      const { content } = messageOf(await response.text());
      messages.push({ role: 'assistant', content });
      const calls = content.filter((block) => block.type === 'tool_use');
      if (calls.length === 0) break;
      commands.push(...calls.map(({ input }) => input));
      const results = calls.map(({ id }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: 'hello',
        is_error: false,
        cache_control: { type: 'ephemeral' },
      }));
      messages.push({ role: 'user', content: results });
    }
    expect(commands).toEqual([{ command: 'echo hello' }, { command: 'ls' }]);
    expect(JSON.stringify(messages.at(-1))).toContain('Bash returned: hello');
  });

  test('answers a short question without tools, for a title', async () => {
    const body = turn(model, [{ role: 'user', content: 'count to 3' }], { max_tokens: 512, tools: [] });
    const { content } = messageOf(await (await post('/v1/messages?beta=true', body)).text());
    expect(JSON.stringify(content)).toContain('1, 2, 3');
  });

  test('counts tokens', async () => {
    const { model: name, system, tools, messages } = turn(model, [said(TASK)]);
    const response = await post('/v1/messages/count_tokens?beta=true', {
      model: name,
      system,
      tools,
      messages,
    });
    expect(response.status).toBe(200);
    const { input_tokens: tokens } = (await response.json()) as Anthropic.MessageTokensCount;
    expect(tokens).toBeGreaterThan(50);
  });
});

test('a tool with members of betas is accepted by every upstream', async () => {
  for (const model of ['sim/chat', 'sim/responses', 'sim/messages']) {
    const strictly = { ...bash.input_schema, required: ['command', 'timeout'] };
    const tool = {
      ...bash,
      input_schema: strictly,
      strict: true,
      defer_loading: false,
      eager_input_streaming: true,
    };
    const body = turn(model, [said(TASK)], { tools: [tool] });
    expect((await post('/v1/messages?beta=true', body)).status).toBe(200);
  }
});

test('errors for a prompt that is too long and for a wrong key have the texts that it searches for', async () => {
  const long = await post('/v1/messages?beta=true', turn('sim/context-overflow', [said('Hello')]));
  expect(long.status).toBe(400);
  expect(await long.text()).toContain('prompt is too long');
  const stranger = await post('/v1/messages?beta=true', turn('sim/chat', [said('Hello')]), {
    authorization: 'Bearer sk-wrong',
  });
  expect(stranger.status).toBe(401);
  expect(await stranger.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
});

interface Read {
  readonly content: Anthropic.ContentBlock[];
}

/** The message that a stream says, which must be a legal one. */
function messageOf(text: string): Read {
  return { content: readMessagesStream(text).content as unknown as Anthropic.ContentBlock[] };
}
