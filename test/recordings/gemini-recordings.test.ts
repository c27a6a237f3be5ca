// Every recorded Gemini answer means the same after decoding, after encoding for a Gemini client, whole and streamed,
// and when that client sends it back; every recorded answer of another protocol becomes a legal one.
import { describe, expect, test } from 'bun:test';
import type { CollectedEvents, EventSink } from '../../src/canonical/index.ts';
import { Collector, GatewayError, inputTokens, outputTokens, Report } from '../../src/canonical/index.ts';
import { findProtocol, type AnswerContext, type Protocol } from '../../src/protocols/index.ts';
import { gemini } from '../../src/protocols/gemini/index.ts';
import { EventReader } from '../../src/engine/attempt/event-reader.ts';
import { addPart, chunksOf, readAnswer } from '../support/rules/gemini-stream-rules.ts';
import type { ReadAnswer, Unit } from '../support/rules/gemini-stream-rules.ts';
import { codecContext, fillRequest, fillTarget } from '../support/golden-operations.ts';
import { bytesOf, missing, readGeminiRecordings, readRecordings } from '../support/recordings/corpus.ts';
import type { GeminiRecording, RecordedApi, Recording } from '../support/recordings/corpus.ts';
import { at, list, sortedJson, word } from '../support/recordings/loose.ts';
import type { Loose } from '../support/recordings/loose.ts';

if (missing) console.log(`gemini-recordings: ${missing}`);

/** Recordings whose answer is none, or not in the words that the gateway asks for. */
const NO_ANSWER: Readonly<Record<string, string>> = {
  '6549612caf86': 'the prompt was blocked: content_filter',
};
const OTHER_END: Readonly<Record<string, string>> = {
  '83497456ecc5': 'asked for numbers in place of words: its reason is 2',
};
/** The one call whose arguments came in pieces by JSON path, put together by hand. */
const PIECES: Readonly<Record<string, string>> = {
  cffcd3d56deb:
    'writeItems({"operations":[{"action":"add","description":"Fresh red apple","itemid":"apple_001","price":0.5},{"action":"add","description":"Ripe yellow banana","itemid":"banana_001","price":0.3}]})',
};
const PROTOCOLS = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
} as const;

const server = (() => {
  if (!gemini.server) throw new Error('Gemini has no server side');
  return gemini.server;
})();
/** Thoughts are shown, log probabilities too. */
const context: AnswerContext = {
  id: 'gen-1',
  createdSeconds: 1_700_000_000,
  model: 'google/test',
  request: fillRequest({ protocol: 'gemini', stream: true, logprobs: true }),
  reasoningContentMirror: false,
};

function collect(run: (sink: EventSink) => void): CollectedEvents {
  const collector = new Collector();
  run(collector);
  return collector.result();
}

/** The chunks of a recorded answer as they came. */
function recordedChunks({ res }: GeminiRecording): Loose[] {
  if (res.text === undefined) return (Array.isArray(res.json) ? res.json : [res.json]) as Loose[];
  const chunks: Loose[] = [];
  const reader = new EventReader((_, data) => chunks.push(JSON.parse(data) as Loose));
  reader.push(Buffer.from(res.text).toString('latin1'));
  reader.end();
  return chunks;
}

/** Feeds chunks as an event stream, cut every few characters. */
function feed(text: string, protocol: Protocol, sink: EventSink, step: number): void {
  const decoder = protocol.upstream.decodeStream(sink, codecContext());
  const reader = new EventReader((event, data) => decoder.frame(event, data));
  const bytes = Buffer.from(text).toString('latin1');
  for (let from = 0; from < bytes.length; from += step) reader.push(bytes.slice(from, from + step));
  reader.end();
  decoder.end();
}

/** Notes each event that ends an answer. */
function collectEnds(ends: string[]): EventSink {
  return {
    on: ({ type }) => {
      if (type === 'finish' || type === 'error') ends.push(type);
    },
  };
}

