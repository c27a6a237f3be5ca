// Every recorded Responses exchange, streamed or not, must come out of the decoder with exactly what the finished
// answer holds. What is expected is read from the recording by this file's own simple code, not by the decoder's.
import { expect, test } from 'bun:test';
import type { JsonObject, JsonValue, MutableJsonObject } from '../../src/base/json/index.ts';
import type { CanonicalEvent } from '../../src/canonical/index.ts';
import { asArray, asNumber, asObject, isJsonObject } from '../../src/base/json/index.ts';
import { Collector, GatewayError } from '../../src/canonical/index.ts';
import { openaiResponses } from '../../src/protocols/openai-responses/index.ts';
import type { CodecContext } from '../../src/protocols/protocol.ts';
import { missing, readRecordings, type Recording } from '../support/recordings/corpus.ts';
import { framesOf } from '../support/recordings/loose.ts';

const context: CodecContext = { newId: (prefix) => `${prefix}0001`, nowSeconds: () => 1_700_000_000 };
/** Exchanges that are no finished answers, with the reason. They must be refused, and do not count in the rate. */
const REFUSED: Readonly<Record<string, string>> = {
  '1d7d1cd2e0cd': 'background mode: the reply only says that the answer is queued',
  '065466c40ad8': 'background mode: the reply only says that the answer is queued',
  '2856c34c388b': 'background mode: the reply only says that the answer is queued',
};

/** Exchanges that are decoded to something else than they say, with the reason. */
const DIFFERENT: Readonly<Record<string, string>> = {};

/** Content that must survive, in the order of the answer. */
interface Content {
  readonly texts: string[];
  readonly refusals: string[];
  readonly citations: string[];
  readonly calls: string[];
  readonly summaries: string[];
  readonly thoughts: string[];
  readonly encrypted: string[];
  readonly others: string[];
  readonly tokens: readonly number[];
}

if (missing !== undefined) {
  test.skip(`recorded Responses exchanges: ${missing}`, () => {});
} else {
  const recordings = readRecordings('responses');

  test('every recorded Responses answer keeps its content', () => {
    const rates = new Map<string, { passed: number; total: number }>();
    const failures: string[] = [];
    for (const recording of recordings.filter((r) => r.status === 200 && !(r.case in REFUSED))) {
      const problem = check(recording);
      const key = `${recording.source} (${recording.provider}, ${recording.res.kind})`;
      const rate = rates.get(key) ?? { passed: 0, total: 0 };
      rate.total++;
      if (problem === undefined) rate.passed++;
      rates.set(key, rate);
      if ((problem === undefined) === recording.case in DIFFERENT)
        failures.push(`${recording.case} ${key}: ${problem ?? 'is decoded well, but listed as different'}`);
    }
    let passed = 0;
    let total = 0;
    for (const [key, rate] of [...rates].sort(([a], [b]) => a.localeCompare(b))) {
      console.log(`  responses  ${rate.passed}/${rate.total}  ${key}`);
      passed += rate.passed;
      total += rate.total;
    }
    console.log(`  responses  ${passed}/${total}  in all`);
    expect(failures).toEqual([]);
    expect(total).toBeGreaterThan(250);
    expect(passed / total).toBeGreaterThanOrEqual(0.99);
  });

  // Servers leave out deltas, finished items or the final list, and some give an item another id in each event.
  // Whatever is left must say the same, once.
  const variants: Readonly<Record<string, (frame: JsonObject, n: number) => JsonObject | undefined>> = {
    'whole items only': (frame) =>
      /^response\.(created|output_item\.|completed|incomplete)/.test(String(frame['type']))
        ? frame
        : undefined,
    'finished items only': (frame) =>
      /^response\.(output_item\.done|completed|incomplete)/.test(String(frame['type'])) ? frame : undefined,
    'the final answer only': (frame) =>
      /^response\.(completed|incomplete)/.test(String(frame['type'])) ? frame : undefined,
    'an empty final list': (frame) =>
      isJsonObject(frame['response']) ? { ...frame, response: { ...frame['response'], output: [] } } : frame,
    'no finished items': (frame) => (frame['type'] === 'response.output_item.done' ? undefined : frame),
    'other ids in each event': (frame, n) => ({
      ...frame,
      ...('item_id' in frame ? { item_id: `id_${n}` } : {}),
      ...(isJsonObject(frame['item']) ? { item: { ...frame['item'], id: `id_${n}` } } : {}),
    }),
  };
  for (const [name, change] of Object.entries(variants)) {
    test(`streams with ${name} keep their content`, () => {
      const failures: string[] = [];
      for (const recording of recordings.filter((r) => r.status === 200 && r.res.kind === 'sse')) {
        const all = framesOf(recording.res.text ?? '').map(({ data }) => asObject(JSON.parse(data)));
        const want = new Collector();
        const got = new Collector();
        decodeFrames(all, want);
        decodeFrames(
          all.map(change).filter((frame) => frame !== undefined),
          got,
        );
        const problem = difference(withoutOpaque(actual(want)), withoutOpaque(actual(got)));
        if (problem !== undefined) failures.push(`${recording.case}: ${problem}`);
      }
      expect(failures).toEqual([]);
    });
  }

  test('a reply that holds no finished answer is refused', () => {
    const refused = recordings.filter((r) => r.case in REFUSED);
    expect(refused.map((r) => r.case).sort()).toEqual(Object.keys(REFUSED).sort());
    for (const recording of refused) {
      expect(() =>
        openaiResponses.upstream.decodeResponse(recording.res.json, new Collector(), context),
      ).toThrow(GatewayError);
    }
  });

  test('recorded error bodies are classified', () => {
    const kinds = recordings
      .filter((r) => r.status !== 200)
      .map((r) => {
        const error = openaiResponses.upstream.decodeError(r.status, () => null, JSON.stringify(r.res.json));
        return `${r.status} ${error.kind} ${error.fault} ${error.code}`;
      });
    expect([...new Set(kinds)].sort()).toEqual([
      '400 not_found client model_not_found',
      '401 authentication upstream invalid_api_key',
    ]);
  });
}

