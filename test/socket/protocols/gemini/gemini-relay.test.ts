// The relay lane of Gemini: recorded answers pass with nothing changed but the gateway's names, in pieces of any size,
// and the records learn what the decoder would have told them.
import { describe, expect, test } from 'bun:test';
import { jsonBytes } from '../../../../src/base/json/index.ts';
import { joined } from '../../../../src/base/lib/bytes.ts';
import { type CanonicalRequest, Collector, Report } from '../../../../src/canonical/index.ts';
import { gemini } from '../../../../src/protocols/gemini/index.ts';
import type { RelayStream } from '../../../../src/protocols/index.ts';
import { codecContext, fillTarget } from '../../../support/golden-operations.ts';
import { missing, readGeminiRecordings } from '../../../support/recordings/corpus.ts';
import type { Loose } from '../../../support/recordings/loose.ts';
import { frame, stream, whole } from '../../../support/upstreams/answers.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';

if (missing) console.log(`gemini-relay: ${missing}`);

const { relay, server, upstream } = gemini;
if (!relay || !server) throw new Error('Gemini has no relay lane');
const { editRequest } = relay;
const facts = { id: 'gen-1', model: 'google/test', showUsage: true, redact: (json: string) => json };

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');
const textOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();

/** Body that the upstream gets. */
function relayed(body: string, request: CanonicalRequest): string {
  return joined(editRequest(jsonBytes(Buffer.from(body)), request, 'gemini-3-pro')).toString();
}

/** Feeds a stream in pieces. @returns what the client got before and after the end */
function pass(stream: RelayStream, text: string, step: number): { before: string; after: string } {
  const bytes = bytesOf(text);
  let before = '';
  for (let from = 0; from < bytes.length; from += step) before += stream.push(bytes.slice(from, from + step));
  return { before: textOf(before), after: textOf(stream.end()) };
}

function chunksOf(text: string): Loose[] {
  return text
    .split(/\r\n\r\n|\n\n/)
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.replace(/^data: /, '')) as Loose);
}

function asStream(chunks: readonly unknown[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join('');
}

/** How many lines there are of each ending: Google's CRLF stays what it is. */
function linesOf(text: string): readonly number[] {
  return [/\r\n/g, /\n/g, /\r/g].map((end) => text.match(end)?.length ?? 0);
}

const named = (chunk: unknown): Loose =>
  ({ ...(chunk as object), modelVersion: 'google/test', responseId: 'gen-1' }) as unknown as Loose;

describe.skipIf(missing !== undefined)('recorded exchanges', () => {
  const recordings = missing ? [] : readGeminiRecordings().filter(({ status }) => status === 200);

  test('answers pass, whole and streamed', () => {
    let passed = 0;
    for (const { case: name, res } of recordings) {
      // Blocked prompts, and reasons as numbers, are not relayed as answers.
      if (name === '6549612caf86' || name === '83497456ecc5') continue;
      const chunks: unknown[] =
        res.text === undefined ? (Array.isArray(res.json) ? res.json : [res.json]) : chunksOf(res.text);
      const collector = new Collector();
      const decoder = upstream.decodeStream(collector, codecContext());
      for (const chunk of chunks) decoder.frame('', JSON.stringify(chunk));
      decoder.end();
      const reported = collector.result();

      if (chunks.length === 1) {
        const { body, tap } = relay.patchResponse(Buffer.from(JSON.stringify(chunks[0])), chunks[0], facts);
        expect([name, JSON.parse(joined(body).toString())]).toEqual([name, named(chunks[0])]);
        expect([name, tap.usage?.input, tap.finish]).toEqual([name, reported.usage?.input, reported.finish]);
      }
      for (const step of [1_000_000, 17, 1]) {
        const stream = relay.openStream(facts);
        const { before, after } = pass(stream, asStream(chunks), step);
        expect([name, linesOf(before + after)]).toEqual([name, linesOf(asStream(chunks))]);
        expect([name, chunksOf(before + after)]).toEqual([name, chunks.map(named)]);
        // The frame that says how the answer ended waits for the records.
        expect(before).not.toContain('"finishReason"');
        expect(after).toContain('"finishReason"');
        expect([name, stream.usage?.output, stream.finish]).toEqual([
          name,
          reported.usage?.output,
          reported.finish,
        ]);
        expect([stream.error, stream.committed]).toEqual([undefined, true]);
        expect(stream.upstreamId).toBe(reported.start.id as string);
      }
      passed++;
    }
    expect(passed).toBeGreaterThan(300);
  });

  test('requests are relayed byte for byte, without members for the gateway', () => {
    let accepted = 0;
    for (const { req, model } of recordings) {
      if (!req) continue;
      const body = JSON.stringify(req);
      const request = server.decodeRequest(req, { model });
      expect(relay.accepts(request)).toBe(true);
      const sent = relayed(body, request);
      if ('model' in req) expect(JSON.parse(sent)).toEqual({ ...req, model: 'models/gemini-3-pro' });
      else expect(sent).toBe(body);
      accepted++;
      const steered = { ...req, provider: { only: ['google'] }, models: ['a'] };
      const edited = relayed(JSON.stringify(steered), server.decodeRequest(steered, { model }));
      expect(Object.keys(JSON.parse(edited) as object)).toEqual(Object.keys(req));
    }
    expect(accepted).toBeGreaterThan(300);
  });
});

const hello = { candidates: [{ content: { parts: [{ text: 'Hel' }], role: 'model' }, index: 0 }] };
const overloaded = { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } };

