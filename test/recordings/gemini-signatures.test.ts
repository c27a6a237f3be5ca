// Clients of Gemini that throw away signatures and ids: every recorded answer with signed calls is given back by such a
// client in its next turn, and what arrives at Google must be signed as Google signed it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../support/harness.ts';
import { missing, readGeminiRecordings, type GeminiRecording } from '../support/recordings/corpus.ts';
import { at, framesOf, list, word } from '../support/recordings/loose.ts';
import type { Loose } from '../support/recordings/loose.ts';
import { RateTable } from '../support/recordings/rate-table.ts';
import { geminiChunks } from '../support/recordings/read-gemini.ts';
import { replayModel, startReplay, type ReplayServer } from '../support/recordings/replay-server.ts';

if (missing) console.log(`gemini-signatures: ${missing}`);

describe.skipIf(missing !== undefined)('signatures that clients of Gemini lost', () => {
  let recordings: GeminiRecording[] = [];
  let upstream: ReplayServer;
  let gateway: TestGateway;

  beforeAll(async () => {
    recordings = readGeminiRecordings()
      .map(asEvents)
      .filter(
        (recording) =>
          recording.status === 200 &&
          typeof recording.req === 'object' &&
          partsOf(geminiChunks(recording)).some(isSignedCall),
      );
    upstream = await startReplay(recordings);
    const gemini = (facts: object): object => ({
      api_key: 'sk-test',
      protocols: { gemini: { base_url: `${upstream.origin}/v1beta`, ...facts } },
    });
    gateway = await startGateway({
      providers: {
        relay: gemini({ faithful: true, reasoning_format: 'google-gemini-v1' }),
        translate: gemini({ reasoning_format: 'google-gemini-v1' }),
      },
      routing: { retries: 0, breaker: { failures: 1_000_000 } },
    });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  test.each(['relay', 'translate'])('are restored after a turn in the lane %s', async (lane) => {
    const table = new RateTable(`Signatures that came back after ${lane}`);
    // One after the other: some recordings begin alike, and make the same call.
    for (const recording of recordings) {
      const { signed, arrived } = await twoTurns(recording, lane);
      signed.forEach((signature, index) => {
        const row = `${recording.source} ${recording.stream ? 'streamed' : 'whole'}`;
        const reason =
          arrived[index] === signature
            ? undefined
            : `${arrived[index]?.slice(0, 40)} for ${signature.slice(0, 40)}`;
        table.add(row, recording.case, reason);
      });
    }
    table.print();
    expect(table.total).toBeGreaterThan(100);
    expect(table.failures).toEqual([]);
  });

  /** The signatures of the calls in an answer, and of the same calls in the next request. */
  async function twoTurns(
    recording: GeminiRecording,
    lane: string,
  ): Promise<{ signed: string[]; arrived: string[] }> {
    const model = `${lane}/${replayModel(recording)}`;
    const method = recording.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const { req = {} } = recording;
    const first = await gateway.post(`/models/${model}:${method}`, req);
    const text = await first.text();
    // It names a file of somebody's account.
    if (first.status === 404) return { signed: [], arrived: [] };
    expect([recording.case, first.status, first.status === 200 ? '' : text]).toEqual([
      recording.case,
      200,
      '',
    ]);
    const chunks = recording.stream
      ? framesOf(text).map(({ data }) => JSON.parse(data) as Loose)
      : [JSON.parse(text) as Loose];
    const parts = partsOf(chunks);
    const calls = parts.filter(({ functionCall }) => functionCall);
    const contents = [
      ...list(req['contents']),
      { role: 'model', parts: parts.filter(({ thought }) => !thought).map(bare) },
      {
        role: 'user',
        parts: calls.map((call) => ({
          functionResponse: { name: at(call, 'functionCall', 'name'), response: { output: 'done' } },
        })),
      },
    ];
    await (await gateway.post(`/models/${model}:generateContent`, { ...req, contents })).text();
    const sent = JSON.parse(upstream.bodies.get(replayModel(recording)) ?? '{}') as Loose;
    const last = list(sent['contents']).flatMap((content) => list(content['parts']));
    const arrived = last.filter(({ functionCall }) => functionCall).slice(-calls.length);
    const signatures = (of: readonly Loose[]): string[] => of.map((part) => word(part['thoughtSignature']));
    const signed = signatures(calls);
    return {
      signed: signed.filter((signature) => signature !== ''),
      arrived: signatures(arrived).filter((_, index) => signed[index] !== ''),
    };
  }
});

/** Turns a list of chunks into events: it was streamed without `alt=sse`, which the gateway always asks for. */
function asEvents(recording: GeminiRecording): GeminiRecording {
  if (!Array.isArray(recording.res.json)) return recording;
  const text = geminiChunks(recording).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  return { ...recording, res: { kind: 'sse', text: text.join('') } };
}

function partsOf(chunks: readonly Loose[]): readonly Loose[] {
  return chunks.flatMap((chunk) => list(at(list(chunk['candidates'])[0], 'content', 'parts')));
}

function isSignedCall(part: Loose): boolean {
  return part['functionCall'] !== undefined && word(part['thoughtSignature']) !== '';
}

/** A part as a client has it that knows neither signatures nor ids. */
function bare({ thoughtSignature: _, functionCall, ...part }: Loose): object {
  if (!functionCall) return part;
  const { id: _id, ...call } = functionCall;
  return { ...part, functionCall: call };
}
