// Every recorded answer of the three protocols, decoded and written as a Response: the strictest reader finds nothing
// wrong, and what it reads is what the recording says. Streamed in pieces and whole, with the same result.
import { describe, expect, test } from 'bun:test';
import type { CanonicalEvent } from '../../src/canonical/index.ts';
import { Collector, GatewayError, NO_USAGE } from '../../src/canonical/index.ts';
import { findProtocol } from '../../src/protocols/index.ts';
import type { AnswerContext } from '../../src/protocols/protocol.ts';
import { openaiResponses } from '../../src/protocols/openai-responses/index.ts';
import { missing, readRecordings, type RecordedApi, type Recording } from '../support/recordings/corpus.ts';
import { NO_ANSWER } from '../support/recordings/exceptions.ts';
import { framesOf } from '../support/recordings/loose.ts';
import { RateTable } from '../support/recordings/rate-table.ts';
import { readChat } from '../support/recordings/read-chat.ts';
import { readMessages } from '../support/recordings/read-messages.ts';
import { readResponses } from '../support/recordings/read-responses.ts';
import { difference, type Said } from '../support/recordings/said.ts';
import { EventReader } from '../../src/engine/attempt/event-reader.ts';
import { codecContext } from '../support/golden-operations.ts';
import { checkResponse, checkResponseStream } from '../support/rules/responses-stream-rules.ts';

const READERS = { chat: readChat, responses: readResponses, messages: readMessages } as const;
const NAMES = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
} as const satisfies Record<RecordedApi, string>;

/** Asks for everything that an answer shows only on demand. */
const request = openaiResponses.server.decodeRequest({
  model: 'm',
  input: 'hi',
  include: [
    'reasoning.encrypted_content',
    'message.output_text.logprobs',
    'web_search_call.action.sources',
    'file_search_call.results',
    'code_interpreter_call.outputs',
  ],
});

if (missing) console.log(`responses-recordings: ${missing}`);

describe.skipIf(missing !== undefined)('recorded answers as Responses', () => {
  const recordings = (missing ? [] : readRecordings()).filter(
    ({ status, case: name }) => status === 200 && !(name in NO_ANSWER),
  );

  test.each(Object.keys(NAMES) as RecordedApi[])('%s: items, text, calls and counts stay the same', (api) => {
    const table = new RateTable(`${api} as Responses`);
    for (const recording of recordings.filter((each) => each.api === api))
      table.add(`${recording.source} ${recording.res.kind}`, recording.case, problem(recording));
    table.print();
    expect(table.total).toBeGreaterThan(100);
    expect(table.failures).toEqual([]);
  });
});

describe.skipIf(missing !== undefined)('recorded streams in pieces of any size', () => {
  test('give the same Response', () => {
    const streams = readRecordings().filter(
      ({ status, res, case: name }) => status === 200 && res.kind === 'sse' && !(name in NO_ANSWER),
    );
    expect(streams.length).toBeGreaterThan(500);
    const different = streams.filter((recording, n) => {
      const want = streamed(eventsOf(recording));
      return streamed(eventsInPieces(recording, n + 1)) !== want;
    });
    expect(different.map((recording) => recording.case)).toEqual([]);
  });
});

/** The events of a stream whose text arrives in pieces of 1 to 64 characters, by a fixed sequence. */
function eventsInPieces(recording: Recording, seed: number): CanonicalEvent[] {
  return eventsOf(recording, (text, frame) => {
    const reader = new EventReader(frame);
    const bytes = Buffer.from(text).toString('latin1');
    let random = seed;
    for (let at = 0; at < bytes.length;) {
      random = (random * 48_271) % 2_147_483_647;
      const size = 1 + (random % 64);
      reader.push(bytes.slice(at, at + size));
      at += size;
    }
    reader.end();
  });
}

/** Hands the frames of a stream to `frame`. */
type Feed = (text: string, frame: (event: string, data: string) => void) => void;

const atOnce: Feed = (text, frame) => {
  for (const { event, data } of framesOf(text)) frame(event, data);
};

/** Fault of a recording's way through both codecs; undefined when there is none. */
function problem(recording: Recording): string | undefined {
  const events = eventsOf(recording);
  const failure = events.find((event) => event.type === 'error');
  const want = READERS[recording.api](recording);
  const stream = streamed(events);
  const problems = checkResponseStream(framesOf(stream));
  if (problems.length > 0) return [...new Set(problems)].slice(0, 4).join('; ');
  if (failure) return want.end === 'error' ? undefined : `failed: ${failure.error.message}`;
  const got = difference(comparable(recording, want), comparable(recording, readStream(stream)));
  if (got !== undefined) return got;
  const collector = new Collector();
  for (const event of events) collector.on(event);
  const whole = openaiResponses.server.encodeResponse(collector.result(), answerContext());
  const wrong = checkResponse(whole);
  if (wrong.length > 0) return wrong.join('; ');
  const last = framesOf(stream).at(-1)?.data ?? '{}';
  const final: unknown = (JSON.parse(last) as { response?: unknown }).response;
  return JSON.stringify(final) === JSON.stringify(whole)
    ? undefined
    : `streamed ${JSON.stringify(final)}, whole ${JSON.stringify(whole)}`;
}

function eventsOf(recording: Recording, feed: Feed = atOnce): CanonicalEvent[] {
  const { upstream } = findProtocol(NAMES[recording.api]) ?? {};
  if (!upstream) throw new TypeError('no such protocol');
  const events: CanonicalEvent[] = [];
  const sink = { on: (event: CanonicalEvent) => void events.push(event) };
  try {
    if (recording.res.kind === 'json') upstream.decodeResponse(recording.res.json, sink, codecContext());
    else {
      const decoder = upstream.decodeStream(sink, codecContext());
      feed(recording.res.text ?? '', (event, data) => decoder.frame(event, data));
      decoder.end();
    }
  } catch (error) {
    events.push({ type: 'error', error: GatewayError.from(error) });
  }
  // As the engine has it: where nobody counted, an estimate comes before the end.
  const isCounted = events.some((event) => event.type === 'usage');
  const end = events.findIndex((event) => event.type === 'finish');
  if (!isCounted && end >= 0) events.splice(end, 0, { type: 'usage', usage: NO_USAGE });
  return events;
}

function answerContext(): AnswerContext {
  return {
    id: '0199aabbccdd00112233445566778899',
    createdSeconds: 1_700_000_000,
    completedSeconds: 1_700_000_001,
    model: 'test/model',
    reasoningContentMirror: false,
    request,
  };
}

function streamed(events: readonly CanonicalEvent[]): string {
  let text = '';
  const encoder = openaiResponses.server.encodeStream((frames) => (text += frames), answerContext());
  for (const event of events) encoder.on(event);
  return text;
}

function readStream(text: string): Said {
  return readResponses({ res: { kind: 'sse', text } } as Recording);
}

/** Only this protocol's own opaque reasoning has a place in it; chat servers do not say where a paragraph ends. */
function comparable(recording: Recording, said: Said): Said {
  // A citation without an address is none.
  const citations = said.citations.filter(Boolean);
  if (recording.api === 'responses') return { ...said, citations, extras: [] };
  const reasoning = said.reasoning.replaceAll('\n', '');
  return { ...said, citations, reasoning, opaque: [], extras: [] };
}
