// A hostile model: it calls tools for ever, and writes arguments and answers that are expensive to check. The client and
// the upstream around it are honest. What it is made to read is in page.ts.
import { only, statusesOf } from './client.ts';
import { approve, mcp } from './mcp-server.ts';
import type { Scenario, Scene } from './scene.ts';
import { requestBytes, type Answering, type Asked, type Reply } from './sockets.ts';

const MB = 1024 * 1024;
const HELLO = [{ role: 'user', content: 'Hello' }];

interface Call {
  readonly name: string;
  readonly arguments: string;
}

/** One turn of the model over Chat Completions. */
function turn(content: string | null, calls: readonly Call[] = []): object {
  const tool_calls = calls.map((each, index) => ({ id: `c${index}`, type: 'function', function: each }));
  const message = { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls } : {}) };
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/** The same as a stream. */
async function streamTurn(reply: Reply, content: string | null, calls: readonly Call[]): Promise<void> {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  await reply.stream();
  await reply.chunk(chunk({ role: 'assistant', content: '' }));
  if (content !== null) await reply.chunk(chunk({ content }));
  for (const [index, { name, arguments: args }] of calls.entries()) {
    await reply.chunk(
      chunk({
        tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name, arguments: '' } }],
      }),
    );
    for (let at = 0; at < args.length; at += MB)
      if (
        !(await reply.chunk(
          chunk({ tool_calls: [{ index, function: { arguments: args.slice(at, at + MB) } }] }),
        ))
      )
        return;
  }
  await reply.chunk(`${chunk({}, calls.length > 0 ? 'tool_calls' : 'stop')}data: [DONE]\n\n`);
  await reply.end();
}

type Said = (
  asked: Asked,
  turnNumber: number,
) => { readonly text?: string; readonly calls?: readonly Call[] };

/** A model that says this, among a web and an MCP server that are as they are given. */
export function world(
  says: Said,
  rest: Answering = mcp({}),
): { readonly answering: Answering; turns: number } {
  const it = {
    turns: 0,
    answering(asked: Asked, reply: Reply): void | Promise<void> {
      if (!asked.path.includes('chat/completions')) return rest(asked, reply);
      const { text = null, calls = [] } = says(asked, it.turns++);
      if (asked.json?.['stream'] === true) return streamTurn(reply, text, calls);
      return void reply.whole(turn(text, calls));
    },
  };
  return it;
}

export interface Outcome {
  readonly status: number;
  readonly said: string;
}

/** Asks, and waits at most as long as said. */
export async function ask(
  scene: Scene,
  body: object,
  path = '/v1/responses',
  withinMs = 20_000,
): Promise<Outcome> {
  const socket = scene.connect();
  void socket.send(requestBytes({ model: 'chat/m', ...body }, { path }));
  const { status, text } = await socket.answer(withinMs);
  const isWhole = socket.received < 60_000;
  socket.close();
  const message = /"message":\s*"([^"]{0,150})/.exec(isWhole ? text : socket.tail)?.[1];
  return { status, said: message ?? (isWhole ? text.slice(-150) : socket.tail.slice(-150)) };
}

function withServer(scene: Scene, body: object = {}): object {
  const server = {
    type: 'mcp',
    server_label: 's',
    server_url: `${scene.server.origin}/mcp`,
    require_approval: 'never',
  };
  return { input: 'Hello', tools: [server], ...body };
}