function asStream(chunks: readonly Loose[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join('');
}

/** A whole answer as a stream would bring it: each unsigned text and thought in pieces, the end in the last chunk. */
function inPieces(whole: Loose): Loose[] {
  const candidate = list(whole['candidates'])[0] ?? {};
  const { content, finishReason, ...rest } = candidate;
  const chunks: unknown[] = [];
  for (const part of list(at(content, 'parts'))) {
    const text = word(part['text']);
    const pieces =
      word(part['thoughtSignature']) === '' && text !== '' ? (text.match(/[^]{1,7}/g) ?? []) : [];
    const parts = pieces.length > 0 ? pieces.map((piece) => ({ ...part, text: piece })) : [part];
    for (const each of parts) chunks.push({ candidates: [{ content: { role: 'model', parts: [each] } }] });
  }
  const end = { ...rest, content: { role: 'model', parts: [{ text: '' }] }, finishReason };
  return [...chunks, { ...whole, candidates: [end] }] as Loose[];
}

function encodeStreamed(protocol: Protocol, text: string, step: number): string {
  let frames = '';
  feed(
    text,
    protocol,
    server.encodeStream((written) => (frames += written), context),
    step,
  );
  return frames;
}

/** An answer in a form that two of them can be compared in; the ids of calls that had none are not. */
function comparable(answer: ReadAnswer, ids: readonly string[]): unknown {
  let calls = 0;
  const units = answer.units.map((unit: Unit) =>
    unit.kind === 'call'
      ? { ...unit, text: sortedJson(unit.text), id: ids[calls++] === '' ? '' : unit.id }
      : unit,
  );
  return { ...answer, units };
}

describe.skipIf(missing !== undefined)('recorded Gemini answers', () => {
  const recordings = missing ? [] : readGeminiRecordings().filter(({ status }) => status === 200);

  test('mean the same for a Gemini client, whole and streamed in pieces', () => {
    let compared = 0;
    for (const recording of recordings) {
      if (recording.case in NO_ANSWER || recording.case in OTHER_END) continue;
      const chunks = recordedChunks(recording);
      const given = readAnswer(chunks);
      const pieces = PIECES[recording.case];
      if (pieces !== undefined)
        given.units.splice(0, given.units.length, {
          kind: 'call',
          text: pieces,
          id: '',
          signature: given.units[0]?.signature ?? '',
        });
      const ids = given.units.filter((unit) => unit.kind === 'call').map((unit) => unit.id);
      const want = comparable({ ...given, problems: [] }, ids);
      const check = (how: string, got: ReadAnswer): void =>
        expect([recording.case, how, comparable(got, ids)]).toEqual([recording.case, how, want]);

      const [first] = chunks;
      if (chunks.length === 1 && first) {
        const events = collect((sink) => gemini.upstream.decodeResponse(first, sink, codecContext()));
        check('whole', readAnswer([server.encodeResponse(events, context) as unknown as Loose]));
        check('in pieces', readAnswer(chunksOf(encodeStreamed(gemini, asStream(inPieces(first)), 11))));
      }
      for (const step of [1_000_000, 13])
        check(`streamed by ${step}`, readAnswer(chunksOf(encodeStreamed(gemini, asStream(chunks), step))));
      compared++;
    }
    console.log(`gemini answers: ${compared} of ${recordings.length}`);
    expect(compared).toBe(recordings.length - Object.keys({ ...NO_ANSWER, ...OTHER_END }).length);
    expect(compared).toBeGreaterThan(300);
  });

  test('are counted as Google counts them', () => {
    for (const recording of recordings) {
      if (recording.case in NO_ANSWER) continue;
      const usage = recordedChunks(recording)
        .map((chunk) => chunk['usageMetadata'])
        .findLast((each) => each);
      const { usage: counted } = collect((sink) =>
        feed(asStream(recordedChunks(recording)), gemini, sink, 1_000_000),
      );
      if (recording.case in OTHER_END || usage?.['totalTokenCount'] === undefined) continue;
      expect(counted && [recording.case, inputTokens(counted) + outputTokens(counted)]).toEqual([
        recording.case,
        Number(usage['totalTokenCount']),
      ]);
    }
  });

  test('return to Google part by part, each signature on its own part', () => {
    let signed = 0;
    for (const recording of recordings) {
      if (recording.case in NO_ANSWER || recording.case in OTHER_END || recording.case in PIECES) continue;
      const chunks = recordedChunks(recording);
      const given = readAnswer(chunks).units;
      const contents = chunks.map((chunk) => list(chunk['candidates'])[0]?.['content']).filter(Boolean);
      const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }, ...contents] };
      const request = server.decodeRequest(body, { model: 'gemini-3-pro' });
      const sent = gemini.upstream.encodeRequest(request, google('budget'), new Report()) as unknown as Loose;
      const units: Unit[] = [];
      for (const part of list(list(sent['contents'])[1]?.['parts'])) addPart(units, part);
      expect([recording.case, units]).toEqual([recording.case, given]);
      signed += given.filter((unit) => unit.signature !== '').length;
    }
    expect(signed).toBeGreaterThan(200);
  });

  test('damaged anywhere, end once, and are complete only after a finish reason', () => {
    let seed = 20_261_121;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return (seed >>> 8) % below;
    };
    let complete = 0;
    let failed = 0;
    for (const recording of recordings.filter(({ stream }) => stream)) {
      const whole = asStream(recordedChunks(recording));
      for (let run = 0; run < 40; run++) {
        const from = random(whole.length);
        const to = from + random(40);
        const damage = ['', '\n\n', '}', '"', '\\', '\u0000', '[]', 'null'][random(8)] ?? '';
        const text = run % 4 === 0 ? whole.slice(0, from) : whole.slice(0, from) + damage + whole.slice(to);
        const ends: string[] = [];
        const watch = collectEnds(ends);
        feed(text, gemini, watch, 1 + random(200));
        expect([recording.case, run, ends.length]).toEqual([recording.case, run, 1]);
        if (ends[0] === 'finish') expect(text).toContain('finishReason');
        if (ends[0] === 'finish') complete++;
        else failed++;
      }
    }
    expect(complete).toBeGreaterThan(20);
    expect(failed).toBeGreaterThan(200);
  });

  test('end by the filter if they report a blocked prompt', () => {
    const blocked = recordings.filter((recording) => recording.case in NO_ANSWER);
    const reasons = blocked.map((recording) => {
      const { finish } = collect((sink) =>
        feed(asStream(recordedChunks(recording)), gemini, sink, 1_000_000),
      );
      return finish?.reason;
    });
    expect(reasons).toEqual(['content_filter']);
  });
});

