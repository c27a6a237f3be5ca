// A real server behind the gateway: what it answers directly and what it answers through the gateway are the same, over
// every protocol that it speaks, to clients of every protocol, as a preset and as an entry without one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import {
  HAS_LLAMA_SERVER,
  type LlamaServer,
  startLlamaServer,
  TINY,
} from '../../support/servers/llama-server.ts';
import { asked, CLIENT_PROTOCOLS, type Question } from '../../support/servers/questions.ts';

/** Protocols of `llama-server` (its README, 2026-11). */
const SPOKEN = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;

const QUESTIONS: readonly Question[] = [
  { title: 'a text', user: 'What do you see?', system: 'Be brief.', limit: 400 },
  { title: 'an answer that its limit cuts', user: 'Tell me more.', limit: 9 },
  { title: 'an answer without thoughts', user: 'Quickly!', limit: 40, thinks: false },
  { title: 'a call that is demanded', user: 'Look!', limit: 600, thinks: false, tool: 'demanded' },
  { title: 'a turn behind a call', user: 'Look!', limit: 60, tool: 'offered', hasCalled: true },
  { title: 'an answer that obeys a schema', user: 'Is it calm?', limit: 300, schema: true, thinks: false },
];

/** Schemas of answers are obeyed over Chat Completions alone (measured 2026-11-24): elsewhere they are checked, not compared. */
const isObeyed = ({ schema }: Question, protocol: string): boolean => !schema || protocol === 'openai-chat';

describe.skipIf(!HAS_LLAMA_SERVER)('llama-server', () => {
  let server: LlamaServer;
  let gateway: TestGateway;

  beforeAll(async () => {
    server = await startLlamaServer();
    const { origin } = server;
    const plain = Object.fromEntries(
      SPOKEN.map((protocol) => [
        protocol,
        { protocols: { [protocol]: protocol === 'anthropic-messages' ? origin : `${origin}/v1` } },
      ]),
    );
    gateway = await startGateway({
      providers: { 'llama.cpp': { base_url: `${origin}/v1` }, ...plain },
    });
  });

  afterAll(async () => {
    await gateway?.close();
    await server?.stop();
  });

  const routes = [
    ...SPOKEN.map((protocol) => ({ provider: protocol as string, protocol })),
    { provider: 'llama.cpp', protocol: 'openai-chat' as const },
  ];
  for (const { provider, protocol } of routes)
    for (const client of CLIENT_PROTOCOLS)
      for (const question of QUESTIONS.filter((each) => isObeyed(each, protocol)))
        test(`${question.title} reaches a client of ${client} unchanged over ${provider}`, async () => {
          const direct = await asked(server.origin, protocol, question, { model: TINY });
          for (const stream of [false, true]) {
            const through = await asked(gateway.origin, client, question, {
              model: `${provider}/${TINY}`,
              stream,
            });
            expect(through.facts).toEqual(direct.facts);
          }
        });

  test.each(['openai-responses', 'anthropic-messages', 'llama.cpp'])(
    'tokens of a request are counted as they are charged, over %s',
    async (provider) => {
      const ask = {
        model: `${provider}/${TINY}`,
        system: 'Be brief.',
        messages: [{ role: 'user', content: 'Ça va — 你好?' }],
        tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } }],
      };
      const counted = await gateway.post('/messages/count_tokens', ask);
      expect(counted.headers.get('x-dragoman-estimated')).toBeNull();
      const answer = await gateway.post('/messages', { ...ask, max_tokens: 16 });
      const { usage } = (await answer.json()) as {
        usage: { input_tokens: number; cache_read_input_tokens?: number };
      };
      const charged = usage.input_tokens + (usage.cache_read_input_tokens ?? 0);
      expect(await counted.json()).toEqual({ input_tokens: charged });
    },
  );
});
