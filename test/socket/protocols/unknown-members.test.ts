// Members below the top of a request that only its own protocol knows, or nobody: an upstream of that protocol gets them;
// elsewhere each is reported by its path in the client's words, and a 400 in strict mode.
import { afterAll, describe, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import type { ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { recordOf, startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import { PNG, PNG_URL } from '../../support/images.ts';

const scene = await startScene(['up']);
const faithful = await startScene(['up'], { faithful: true });
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await faithful[Symbol.asyncDispose]();
});

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } } };

interface Case {
  readonly path: (model: string) => string;
  readonly body: (model: string) => object;
  /** Paths of the members that no other protocol has. */
  readonly lost: readonly string[];
  /** Members of these that a translation to the same protocol loses as well. */
  readonly rewritten: readonly string[];
}

const CASES: Readonly<Record<ClientProtocol, Case>> = {
  'openai-chat': {
    path: () => '/chat/completions',
    body: (model) => ({
      model,
      messages: [
        {
          role: 'user',
          x_m: 1,
          content: [
            { type: 'text', text: 'Look', x_p: 1 },
            { type: 'image_url', image_url: { url: PNG_URL, x_i: 1 } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', x_c: 1, function: { name: 'f', arguments: '{}', x_f: 1 } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'ok', x_r: 1 },
      ],
      tools: [{ type: 'function', x_t: 1, function: { name: 'f', parameters: SCHEMA, x_d: 1 } }],
    }),
    lost: [
      'messages[0].x_m',
      'messages[0].content[0].x_p',
      'messages[0].content[1].image_url.x_i',
      'messages[1].tool_calls[0].x_c',
      'messages[1].tool_calls[0].function.x_f',
      'messages[2].x_r',
      'tools[0].x_t',
      'tools[0].function.x_d',
    ],
    rewritten: ['messages[0].content[1].image_url.x_i', 'messages[1].tool_calls[0].function.x_f'],
  },
  'openai-responses': {
    path: () => '/responses',
    body: (model) => ({
      model,
      store: false,
      reasoning: { effort: 'none' },
      input: [
        { role: 'user', x_m: 1, content: [{ type: 'input_text', text: 'Look', x_p: 1 }] },
        { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}', x_c: 1 },
        { type: 'function_call_output', call_id: 'call_1', output: 'ok', x_r: 1 },
      ],
      tools: [{ type: 'function', name: 'f', parameters: SCHEMA, strict: false, x_t: 1 }],
      text: { verbosity: 'low', x_v: 1, format: { type: 'text', x_f: 1 } },
    }),
    lost: [
      'input[0].x_m',
      'input[0].content[0].x_p',
      'input[1].x_c',
      'input[2].x_r',
      'tools[0].x_t',
      'text.x_v',
      'text.format.x_f',
    ],
    rewritten: ['text.format.x_f'],
  },
  'anthropic-messages': {
    path: () => '/messages',
    body: (model) => ({
      model,
      max_tokens: 2000,
      system: [{ type: 'text', text: 'Be brief.', x_s: 1 }],
      messages: [
        { role: 'user', x_m: 1, content: [{ type: 'text', text: 'Look', x_p: 1 }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, x_c: 1 }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok', x_r: 1 }] },
      ],
      tools: [{ name: 'f', input_schema: SCHEMA, x_t: 1 }],
      tool_choice: { type: 'auto', x_o: 1 },
      thinking: { type: 'disabled', x_h: 1 },
    }),
    lost: [
      'system[0].x_s',
      'messages[0].x_m',
      'messages[0].content[0].x_p',
      'messages[1].content[0].x_c',
      'messages[2].content[0].x_r',
      'tools[0].x_t',
      'tool_choice.x_o',
      'thinking.x_h',
    ],
    rewritten: ['messages[0].x_m', 'tool_choice.x_o'],
  },
  gemini: {
    path: (model) => `/../v1beta/models/${model}:generateContent`,
    body: () => ({
      contents: [
        {
          role: 'user',
          xM: 1,
          parts: [
            { text: 'Look', xP: 1 },
            {
              inline_data: { mime_type: 'image/png', data: PNG, display_name: 'a.png' },
              media_resolution: { level: 'MEDIA_RESOLUTION_LOW' },
              videoMetadata: { fps: 1 },
            },
          ],
        },
        { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'f', args: {}, xC: 1 } }] },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'f', response: { output: 'ok' }, scheduling: 'SILENT' } },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'f', parametersJsonSchema: SCHEMA, response: { type: 'STRING' }, behavior: 'BLOCKING' },
          ],
        },
      ],
    }),
    lost: [
      'contents[0].xM',
      'contents[0].parts[0].xP',
      'contents[0].parts[1].inline_data.display_name',
      'contents[0].parts[1].media_resolution',
      'contents[0].parts[1].videoMetadata',
      'contents[1].parts[0].functionCall.xC',
      'contents[2].parts[0].functionResponse.scheduling',
      'tools[0].functionDeclarations[0].response',
      'tools[0].functionDeclarations[0].behavior',
    ],
    rewritten: ['contents[0].xM'],
  },
};

