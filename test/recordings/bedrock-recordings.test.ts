// Every recorded answer of Bedrock's Converse decodes to what its bytes say, streams in pieces of any size. The
// expectations are read from the raw blocks and deltas by the plainest means, without any of the codec's own code.
import { describe, expect, test } from 'bun:test';
import type { CollectedEvents } from '../../src/canonical/index.ts';
import {
  Collector,
  GatewayError,
  inputTokens,
  outputTokens,
  type ErrorKind,
} from '../../src/canonical/index.ts';
import { bedrockConverse } from '../../src/protocols/bedrock-converse/index.ts';
import { EventStreamParser } from '../../src/upstream/event-stream.ts';
import { codecContext } from '../support/golden-operations.ts';
import { missing, readConverseRecordings } from '../support/recordings/corpus.ts';
import { at, list, sortedJson, word } from '../support/recordings/loose.ts';
import type { Loose } from '../support/recordings/loose.ts';
import { recordedStream } from '../support/recordings/read-converse.ts';

if (missing) console.log(`bedrock-recordings: ${missing}`);

const { upstream } = bedrockConverse;

/** Content of an answer, in a form that both sides can be brought to. */
interface Essence {
  readonly text: string;
  readonly reasoning: string;
  readonly signatures: readonly string[];
  readonly calls: readonly string[];
  readonly citations: number;
  readonly stop: string;
  readonly tokens: readonly number[];
}

/** Bedrock's words for why an answer ended. */
const STOPS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  stop_sequence: 'stop_sequence',
  guardrail_intervened: 'content_filter',
};

function tokensOf(usage: Loose | undefined): readonly number[] {
  const count = (name: string): number => Number(at(usage, name) ?? 0);
  const input = count('inputTokens') + count('cacheReadInputTokens') + count('cacheWriteInputTokens');
  return [input, count('cacheReadInputTokens'), count('cacheWriteInputTokens'), count('outputTokens')];
}

function readWhole(json: Loose | undefined): Essence {
  const blocks = list(at(json, 'output', 'message', 'content'));
  const cited = blocks.map((block) => at(block, 'citationsContent'));
  return {
    text: blocks
      .map(
        (block, i) =>
          word(at(block, 'text')) +
          list(at(cited[i], 'content'))
            .map((c) => word(at(c, 'text')))
            .join(''),
      )
      .join(''),
    reasoning: blocks.map((block) => word(at(block, 'reasoningContent', 'reasoningText', 'text'))).join(''),
    signatures: blocks
      .map((block) => word(at(block, 'reasoningContent', 'reasoningText', 'signature')))
      .filter(Boolean),
    calls: blocks.flatMap((block) => {
      const call = at(block, 'toolUse');
      if (call === undefined) return [];
      return [
        `${word(at(call, 'toolUseId'))} ${word(at(call, 'name'))} ${sortedJson(JSON.stringify(at(call, 'input')))}`,
      ];
    }),
    citations: cited.flatMap((each) => list(at(each, 'citations'))).length,
    stop: STOPS[word(at(json, 'stopReason'))] ?? 'unknown',
    tokens: tokensOf(at(json, 'usage')),
  };
}

function readEvents(events: readonly (readonly [string, Loose])[]): Essence {
  const deltas = events.filter(([type]) => type === 'contentBlockDelta').map(([, data]) => data);
  const starts = events.filter(([type]) => type === 'contentBlockStart').map(([, data]) => data);
  const find = (type: string): Loose | undefined => events.find(([each]) => each === type)?.[1];
  const signatures = new Map<unknown, string>();
  for (const delta of deltas) {
    const signature = word(at(delta, 'delta', 'reasoningContent', 'signature'));
    const index = at(delta, 'contentBlockIndex');
    if (signature !== '') signatures.set(index, (signatures.get(index) ?? '') + signature);
  }
  return {
    text: deltas.map((delta) => word(at(delta, 'delta', 'text'))).join(''),
    reasoning: deltas.map((delta) => word(at(delta, 'delta', 'reasoningContent', 'text'))).join(''),
    signatures: [...signatures.values()],
    calls: starts.flatMap((start) => {
      const call = at(start, 'start', 'toolUse');
      if (call === undefined) return [];
      const json = deltas
        .filter((delta) => at(delta, 'contentBlockIndex') === at(start, 'contentBlockIndex'))
        .map((delta) => word(at(delta, 'delta', 'toolUse', 'input')))
        .join('');
      const input = sortedJson(json || '{}');
      return [`${word(at(call, 'toolUseId'))} ${word(at(call, 'name'))} ${input}`];
    }),
    citations: deltas.filter((delta) => at(delta, 'delta', 'citation') !== undefined).length,
    stop: STOPS[word(at(find('messageStop'), 'stopReason'))] ?? 'unknown',
    tokens: tokensOf(at(find('metadata'), 'usage')),
  };
}