/** Google's own API. @param reasoningStyle `effort` from the third generation on */
function google(reasoningStyle: 'effort' | 'budget') {
  return fillTarget({ reasoningFormat: 'google-gemini-v1', reasoningStyle });
}

describe.skipIf(missing !== undefined)('recorded Gemini requests', () => {
  const recordings = missing ? [] : readGeminiRecordings().filter(({ req, status }) => req && status === 200);

  test('reach Google with every part, tool and setting that they had', () => {
    for (const recording of recordings) {
      const report = new Report();
      const style = /gemini-3|latest/.test(recording.model) ? 'effort' : 'budget';
      const request = server.decodeRequest(recording.req, { model: recording.model });
      const sent = gemini.upstream.encodeRequest(request, google(style), report) as unknown as Loose;
      expect([recording.case, essence(sent)]).toEqual([recording.case, essence(recording.req ?? {})]);
      expect([recording.case, request.report.entries, report.entries]).toEqual([recording.case, [], []]);
    }
    expect(recordings.length).toBeGreaterThan(300);
  });
});

/** A request in one spelling; thinking is the policy's business, which is not asked here. */
function essence(body: Loose): unknown {
  const request = camel(body) as Record<string, unknown>;
  const config = { ...(request['generationConfig'] as Record<string, unknown> | undefined) };
  for (const name of ['thinkingConfig', 'responseSchema', 'responseJsonSchema']) delete config[name];
  if (config['responseMimeType'] === 'text/plain') delete config['responseMimeType'];
  const parts: { role: string; part: string }[] = [];
  for (const content of list(request['contents'] as Loose)) {
    for (const part of list(content['parts'])) {
      const plain = JSON.stringify(part, (key, value: unknown) =>
        key === 'thoughtSignature' || key === 'data'
          ? word(value).replaceAll('-', '+').replaceAll('_', '/')
          : value,
      );
      if (plain === '{"text":""}' && word(content['role']) === 'model') continue;
      parts.push({ role: word(content['role']), part: sortedJson(plain) });
    }
  }
  const tools = list(
    (Array.isArray(request['tools']) ? request['tools'] : [request['tools']]) as unknown as Loose,
  )
    .flatMap((tool) => Object.entries(tool ?? {}))
    .flatMap(([name, value]) =>
      name === 'functionDeclarations' ? list(value).map((each) => `${name} ${word(each['name'])}`) : [name],
    );
  return {
    parts,
    system: list(at(request as Loose, 'systemInstruction', 'parts')).map((part) => part['text']),
    tools: tools.toSorted(),
    toolConfig: sortedJson(JSON.stringify(request['toolConfig'] ?? null).replace('"any"', '"ANY"')),
    safety: request['safetySettings'],
    cached: request['cachedContent'],
    config,
    hasSchema:
      'responseSchema' in ((request['generationConfig'] ?? {}) as object) ||
      'responseJsonSchema' in ((request['generationConfig'] ?? {}) as object),
  };
}