const ANSWERS: Readonly<Record<string, object>> = {
  chat: chatBody('Hi'),
  responses: responsesBody([
    {
      id: 'msg_0123456789abcdef',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
    },
  ]),
  messages: messagesBody([{ type: 'text', text: 'Hi' }], 'end_turn'),
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
  },
};

async function ask(at: Scene, client: ClientProtocol, model: string, strict = false): Promise<Response> {
  at.upstream('up').script(whole(ANSWERS[model]));
  const { path, body } = CASES[client];
  const name = `one/${model}`;
  return at.gateway.post(path(name), body(name), { 'x-dragoman-strict': String(strict) });
}

async function dropped(at_: Scene, response: Response): Promise<readonly string[]> {
  const report = list(await recordOf(at_.gateway, response), 'report');
  return report
    .filter((entry) => at(entry, 'action') === 'dropped')
    .map((entry) => String(at(entry, 'path')));
}

describe.each(Object.keys(CASES) as ClientProtocol[])('a client of %s', (client) => {
  const own = client.split('-').at(-1) ?? client;
  const { lost, rewritten } = CASES[client];

  test.each(Object.keys(ANSWERS).filter((model) => model !== own))(
    'gets a report of each member that %s does not have, and is refused in strict mode',
    async (model) => {
      const response = await ask(scene, client, model);
      expect(response.status).toBe(200);
      const paths = await dropped(scene, response);
      expect(lost.filter((path) => !paths.includes(path))).toEqual([]);
      const sent = JSON.stringify(scene.upstream('up').requests.at(-1)?.json);
      for (const path of lost) expect(sent).not.toContain(`"${path.split('.').at(-1)}"`);

      const refused = await ask(scene, client, model, true);
      const words = await refused.text();
      expect(refused.status).toBe(400);
      for (const path of lost) expect(words).toContain(path);
      expect(scene.upstream('up').requests.length).toBe(0);
    },
  );

  test('has them at an upstream of the same protocol, unless their objects are encoded again', async () => {
    const response = await ask(scene, client, own);
    expect(response.headers.get('x-dragoman-lane')).toBe('translate');
    const paths = await dropped(scene, response);
    expect(paths.filter((path) => lost.includes(path))).toEqual([...rewritten]);
    const sent = JSON.stringify(scene.upstream('up').requests.at(-1)?.json);
    for (const path of lost) {
      const name = `"${path.split('.').at(-1)}"`;
      if (rewritten.includes(path)) expect(sent).not.toContain(name);
      else expect(sent).toContain(name);
    }
  });

  test('has all of them, and no loss, if its body is relayed', async () => {
    const response = await ask(faithful, client, own, true);
    expect([response.status, response.headers.get('x-dragoman-lane')]).toEqual([200, 'relay']);
    const sent = JSON.stringify(faithful.upstream('up').requests.at(-1)?.json);
    for (const path of lost) expect(sent).toContain(`"${path.split('.').at(-1)}"`);
  });
});

test('members without meaning are no loss', async () => {
  scene.upstream('up').script(whole(ANSWERS['messages']));
  const body = {
    model: 'one/messages',
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello', annotations: [], refusal: null, function_call: null },
      { role: 'user', content: 'How are you?' },
    ],
  };
  const response = await scene.gateway.post('/chat/completions', body);
  const paths = await dropped(scene, response);
  expect(paths.filter((path) => path.startsWith('messages['))).toEqual([]);
});
