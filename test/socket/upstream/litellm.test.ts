// LiteLLM's proxy behind the gateway: what it answers directly and what it answers through the gateway are the same, over every
// protocol that it speaks, to clients of every protocol; and so are its refusals.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { rejection } from '../../support/rejection.ts';
import { GONE, LITELLM, MODEL, startLiteLlm } from '../../support/servers/litellm.ts';
import { asked, CLIENT_PROTOCOLS, type Question } from '../../support/servers/questions.ts';

/** Protocols of the proxy ("Supported Endpoints", docs.litellm.ai, 2026-11). */
const SPOKEN = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;
/** Its program is not compiled before. */
const START_MS = 180_000;

const QUESTIONS: readonly Question[] = [
  { title: 'a text', user: 'What do you see?', system: 'Be brief.', limit: 400 },
  { title: 'an answer that its limit cuts', user: 'write 50 words', limit: 40 },
  { title: 'a call that is demanded', user: 'Look far!', limit: 600, tool: 'demanded' },
  { title: 'a turn behind a call', user: 'Look!', limit: 600, tool: 'offered', hasCalled: true },
  { title: 'an answer that obeys a schema', user: 'Is it calm?', limit: 300, schema: true },
];

type Asked = Awaited<ReturnType<typeof asked>>;

/**
 * Input tokens that are expected. The proxy makes a request of Chat Completions of one of Responses, with parts where the gateway
 * writes parts, and the simulated provider counts the names of parts, too: there is some number.
 */
function inputOf(through: Asked, direct: Asked, protocol: string): number {
  const { input } = protocol === 'openai-responses' ? through.facts : direct.facts;
  expect(input).toBeGreaterThan(0);
  return input;
}

describe.skipIf(LITELLM === null)('LiteLLM', () => {
  let server: Awaited<ReturnType<typeof startLiteLlm>>;
  let gateway: TestGateway;

  beforeAll(async () => {
    server = await startLiteLlm();
    gateway = await startGateway({
      providers: Object.fromEntries(
        SPOKEN.map((protocol) => {
          const address = protocol === 'anthropic-messages' ? server.origin : `${server.origin}/v1`;
          return [protocol, { api_key: 'sk-test', protocols: { [protocol]: address } }];
        }),
      ),
    });
    // Modules of a protocol are loaded with its first request, some of which fail meanwhile.
    const question = { title: 'a first one', user: 'Hello!', limit: 40 };
    for (const protocol of SPOKEN)
      await eventually(`LiteLLM answers over ${protocol}`, () =>
        asked(server.origin, protocol, question, { model: MODEL }).then(
          () => true,
          () => false,
        ),
      );
  }, START_MS);

  afterAll(async () => {
    await gateway?.close();
    await server?.stop();
  });

  for (const protocol of SPOKEN)
    for (const client of CLIENT_PROTOCOLS)
      for (const question of QUESTIONS)
        test(`${question.title} reaches a client of ${client} unchanged over ${protocol}`, async () => {
          for (const stream of [false, true]) {
            const direct = await asked(server.origin, protocol, question, { model: MODEL, stream });
            const model = `${protocol}/${MODEL}`;
            const through = await asked(gateway.origin, client, question, { model, stream });
            expect(through.facts).toEqual({ ...direct.facts, input: inputOf(through, direct, protocol) });
          }
        });

  const QUESTION: Question = { title: 'a text', user: 'What do you see?', limit: 40 };
  test.each(SPOKEN)('a model that it does not have is not found over %s', async (protocol) => {
    for (const model of ['nobody', GONE]) {
      const named = `${protocol}/${model}`;
      expect(
        String(await rejection(asked(gateway.origin, 'openai-chat', QUESTION, { model: named }))),
      ).toContain('404');
    }
  });
});