/** Members in lower camel case, except inside of what is the user's own. */
function camel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camel);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const isUsers = [
        'args',
        'response',
        'parametersJsonSchema',
        'parameters',
        'responseSchema',
        'promptTemplateName',
        'modelArmorConfig',
      ].includes(name);
      return [name, isUsers ? inner : camel(inner)];
    }),
  );
}

describe.skipIf(missing !== undefined)('recorded answers of other protocols', () => {
  const recordings = missing ? [] : readRecordings().filter(({ status }) => status === 200);

  test.each(['chat', 'responses', 'messages'] as const)('%s: legal, and the same in both forms', (api) => {
    let good = 0;
    for (const recording of recordings) {
      if (recording.api !== api) continue;
      const protocol = findProtocol(PROTOCOLS[recording.api]);
      if (!protocol) throw new Error('no such protocol');
      const events = decodeRecorded(recording, protocol);
      if (events === undefined || events.error || !events.finish) continue;
      const whole = readAnswer([server.encodeResponse(events, context) as unknown as Loose]);
      expect([recording.case, whole.problems]).toEqual([recording.case, []]);
      if (recording.res.kind !== 'sse') continue;
      const streamed = readAnswer(
        chunksOf(encodeStreamed(protocol, bytesOf(recording).toString(), 1_000_000)),
      );
      expect([recording.case, streamed]).toEqual([recording.case, whole]);
      good++;
    }
    expect(good).toBeGreaterThan({ chat: 100, responses: 30, messages: 30 }[api satisfies RecordedApi]);
  });
});

/** The events of a recorded answer; undefined where its body is not one answer. */
function decodeRecorded(recording: Recording, protocol: Protocol): CollectedEvents | undefined {
  try {
    return collect((sink) => {
      if (recording.res.kind === 'sse') feed(bytesOf(recording).toString(), protocol, sink, 1_000_000);
      else protocol.upstream.decodeResponse(recording.res.json, sink, codecContext());
    });
  } catch (error) {
    if (!GatewayError.is(error)) throw error;
    return undefined;
  }
}