export const MODEL: readonly Scenario[] = [
  {
    title: 'endless tool calls',
    async attack(scene) {
      let calls = 0;
      const it = world(
        (_, number) => ({
          calls: Array.from({ length: 20 }, (__, index) => ({
            name: 's__t',
            arguments: `{"a":${number * 20 + index}}`,
          })),
        }),
        mcp({
          call: (_, reply, id) => {
            calls++;
            void reply.whole({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'a' }] } });
          },
        }),
      );
      scene.server.answering = it.answering;
      const got = await ask(scene, withServer(scene));
      return { ...got, calls, turns: it.turns };
    },
    gets: {
      status: (status) => Number(status) > 0,
      calls: (calls) => Number(calls) <= 128,
      turns: (turns) => Number(turns) <= 24,
    },
  },
  {
    title: 'ten thousand calls in one turn',
    async attack(scene) {
      const calls = Array.from({ length: 10_000 }, (_, index) => ({
        name: index % 2 === 0 ? 's__t' : `no_such_${index}`,
        arguments: `{"a":${index}}`,
      }));
      scene.server.answering = world((_, number) => (number === 0 ? { calls } : { text: 'Done' })).answering;
      return {
        whole: (await ask(scene, withServer(scene))).status,
        stream: (await ask(scene, withServer(scene, { stream: true }))).status,
      };
    },
    gets: { whole: (status) => Number(status) > 0, stream: (status) => Number(status) > 0 },
  },
  {
    title: 'two hundred allowed calls in one turn',
    async attack(scene) {
      let made = 0;
      const calls = Array.from({ length: 200 }, (_, index) => ({
        name: 's__t',
        arguments: `{"a":${index}}`,
      }));
      scene.server.answering = world(
        (_, number) => (number === 0 ? { calls } : { text: 'Done' }),
        mcp({
          call: (_, reply, id) => {
            made++;
            void reply.whole({
              jsonrpc: '2.0',
              id,
              result: { content: [{ type: 'text', text: 'a'.repeat(200_000) }] },
            });
          },
        }),
      ).answering;
      const status = await approve(scene, { model: 'chat/m', input: 'Hello' });
      return { status, made };
    },
    // The text of all results is bounded, too: the model is told what is left out.
    gets: { status: (status) => Number(status) > 0, made: (made) => Number(made) > 0 && Number(made) <= 128 },
  },
  {
    title: 'sixty megabytes of arguments for a tool of the gateway',
    async attack(scene) {
      const calls = [{ name: 's__t', arguments: `{"a":"${'a'.repeat(60 * MB)}"}` }];
      scene.server.answering = world((_, number) => (number === 0 ? { calls } : { text: 'Done' })).answering;
      return ask(scene, withServer(scene, { stream: true }));
    },
    gets: { status: (status) => Number(status) > 0, said: /.../ },
  },
  {
    title: 'arguments that are deep, have duplicate members, or are not JSON',
    async attack(scene) {
      const got: Outcome[] = [];
      for (const args of [
        `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`,
        '['.repeat(2 * MB),
        `{${'"a":1,'.repeat(200_000)}"a":1}`,
        '\\u0000'.repeat(100_000),
      ]) {
        const calls = [{ name: 's__t', arguments: args }];
        scene.server.answering = world((_, number) =>
          number === 0 ? { calls } : { text: 'Done' },
        ).answering;
        got.push(await ask(scene, withServer(scene)));
        for (const path of ['/v1/messages']) {
          const tools = [{ name: 's__t', input_schema: { type: 'object' } }];
          scene.server.answering = world(() => ({ calls })).answering;
          got.push(await ask(scene, { max_tokens: 99, messages: HELLO, tools }, path));
        }
      }
      return { statuses: statusesOf(got) };
    },
    gets: { statuses: only(200, 500, 502) },
  },
  {
    title: 'responses that are expensive to check against the schema, and never match',
    async attack(scene) {
      const long = 'a'.repeat(50_000);
      const cases: readonly (readonly [object, string])[] = [
        [
          { type: 'object', properties: { a: { type: 'string', pattern: '^((a+)+)+$' } }, required: ['a'] },
          JSON.stringify({ a: `${long}!` }),
        ],
        [
          {
            type: 'object',
            properties: { a: { type: 'string', pattern: '^(a|a)*(a|aa)*$' } },
            required: ['a'],
          },
          JSON.stringify({ a: `${long}!` }),
        ],
        [
          { type: 'array', uniqueItems: true, items: { type: 'object' } },
          JSON.stringify(Array.from({ length: 5000 }, (_, index) => ({ a: index }))),
        ],
        [
          {
            anyOf: Array.from({ length: 300 }, (_, index) => ({
              type: 'object',
              properties: { a: { const: index } },
              required: [`b${index}`],
            })),
          },
          JSON.stringify({ a: 'b' }),
        ],
      ];
      const got: Outcome[] = [];
      for (const [schema, text] of cases) {
        scene.server.answering = world(() => ({ text })).answering;
        const response_format = { type: 'json_schema', json_schema: { name: 'a', schema, strict: false } };
        got.push(
          await ask(scene, { model: 'plain/m', messages: HELLO, response_format }, '/v1/chat/completions'),
        );
      }
      return { statuses: statusesOf(got) };
    },
    gets: { statuses: only(200, 400, 502) },
  },
  {
    title: 'inputs of custom tools that are expensive to match',
    async attack(scene) {
      const grammars: readonly (readonly [string, string])[] = [
        ['regex', '^(a|a)*(a*)*b$'],
        ['regex', '(a{0,500}){0,500}b'],
        ['lark', 'start: a b\na: "a" a | "a" | a a\nb: "b"'],
        ['lark', 'start: x\nx: x x | "a" | '],
      ];
      const got: Outcome[] = [];
      for (const [syntax, definition] of grammars) {
        scene.server.answering = world(() => ({
          calls: [{ name: 't', arguments: JSON.stringify({ input: 'a'.repeat(30_000) }) }],
        })).answering;
        const tools = [
          {
            type: 'custom',
            custom: { name: 't', format: { type: 'grammar', grammar: { syntax, definition } } },
          },
        ];
        got.push(await ask(scene, { messages: HELLO, tools }, '/v1/chat/completions'));
      }
      return { statuses: statusesOf(got) };
    },
    gets: { statuses: only(200, 400, 502) },
  },
];