function decodeFrames(all: readonly JsonObject[], collector: Collector): void {
  const decoder = openaiResponses.upstream.decodeStream(collector, context);
  for (const frame of all) decoder.frame('', JSON.stringify(frame));
  decoder.end();
}

/** Content without the parts that differ in every copy of an item: its id and its encrypted state. */
function withoutOpaque(content: Content): Content {
  return {
    ...content,
    encrypted: content.encrypted.map(() => 'encrypted'),
    others: content.others.map(() => 'other'),
  };
}

/** Fault of the decoded recording; undefined when there is none. */
function check(recording: Recording): string | undefined {
  const events: CanonicalEvent[] = [];
  const collector = new Collector();
  const sink = { on: (event: CanonicalEvent) => void (events.push(event), collector.on(event)) };
  let final: JsonObject;
  if (recording.res.kind === 'json') {
    final = asObject(recording.res.json);
    openaiResponses.upstream.decodeResponse(final, sink, context);
  } else {
    const decoder = openaiResponses.upstream.decodeStream(sink, context);
    let terminal: JsonObject = {};
    // OpenAI encrypts anew each time it writes an item (`encrypted_content`; `fingerprint` of programs): the finished
    // item and the finished answer hold different texts for the same state. The first complete one is kept.
    const finishedItems = new Map<JsonValue | undefined, JsonObject>();
    for (const { event, data } of framesOf(recording.res.text ?? '')) {
      decoder.frame(event, data);
      const frame = asObject(JSON.parse(data));
      const item = asObject(frame['item']);
      const type = frame['type'];
      if (type === 'response.output_item.done') finishedItems.set(item['id'], item);
      if (type === 'response.completed' || type === 'response.incomplete')
        terminal = asObject(frame['response']);
    }
    decoder.end();
    const output = asArray(terminal['output']).map((value) => {
      const item: MutableJsonObject = { ...asObject(value) };
      const finishedItem = asObject(finishedItems.get(item['id']));
      for (const key of ['encrypted_content', 'fingerprint'])
        if (item[key] && finishedItem[key]) item[key] = finishedItem[key];
      return item;
    });
    final = { ...terminal, output };
  }
  return (
    shapeProblem(events) ?? difference(expected(final), actual(collector)) ?? finishProblem(final, collector)
  );
}

/** The rules every event list keeps: start first, one ending last, dense indices, each item opened and closed once. */
function shapeProblem(events: readonly CanonicalEvent[]): string | undefined {
  if (events[0]?.type !== 'start') return `begins with ${events[0]?.type}`;
  if (events.at(-1)?.type !== 'finish') return `ends with ${events.at(-1)?.type}`;
  const open = new Set<number>();
  let next = 0;
  for (const event of events.slice(1, -1)) {
    if (event.type === 'start' || event.type === 'finish' || event.type === 'error')
      return `${event.type} in the middle`;
    if (event.type === 'usage' || event.type === 'piece' || event.type === 'unknown') continue;
    if (event.type === 'open') {
      if (event.index !== next++) return `item ${event.index} opened out of turn`;
      open.add(event.index);
    } else if (!open.has(event.index)) {
      return `${event.type} for item ${event.index}, which is not open`;
    } else if (event.type === 'close') {
      open.delete(event.index);
    }
  }
  return open.size > 0 ? `items left open: ${[...open].join(', ')}` : undefined;
}

