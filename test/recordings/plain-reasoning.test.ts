// Plain reasoning of a Responses server, which its next turn must bring back word for word: recorded conversations of
// DeepSeek, sent through the gateway to the preset and to a server that no preset knows.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../support/harness.ts';
import { missing, readRecordings, type Recording } from '../support/recordings/corpus.ts';
import { list, type Loose } from '../support/recordings/loose.ts';
import { replayModel, startReplay, type ReplayServer } from '../support/recordings/replay-server.ts';

if (missing) console.log(`plain-reasoning: ${missing}`);

const CASES = ['2f997f96754b', '8eb93521c3c1'];

describe.skipIf(missing !== undefined)("a server's plain reasoning", () => {
  let recordings: (Recording & { readonly req?: Loose })[] = [];
  let upstream: ReplayServer;
  let gateway: TestGateway;

  beforeAll(async () => {
    recordings = readRecordings().filter((recording) => CASES.includes(recording.case));
    upstream = await startReplay(recordings);
    gateway = await startGateway({
      providers: {
        sim: false,
        deepseek: { api_key: 'none', protocols: { 'openai-responses': { base_url: upstream.origin } } },
        unknown: { api_key: 'none', protocols: { 'openai-responses': { base_url: upstream.origin } } },
      },
    });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const reasoningOf = (body: Loose): Loose[] =>
    list(body['input'] ?? body['output']).filter((item) => String(item['type']) === 'reasoning');
  const sent = (recording: Recording): Loose =>
    JSON.parse(upstream.bodies.get(replayModel(recording)) ?? 'null') as Loose;

  test.each(['deepseek', 'unknown'])('is returned unchanged (%s)', async (provider) => {
    expect(recordings.map((recording) => recording.case).sort()).toEqual(CASES);
    for (const recording of recordings) {
      const model = `${provider}/${replayModel(recording)}`;
      const response = await gateway.post('/responses', { ...recording.req, model, store: false });
      expect(response.status).toBe(200);
      expect(reasoningOf(sent(recording))).toEqual(reasoningOf(recording.req as Loose));
    }
  });

  test.each(['deepseek', 'unknown'])('is preserved if the client returns it (%s)', async (provider) => {
    for (const recording of recordings) {
      const model = `${provider}/${replayModel(recording)}`;
      const ask = async (input: unknown): Promise<Loose> =>
        (await (
          await gateway.post('/responses', {
            model,
            input,
            store: false,
            include: ['reasoning.encrypted_content'],
          })
        ).json()) as Loose;
      const answer = await ask('Hello');
      await ask([
        { role: 'user', content: 'Hello' },
        ...list(answer['output']),
        { role: 'user', content: 'Go on' },
      ]);
      const words = (item: Loose | undefined): string[] =>
        list(item?.['content']).map((part) => String(part['text']));
      const [said] = reasoningOf(recording.res.json as Loose);
      const [back] = reasoningOf(sent(recording));
      expect(words(back)).toEqual(words(said));
      expect(String(back?.['encrypted_content'])).toBe(String(said?.['encrypted_content']));
    }
  });
});
