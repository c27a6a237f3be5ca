// Every recorded answer, of whatever protocol, becomes a Message that follows the rules, streamed and whole alike; those
// of Anthropic mean afterwards what they meant before.
import { describe, expect, test } from 'bun:test';
import type { CollectedEvents, EventSink } from '../../src/canonical/index.ts';
import { Collector, GatewayError, inputTokens, outputTokens } from '../../src/canonical/index.ts';
import { findProtocol, type AnswerContext } from '../../src/protocols/index.ts';
import { EventReader } from '../../src/engine/attempt/event-reader.ts';
import { codecContext, fillRequest } from '../support/golden-operations.ts';
import { readMessage, readMessagesStream } from '../support/rules/messages-stream-rules.ts';
import type { ReadMessage } from '../support/rules/messages-stream-rules.ts';
import { bytesOf, missing, readRecordings } from '../support/recordings/corpus.ts';
import type { RecordedApi, Recording } from '../support/recordings/corpus.ts';
import { sortedJson } from '../support/recordings/loose.ts';

if (missing) console.log(`messages-recordings: ${missing}`);

const PROTOCOLS = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
} as const;

/** Answers whose stop reason is not the recorded one, with the reason. */
const OTHER_END: Readonly<Record<string, string>> = {
  '6323708aeafb': 'the fixture joins several answers: calls of the first ones stand before `end_turn`',
};

interface Answer {
  readonly events: CollectedEvents;
  /** Frames that the server side wrote. */
  readonly frames: string;
}

describe.skipIf(missing !== undefined)('recorded answers as Messages', () => {
  const recordings = missing ? [] : readRecordings().filter(({ status }) => status === 200);

  test.each(['messages', 'chat', 'responses'] as const)('%s: legal, and the same in both forms', (api) => {
    const failures: string[] = [];
    let good = 0;
    for (const recording of recordings) {
      if (recording.api !== api) continue;
      try {
        good += check(recording) ? 1 : 0;
      } catch (error) {
        failures.push(`${recording.source} ${recording.case}: ${String(error).slice(0, 400)}`);
      }
    }
    expect(failures).toEqual([]);
    expect(good).toBeGreaterThan(200);
  });

  test("Claude's own responses keep their content through the gateway's decoder and encoder", () => {
    const failures: string[] = [];
    let compared = 0;
    for (const recording of recordings) {
      if (recording.api !== 'messages') continue;
      const { events, frames } = decode(recording);
      if (events.error || recording.case in OTHER_END) continue;
      const again = collect((sink) => feed(frames, 'anthropic-messages', sink, 3));
      const before = essence(events);
      const after = essence(again);
      compared++;
      if (before !== after) failures.push(`${recording.case} ${firstDifference(before, after)}`);
    }
    expect(failures).toEqual([]);
    expect(compared).toBeGreaterThan(200);
  });
});

/** @returns false for an answer that failed upstream, whose error must be told natively */
function check(recording: Recording): boolean {
  const { events, frames } = decode(recording);
  const streamed = readMessagesStream(frames, false);
  if (events.error) {
    expect(streamed.error).not.toBeNull();
    return false;
  }
  const context = answerContext();
  const server = findProtocol('anthropic-messages')?.server;
  const whole = readMessage(server?.encodeResponse(events, context) as Record<string, unknown>);
  expect(meaning(streamed)).toEqual(meaning(whole));
  return true;
}

function meaning({ message, content, stopReason }: ReadMessage): unknown {
  // Texts of items that alternate are cut differently, and say the same.
  const blocks: Record<string, unknown>[] = [];
  for (const block of content) {
    const last = blocks.at(-1);
    if (block['type'] === 'text' && last?.['type'] === 'text' && !block['citations'] && !last['citations'])
      last['text'] = String(last['text']) + String(block['text']);
    else blocks.push({ ...block });
  }
  return { blocks, stopReason, usage: message['usage'], details: message['stop_details'] };
}

function decode(recording: Recording): Answer {
  let frames = '';
  const protocol = findProtocol('anthropic-messages');
  const encoder = protocol?.server?.encodeStream((text) => (frames += text), answerContext());
  const events = collect((sink) => {
    const both: EventSink = {
      on: (event) => {
        sink.on(event);
        encoder?.on(event);
      },
    };
    const upstream = findProtocol(PROTOCOLS[recording.api])?.upstream;
    if (recording.stream || recording.res.kind === 'sse') {
      feed(
        bytesOf(recording).toString(),
        PROTOCOLS[recording.api],
        both,
        Number.parseInt(recording.case, 16) % 97,
      );
      return;
    }
    try {
      upstream?.decodeResponse(JSON.parse(bytesOf(recording).toString()), both, codecContext());
    } catch (error) {
      both.on({ type: 'error', error: GatewayError.from(error) });
    }
  });
  return { events, frames };
}

/** Feeds a stream in pieces of changing size. */
function feed(text: string, protocol: (typeof PROTOCOLS)[RecordedApi], sink: EventSink, seed: number): void {
  const decoder = findProtocol(protocol)?.upstream.decodeStream(sink, codecContext());
  const reader = new EventReader((event, data) => decoder?.frame(event, data));
  const bytes = Buffer.from(text).toString('latin1');
  let size = seed + 1;
  for (let at = 0; at < bytes.length;) {
    reader.push(bytes.slice(at, at + size));
    at += size;
    size = ((size * 31) % 211) + 1;
  }
  reader.end();
  decoder?.end();
}

function collect(run: (sink: EventSink) => void): CollectedEvents {
  const collector = new Collector();
  run(collector);
  return collector.result();
}

function answerContext(): AnswerContext {
  const request = fillRequest({ protocol: 'anthropic-messages' });
  return { id: 'gen-1', createdSeconds: 1, model: 'test/model', request, reasoningContentMirror: false };
}

/** Everything that a decoded answer says, without the upstream's identity. */
function essence({ items, usage, finish }: CollectedEvents): string {
  return sortedJson(
    JSON.stringify({
      items,
      finish,
      input: usage && [
        inputTokens(usage),
        usage.input,
        outputTokens(usage),
        usage.output.reasoning,
        usage.tools,
      ],
    }),
  );
}

function firstDifference(a: string, b: string): string {
  let at = 0;
  while (a[at] === b[at]) at++;
  const from = Math.max(0, at - 80);
  return `expected …${a.slice(from, at + 120)}, got …${b.slice(from, at + 120)}`;
}