function essenceOf(answer: CollectedEvents): Essence {
  const { items, usage } = answer;
  const messages = items.flatMap((item) => (item.type === 'message' ? item.parts : []));
  const texts = messages.flatMap((part) => (part.type === 'text' ? [part] : []));
  const reasoning = items.flatMap((item) => (item.type === 'reasoning' ? [item] : []));
  return {
    text: texts.map((part) => part.text).join(''),
    reasoning: reasoning.flatMap((item) => item.text).join(''),
    signatures: reasoning.flatMap((item) => (item.opaque ? [item.opaque.data] : [])),
    calls: items.flatMap((item) =>
      item.type === 'tool_call' ? [`${item.callId} ${item.name} ${sortedJson(item.arguments || '{}')}`] : [],
    ),
    citations: texts.flatMap((part) => part.annotations ?? []).length,
    stop: answer.finish?.reason ?? 'none',
    tokens: usage
      ? [
          inputTokens(usage),
          usage.input.cacheRead,
          usage.input.cacheWrite5m + usage.input.cacheWrite1h,
          outputTokens(usage),
        ]
      : [0, 0, 0, 0],
  };
}

/** A number between 0 and 1 from a seed: the same pieces in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

function decodeEvents(run: (frame: (type: string, data: string) => void) => void): CollectedEvents {
  const collector = new Collector();
  const decoder = upstream.decodeStream(collector, codecContext());
  run((type, data) => decoder.frame(type, data));
  decoder.end();
  return collector.result();
}

function decodeBytes(bytes: Buffer, random: () => number): CollectedEvents {
  return decodeEvents((frame) => {
    const parser = new EventStreamParser(({ headers, payload }) =>
      frame(headers.get(':event-type') ?? '', Buffer.from(payload, 'latin1').toString()),
    );
    for (let from = 0; from < bytes.length;) {
      const to = Math.min(bytes.length, from + 1 + Math.floor(random() * 200));
      parser.push(bytes.subarray(from, to));
      from = to;
    }
    parser.end();
  });
}

describe.skipIf(missing !== undefined)('recorded exchanges of Converse', () => {
  const recordings = missing ? [] : readConverseRecordings();
  const good = recordings.filter(({ status }) => status < 300);

  test('keep their content when whole', () => {
    const whole = good.filter(({ res }) => res.kind === 'json');
    for (const { case: name, res } of whole) {
      const collector = new Collector();
      upstream.decodeResponse(res.json, collector, codecContext());
      expect([name, essenceOf(collector.result())]).toEqual([name, readWhole(res.json)]);
    }
    expect(whole.length).toBeGreaterThan(100);
  });

  test('keep their content when streamed, in pieces of any size', () => {
    const random = randomFrom(7);
    const streams = good.filter(({ res }) => res.kind === 'eventstream' || res.kind === 'aws-values');
    let complete = 0;
    for (const recording of streams) {
      const { case: name } = recording;
      const { bytes, events } = recordedStream(recording);
      const ends = events.some(([type]) => type === 'messageStop');
      const answers = bytes
        ? [1, 2, 3].map(() => decodeBytes(bytes, random))
        : [decodeEvents((frame) => events.forEach(([type, data]) => frame(type, JSON.stringify(data))))];
      for (const answer of answers) {
        if (!ends) {
          expect([name, answer.error?.kind]).toEqual([name, 'upstream_unavailable']);
          continue;
        }
        expect([name, essenceOf(answer)]).toEqual([name, readEvents(events)]);
      }
      if (ends) complete++;
    }
    expect(complete).toBeGreaterThan(15);
  });

  test('keep the kind and text of their errors', () => {
    const kinds = recordings
      .filter(({ status }) => status >= 400)
      .map(({ status, resHeaders, res }) => {
        const text = JSON.stringify(res.json);
        const error = upstream.decodeError(status, (name) => resHeaders?.[name] ?? null, text);
        expect(GatewayError.is(error)).toBe(true);
        return [word(at(res.json, 'message')), error.kind] as const;
      });
    expect(kinds.length).toBeGreaterThan(10);
    const expected: readonly (readonly [RegExp, ErrorKind])[] = [
      [/^The security token/, 'authentication'],
      [/model identifier is invalid/, 'not_found'],
      [/Input Tokens Exceeded/, 'context_overflow'],
      [/./, 'invalid_request'],
    ];
    for (const [message, kind] of kinds)
      expect([message, kind]).toEqual([
        message,
        expected.find(([match]) => match.test(message))?.[1] ?? 'internal',
      ]);
  });
});