describe('failures', () => {
  test('before content, nothing of the stream is sent', () => {
    const stream = relay.openStream(facts);
    expect(pass(stream, asStream([overloaded]), 5)).toEqual({ before: '', after: '' });
    expect([stream.error?.kind, stream.errorShown, stream.committed]).toEqual([
      'upstream_unavailable',
      false,
      false,
    ]);
  });

  test('after content, the error of the upstream is sent unchanged', () => {
    const stream = relay.openStream(facts);
    const { before } = pass(stream, asStream([hello, overloaded, hello]), 1_000_000);
    expect(chunksOf(before)).toEqual([named(hello), overloaded] as never);
    expect([stream.error?.kind, stream.errorShown]).toEqual(['upstream_unavailable', true]);
  });

  test.each([
    ['a cut', asStream([hello])],
    ['half an event', `${asStream([hello])}data: {"candidates":[`],
    ['no JSON', `${asStream([hello])}data: oops\n\n`],
  ])('%s is no normal end', (_, text) => {
    const stream = relay.openStream(facts);
    const { before, after } = pass(stream, text, 1_000_000);
    expect(chunksOf(before + after)).toEqual([named(hello)] as never);
    expect([stream.error?.kind, stream.errorShown, stream.finish]).toEqual([
      'upstream_unavailable',
      false,
      undefined,
    ]);
  });

  test('a blocked prompt is an answer that the filter ended', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 3 } };
    const { body, tap } = relay.patchResponse(Buffer.from(JSON.stringify(blocked)), blocked, facts);
    expect(JSON.parse(joined(body).toString())).toMatchObject(blocked);
    expect(tap.finish).toMatchObject({ reason: 'content_filter', raw: 'SAFETY' });
    const stream = relay.openStream(facts);
    const { before, after } = pass(stream, asStream([blocked]), 7);
    expect(chunksOf(before + after)).toMatchObject([blocked]);
    expect([stream.error, stream.finish?.reason]).toEqual([undefined, 'content_filter']);
  });
});

