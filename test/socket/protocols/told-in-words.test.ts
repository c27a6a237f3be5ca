// Parts of a conversation never vanish: each is carried, rendered as text for the model with a report, or refused by
// name. Parameters and tools that an upstream cannot have may go, with a report.
import { afterAll, describe, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import type { ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { recordOf, startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { PNG } from '../../support/images.ts';

const scene = await startScene(['up']);
const faithful = await startScene(['up'], { faithful: true });
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await faithful[Symbol.asyncDispose]();
});

const ANSWERS: Readonly<Record<string, object>> = {
  chat: chatBody('Hi'),
  responses: responsesBody([]),
  messages: messagesBody([{ type: 'text', text: 'Hi' }], 'end_turn'),
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
  },
};
const MODELS = Object.keys(ANSWERS);

interface Case {
  readonly path: (model: string) => string;
  /** A conversation with a node that no other protocol knows, and its path. */
  readonly item: object;
  readonly itemPath: string;
  /** The same in a message of a person. */
  readonly part: object;
  readonly partPath: string;
  /** Only an unknown tool; with another; forced. */
  readonly tools: readonly [alone: object, among: object, forced: object | null];
}
const UPDATE = { type: 'ghost_snapshot', commit: 'abc123', note: 'x'.repeat(4000) };
const FUNCTION = { name: 'f', parameters: { type: 'object', properties: {} } };
const said = (...parts: object[]): object => ({ role: 'user', content: parts });

const CASES: Readonly<Record<ClientProtocol, Case>> = {
  'openai-chat': {
    path: () => '/chat/completions',
    item: {
      messages: [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: [{ type: 'text', text: 'Two' }, UPDATE] },
        { role: 'user', content: 'Three' },
      ],
    },
    itemPath: 'messages[1].content[1]',
    part: {
      messages: [said({ type: 'text', text: 'Look' }, { type: 'hologram', hologram: 'a' })],
    },
    partPath: 'messages[0].content[1]',
    tools: [
      { tools: [{ type: 'new_tool' }] },
      { tools: [{ type: 'new_tool' }, { type: 'function', function: FUNCTION }] },
      {
        tools: [{ type: 'new_tool' }, { type: 'function', function: FUNCTION }],
        tool_choice: { type: 'new_tool' },
      },
    ],
  },
  'openai-responses': {
    path: () => '/responses',
    item: {
      store: false,
      input: [{ role: 'user', content: 'One' }, UPDATE, { role: 'user', content: 'Three' }],
    },
    itemPath: 'input[1]',
    part: {
      store: false,
      input: [said({ type: 'input_text', text: 'Look' }, { type: 'input_video', video_url: 'a' })],
    },
    partPath: 'input[0].content[1]',
    tools: [
      { tools: [{ type: 'new_tool' }] },
      { tools: [{ type: 'new_tool' }, { type: 'function', ...FUNCTION }] },
      { tools: [{ type: 'new_tool' }, { type: 'function', ...FUNCTION }], tool_choice: { type: 'new_tool' } },
    ],
  },
  'anthropic-messages': {
    path: () => '/messages',
    item: {
      max_tokens: 100,
      messages: [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: [{ type: 'text', text: 'Two' }, UPDATE] },
        { role: 'user', content: 'Three' },
      ],
    },
    itemPath: 'messages[1].content[1]',
    part: {
      max_tokens: 100,
      messages: [said({ type: 'text', text: 'Look' }, { type: 'hologram', hologram: 'a' })],
    },
    partPath: 'messages[0].content[1]',
    tools: [
      { tools: [{ type: 'new_tool_20270101', name: 'news' }] },
      {
        tools: [
          { type: 'new_tool_20270101', name: 'news' },
          { name: 'f', input_schema: FUNCTION.parameters },
        ],
      },
      {
        tools: [
          { type: 'new_tool_20270101', name: 'news' },
          { name: 'f', input_schema: FUNCTION.parameters },
        ],
        tool_choice: { type: 'tool', name: 'news' },
      },
    ],
  },
  gemini: {
    path: (model) => `/models/${model}:generateContent`,
    item: {
      contents: [
        { role: 'user', parts: [{ text: 'One' }] },
        { role: 'model', parts: [{ text: 'Two' }, { ghost_snapshot: UPDATE }] },
        { role: 'user', parts: [{ text: 'Three' }] },
      ],
    },
    itemPath: 'contents[1].parts[1]',
    part: { contents: [{ role: 'user', parts: [{ text: 'Look' }, { hologram: { data: 'a' } }] }] },
    partPath: 'contents[0].parts[1]',
    tools: [
      { tools: [{ newTool: {} }] },
      { tools: [{ newTool: {} }, { functionDeclarations: [{ name: 'f' }] }] },
      null,
    ],
  },
};