function expected(final: JsonObject): Content {
  const content = emptyContent(tokensOf(asObject(final['usage'])));
  for (const value of asArray(final['output'])) {
    const item = asObject(value);
    const type = String(item['type']);
    if (type === 'message') {
      for (const part of asArray(item['content']).map(asObject)) {
        if (part['type'] === 'refusal') content.refusals.push(String(part['refusal']));
        else content.texts.push(String(part['text']));
        for (const annotation of asArray(part['annotations']).map(asObject))
          content.citations.push(String(annotation['url'] ?? annotation['file_id']));
      }
    } else if (type === 'reasoning') {
      for (const part of asArray(item['summary']).map(asObject)) content.summaries.push(String(part['text']));
      for (const part of asArray(item['content']).map(asObject)) content.thoughts.push(String(part['text']));
      if (item['encrypted_content']) content.encrypted.push(`${item['id']} ${item['encrypted_content']}`);
    } else if (type === 'function_call' || type === 'custom_tool_call') {
      content.calls.push(`${type} ${item['call_id']} ${item['name']} ${item['arguments'] ?? item['input']}`);
    } else {
      content.others.push(JSON.stringify(item));
    }
  }
  return finished(content);
}

function actual(collector: Collector): Content {
  const { items, usage } = collector.result();
  const tokens = usage
    ? [
        usage.input.uncached + usage.input.cacheRead + usage.input.cacheWrite5m + usage.input.cacheWrite1h,
        usage.input.cacheRead,
        usage.output.text + usage.output.reasoning,
        usage.output.reasoning,
      ]
    : [];
  const content = emptyContent(tokens);
  for (const item of items) {
    switch (item.type) {
      case 'message':
        for (const part of item.parts) {
          if (part.type === 'refusal') content.refusals.push(part.refusal);
          if (part.type !== 'text') continue;
          content.texts.push(part.text);
          for (const a of part.annotations ?? [])
            content.citations.push(a.type === 'url_citation' ? a.url : String(a.source.raw['file_id']));
        }
        break;
      case 'reasoning':
        content.summaries.push(...item.summary);
        content.thoughts.push(...item.text);
        if (item.opaque) content.encrypted.push(`${item.id} ${item.opaque.data}`);
        break;
      case 'tool_call':
        content.calls.push(
          `${item.kind === 'custom' ? 'custom_tool_call' : 'function_call'} ${item.callId} ${item.name} ${item.arguments}`,
        );
        break;
      default:
        content.others.push(JSON.stringify(item.source?.raw));
    }
  }
  return finished(content);
}

function emptyContent(tokens: readonly number[]): Content {
  return {
    texts: [],
    refusals: [],
    citations: [],
    calls: [],
    summaries: [],
    thoughts: [],
    encrypted: [],
    others: [],
    tokens,
  };
}

/** Content without empty texts and with hosted items in one order: several run at once and open as they are announced. */
function finished(content: Content): Content {
  return {
    ...content,
    texts: content.texts.filter((text) => text !== ''),
    others: content.others.toSorted(),
  };
}

function tokensOf(usage: JsonObject): number[] {
  if (usage['input_tokens'] === undefined) return [];
  return [
    asNumber(usage['input_tokens']) ?? 0,
    asNumber(asObject(usage['input_tokens_details'])['cached_tokens']) ?? 0,
    asNumber(usage['output_tokens']) ?? 0,
    asNumber(asObject(usage['output_tokens_details'])['reasoning_tokens']) ?? 0,
  ];
}

function difference(want: Content, got: Content): string | undefined {
  for (const key of Object.keys(want) as (keyof Content)[]) {
    const [a, b] = [JSON.stringify(want[key]), JSON.stringify(got[key])];
    if (a !== b) return `${key}: expected ${a.slice(0, 300)}, got ${b.slice(0, 300)}`;
  }
  return undefined;
}

function finishProblem(final: JsonObject, collector: Collector): string | undefined {
  const { finish, items } = collector.result();
  const calls = items.some((item) => item.type === 'tool_call');
  const want = final['status'] === 'incomplete' ? 'length' : calls ? 'tool_calls' : 'stop';
  return finish?.reason === want ? undefined : `finish: expected ${want}, got ${finish?.reason}`;
}