describe('thinking settings of a client', () => {
  const says = (
    thinkingConfig: object | undefined,
    target: Parameters<typeof fillTarget>[0],
  ): boolean | undefined => {
    const body = { contents: [{ parts: [{ text: 'Hi' }] }], generationConfig: { thinkingConfig } };
    const request = server.decodeRequest(body, { model: 'm' });
    const filled = fillTarget(target);
    const said = relay.saysReasoning?.(request, filled);
    // In the translate lane its own words go on as well.
    const sent = upstream.encodeRequest(request, filled, new Report())['generationConfig'];
    if (said) expect(sent).toEqual(thinkingConfig && ({ thinkingConfig } as never));
    return said;
  };
  const on = (more: object) =>
    ({ mode: 'on', effort: undefined, budgetTokens: undefined, summary: undefined, ...more }) as never;

  test.each([
    ['nothing', undefined, { reasoningStyle: 'budget', reasoning: on({ budgetTokens: 5 }) }, true],
    [
      'thoughts',
      { includeThoughts: true },
      { reasoningStyle: 'effort', reasoning: on({ effort: 'medium' }) },
      true,
    ],
    [
      'dynamic',
      { thinkingBudget: -1 },
      { reasoningStyle: 'budget', reasoning: on({ budgetTokens: 5 }) },
      true,
    ],
    [
      'a budget',
      { thinkingBudget: 5 },
      { reasoningStyle: 'budget', reasoning: on({ budgetTokens: 5 }) },
      true,
    ],
    [
      'too little',
      { thinkingBudget: 5 },
      { reasoningStyle: 'budget', reasoning: on({ budgetTokens: 128 }) },
      false,
    ],
    [
      'a budget for levels',
      { thinkingBudget: 5 },
      { reasoningStyle: 'effort', reasoning: on({ effort: 'low' }) },
      false,
    ],
    ['off', { thinkingBudget: 0 }, { reasoningStyle: 'budget', reasoning: { mode: 'off' } }, true],
    [
      'off where it cannot be',
      { thinkingBudget: 0 },
      { reasoningStyle: 'budget', reasoning: on({ budgetTokens: 128 }) },
      false,
    ],
    [
      'a level',
      { thinkingLevel: 'LOW' },
      { reasoningStyle: 'effort', reasoning: on({ effort: 'low' }) },
      true,
    ],
    [
      'a level that is not there',
      { thinkingLevel: 'MINIMAL' },
      { reasoningStyle: 'effort', reasoning: on({ effort: 'low' }) },
      false,
    ],
  ] as const)('%s', (_, config, target, expected) => {
    expect(says(config, target as never)).toBe(expected);
  });
});

describe('a signature that a client gives back', () => {
  const usageMetadata = {
    promptTokenCount: 373,
    candidatesTokenCount: 10,
    totalTokenCount: 383,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 115 },
      { modality: 'IMAGE', tokenCount: 258 },
    ],
    candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
    trafficType: 'ON_DEMAND',
    serviceTier: 'standard',
  };
  const call = { functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2lnbmF0dXJl' };
  const answer = (part: object): object => ({
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata,
  });
  const conversation = [
    { role: 'user', parts: [{ text: 'Ask' }] },
    { role: 'model', parts: [call] },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'ok' } } }] },
  ];
  const tools = [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT' } }] }];

  test.each([
    [true, 'relay', false],
    [true, 'relay', true],
    [false, 'translate', false],
    [false, 'translate', true],
  ])('of a faithful server: %p, is in the %s lane; streamed: %p', async (faithful, lane, streams) => {
    await using scene = await startScene(['up'], { faithful });
    const up = scene.upstream('up');
    const give = (part: object) => (streams ? stream([frame(answer(part))]) : whole(answer(part)));
    up.script(give(call), give({ text: 'Done' }));
    const path = `/models/one/gemini:${streams ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
    await (await scene.gateway.post(path, { contents: conversation.slice(0, 1), tools })).text();
    const response = await scene.gateway.post(path, { contents: conversation, tools });
    expect(response.headers.get('x-dragoman-lane')).toBe(lane);
    const text = await response.text();
    const [last] = (streams ? chunksOf(text) : [JSON.parse(text) as Loose]).slice(-1);
    // In either lane the counts are the vendor's own.
    expect(last?.['usageMetadata']).toMatchObject(usageMetadata as never);
    const sent = up.requests.at(-1)?.json as unknown as Loose;
    expect(sent['contents']).toMatchObject(conversation as never);
  });
});