async function ask(
  on: Scene,
  client: ClientProtocol,
  model: string,
  body: object,
  headers = {},
): Promise<Response> {
  on.upstream('up').script(whole(ANSWERS[model]));
  const name = `one/${model}`;
  const words = client === 'openai-chat' ? { messages: [{ role: 'user', content: 'Hi' }] } : {};
  const input = client === 'openai-responses' ? { input: 'Hi', store: false } : {};
  const messages =
    client === 'anthropic-messages' ? { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] } : {};
  const contents =
    client === 'gemini' ? { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] } : { model: name };
  return on.gateway.post(
    CASES[client].path(name),
    { ...words, ...input, ...messages, ...contents, ...body },
    headers,
  );
}

const sent = (on: Scene): string => JSON.stringify(on.upstream('up').requests.at(-1)?.json);

describe.each(Object.keys(CASES) as ClientProtocol[])('a client of %s', (client) => {
  const own = client.split('-').at(-1) ?? client;
  const { item, itemPath, part, partPath, tools } = CASES[client];
  const others = MODELS.filter((model) => model !== own);

  test.each(others)(
    'has unknown items of its history rendered as text for the model of %s, truncated and reported',
    async (model) => {
      const response = await ask(scene, client, model, item);
      expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
      const report = list(await recordOf(scene.gateway, response), 'report');
      expect(report.find((entry) => at(entry, 'path') === itemPath)).toMatchObject({
        action: 'approximated',
      });
      const text = sent(scene);
      expect(text).toContain('[ghost_snapshot] ');
      expect(text).toContain('abc123');
      for (const word of ['One', 'Three']) expect(text).toContain(word);
      const reported = text.match(/x{100,}/g)?.map((run) => run.length) ?? [];
      expect(reported).toHaveLength(1);
      expect(reported[0]).toBeWithin(1900, 2049);
    },
  );

  test.each(others)(
    'is refused an unknown part in the message of a person at the model of %s',
    async (model) => {
      const response = await ask(scene, client, model, part);
      expect(response.status).toBe(400);
      expect(await response.text()).toContain(partPath);
      expect(scene.upstream('up').requests.length).toBe(0);
    },
  );

  test('has all unknown members sent to the vendor of the protocol, and to its other upstreams', async () => {
    for (const on of [faithful, scene]) {
      for (const body of [item, part]) {
        const response = await ask(on, client, own, body);
        expect([response.status, response.headers.get('x-dragoman-report')]).toEqual([200, null]);
        expect(sent(on)).not.toContain('[ghost_snapshot]');
      }
      if (client === 'gemini') expect(sent(on)).toContain('hologram');
    }
  });

  test.each(others)('loses an unknown tool among others at the model of %s, with a report', async (model) => {
    const response = await ask(scene, client, model, tools[1]);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-report')).toMatch(/tools\[0\](\.newTool)?:dropped/);
  });

  test.each(others)(
    'is refused an unknown tool that is alone, or forced, at the model of %s',
    async (model) => {
      for (const body of [tools[0], tools[2]]) {
        if (!body) continue;
        const response = await ask(scene, client, model, body);
        expect(response.status).toBe(400);
        expect(await response.text()).toContain('tools[0]');
      }
    },
  );
});

describe('work of hosted tools', () => {
  test('of Anthropic is rendered as text for others, without encrypted content', async () => {
    const messages = [
      { role: 'user', content: 'One' },
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rivers' } },
          {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_1',
            content: [
              {
                type: 'web_search_result',
                url: 'https://a.example',
                title: 'A',
                encrypted_content: 'SECRET',
              },
            ],
          },
          { type: 'text', text: 'Two' },
        ],
      },
      { role: 'user', content: 'Three' },
    ];
    for (const model of ['chat', 'responses', 'gemini']) {
      const response = await ask(scene, 'anthropic-messages', model, { max_tokens: 100, messages });
      expect(response.status).toBe(200);
      expect(sent(scene)).toContain('rivers');
      expect(sent(scene)).toContain('https://a.example');
      expect(sent(scene)).not.toContain('SECRET');
      expect(response.headers.get('x-dragoman-report')).toContain('messages[1].content[0]:approximated');
    }
  });

  test('at the end of a history is not the beginning of the answer', async () => {
    const input = [
      { role: 'user', content: 'One' },
      { type: 'ghost_snapshot', commit: 'abc123' },
    ];
    const response = await ask(scene, 'openai-responses', 'chat', { store: false, input });
    expect(response.status).toBe(200);
    const messages = list(scene.upstream('up').requests.at(-1)?.json as Json, 'messages');
    expect(at(messages.at(-1) ?? null, 'role')).toBe('user');
  });
});

describe('a compacted conversation that cannot be decrypted', () => {
  const input = [
    { type: 'compaction', encrypted_content: 'gAAAA-of-somebody-else' },
    { role: 'user', content: 'Go on' },
  ];

  test.each(['chat', 'messages', 'gemini', 'responses'])('is refused by name for %s', async (model) => {
    const response = await ask(scene, 'openai-responses', model, { store: false, input });
    expect(response.status).toBe(400);
    expect(at(await response.json(), 'error', 'param')).toBe('input[0]');
  });

  test('is sent to the vendor of the protocol', async () => {
    const response = await ask(faithful, 'openai-responses', 'responses', { store: false, input });
    expect(response.status).toBe(200);
    expect(sent(faithful)).toContain('gAAAA-of-somebody-else');
  });
});

test('a picture of an earlier response is rendered as text if responses contain only text', async () => {
  const contents = [
    { role: 'user', parts: [{ text: 'Draw' }] },
    { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] },
    { role: 'user', parts: [{ text: 'Again' }] },
  ];
  for (const model of ['messages', 'responses']) {
    const response = await ask(scene, 'gemini', model, { contents });
    expect(response.status).toBe(200);
    expect(sent(scene)).toContain('[image]');
    expect(response.headers.get('x-dragoman-report')).toContain('contents[1].parts[0]:approximated');
  }
});

test.each(['chat', 'gemini', 'responses'])(
  'the context of a document of text is told to the model of %s with its title and its text',
  async (model) => {
    const about = { title: 'Minutes', context: 'Only a draft.' };
    const sources = [
      { type: 'text', media_type: 'text/plain', data: 'We met.' },
      { type: 'content', content: [{ type: 'text', text: 'We met.' }] },
    ];
    const documents = sources.map((source) => ({ type: 'document', source, ...about }));
    const response = await ask(scene, 'anthropic-messages', model, {
      max_tokens: 100,
      messages: [said(...documents, { type: 'text', text: 'Who?' })],
    });
    expect(response.status).toBe(200);
    expect(sent(scene).split('Minutes\\n\\nOnly a draft.\\n\\nWe met.')).toHaveLength(3);
    const report = response.headers.get('x-dragoman-report') ?? '';
    expect(report).toContain('messages[0].content[0]:approximated');
    expect(report).not.toContain('context');
  },
);

test('the context of another document is a text before it, but for the protocol that has a place for it', async () => {
  const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
  const document = { type: 'document', source, context: 'Only a draft.' };
  const body = { max_tokens: 100, messages: [said(document, { type: 'text', text: 'Who?' })] };
  for (const model of ['chat', 'responses', 'gemini']) {
    const response = await ask(scene, 'anthropic-messages', model, body);
    expect(response.status).toBe(200);
    const request = sent(scene);
    expect(request.indexOf('Only a draft.')).toBeGreaterThan(0);
    expect(request.indexOf('Only a draft.')).toBeLessThan(request.indexOf('JVBERi0='));
    const report = response.headers.get('x-dragoman-report');
    expect(report).toContain('messages[0].content[0].context:approximated');
    expect(report).not.toContain('context:dropped');
  }
  const own = await ask(scene, 'anthropic-messages', 'messages', body);
  expect(own.headers.get('x-dragoman-report')).toBeNull();
  expect(sent(scene).split('Only a draft.')).toHaveLength(2);
});

test('an empty message of a user is in the report of a Responses upstream, which refuses it', async () => {
  scene.upstream('up').script(whole(responsesBody([])));
  const messages = [
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Two' },
    { role: 'user', content: '' },
  ];
  const response = await scene.gateway.post('/chat/completions', { model: 'one/responses', messages });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-dragoman-report')).toBe('messages[2]:dropped');
});
