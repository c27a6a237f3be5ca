// Every recorded Messages exchange must decode to what its bytes say. The expectations are read from the raw
// blocks and deltas by the plainest means, on purpose without any of the codec's own code.
import { expect, test } from 'bun:test';
import type { CollectedEvents, EventSink } from '../../src/canonical/index.ts';
import { Collector, inputTokens, outputTokens } from '../../src/canonical/index.ts';
import { anthropicMessages } from '../../src/protocols/anthropic-messages/index.ts';
import { codecContext } from '../support/golden-operations.ts';
import { missing, readRecordings, type Recording } from '../support/recordings/corpus.ts';
import { type Frame, framesOf, list, type Loose, word } from '../support/recordings/loose.ts';

const codec = anthropicMessages.upstream;

/** Recordings whose answer is not whole, with the reason: they must end in an error. They do not count in the rate. */
const CUT: Readonly<Record<string, string>> = {
  '0890ebc6add8#0': 'the fixture begins a second answer in the middle of the first one',
};

/** Content of an answer, in a form that both sides can be brought to. */
interface Essence {
  text: string;
  thinking: string[];
  calls: string[];
  citations: number;
  stop: string;
  tokens: Record<string, number>;
}

if (missing === undefined) {
  const recordings = readRecordings('messages');
  const good = recordings.filter((recording) => recording.status < 400);

  test('recorded responses are decoded to their content', () => {
    const rates = new Map<string, { good: number; all: number }>();
    const failures: string[] = [];
    for (const recording of good) {
      splitAnswers(recording).forEach((frames, position) => {
        const name = `${recording.case}#${position}`;
        const collected = frames === undefined ? decodeWhole(recording.res.json) : decodeFrames(frames);
        if (CUT[name] !== undefined) {
          expect(`${name} ${collected.error?.kind}`).toBe(`${name} upstream_unavailable`);
          return;
        }
        const rate = rates.get(recording.source) ?? { good: 0, all: 0 };
        rates.set(recording.source, rate);
        rate.all++;
        const expected = JSON.stringify(
          frames === undefined ? readBody(recording.res.json ?? {}) : readFrames(frames),
        );
        const actual = JSON.stringify(essence(collected));
        if (actual === expected && collected.error === undefined) rate.good++;
        else failures.push(`${recording.source} ${name}\n  expected ${expected}\n  actual   ${actual}`);
      });
    }
    for (const [source, rate] of rates) console.log(`messages answers: ${source} ${rate.good}/${rate.all}`);
    expect(failures).toEqual([]);
    expect(rates.size).toBeGreaterThan(5);
  });

  test('an answer means the same whole and streamed', () => {
    const whole = good.filter((recording) => recording.res.kind === 'json');
    for (const recording of whole) {
      const streamed = decodeFrames(streamOf(recording.res.json ?? {}));
      expect(withoutRaw(streamed)).toEqual(withoutRaw(decodeWhole(recording.res.json)));
    }
    expect(whole.length).toBeGreaterThan(150);
  });

  test('recorded refusals become the right kind of error', () => {
    const kinds = recordings
      .filter((recording) => recording.status >= 400)
      .map((recording) => {
        const body = JSON.stringify(recording.res.json);
        const error = codec.decodeError(recording.status, () => null, body);
        expect(error.upstream).toMatchObject({ status: recording.status, body });
        return `${recording.status} ${error.kind} ${error.fault}`;
      });
    expect([...new Set(kinds)].sort()).toEqual([
      '400 context_overflow client',
      '401 authentication upstream',
    ]);
  });
} else {
  test.skip(`recorded Messages exchanges: ${missing}`, () => {});
}

/** Some fixtures hold the streams of several requests one after the other. A whole answer is `undefined`. */
function splitAnswers(recording: Recording): (Frame[] | undefined)[] {
  if (recording.res.kind === 'json') return [undefined];
  const answers: Frame[][] = [];
  for (const frame of framesOf(recording.res.text ?? '')) {
    if (frame.event === 'message_start' || answers.length === 0) answers.push([]);
    answers.at(-1)?.push(frame);
  }
  return answers;
}

function collect(run: (sink: EventSink) => void): CollectedEvents {
  const collector = new Collector();
  run(collector);
  return collector.result();
}

function decodeWhole(body: unknown): CollectedEvents {
  return collect((sink) => codec.decodeResponse(body, sink, codecContext()));
}

function decodeFrames(frames: readonly Frame[]): CollectedEvents {
  return collect((sink) => {
    const decoder = codec.decodeStream(sink, codecContext());
    for (const { event, data } of frames) decoder.frame(event, data);
    decoder.end();
  });
}

function essence({ items, usage, finish }: CollectedEvents): Essence {
  const out: Essence = {
    text: '',
    thinking: [],
    calls: [],
    citations: 0,
    stop: finish?.raw ?? '',
    tokens: {},
  };
  for (const item of items) {
    if (item.type === 'tool_call')
      out.calls.push(JSON.stringify([item.callId, item.name, JSON.parse(item.arguments)]));
    if (item.type === 'reasoning') out.thinking.push(`${item.text.join('')}|${item.opaque?.data ?? ''}`);
    if (item.type === 'hosted_call')
      out.calls.push(JSON.stringify([item.kind, item.source?.raw['input'] ?? item.source?.raw['content']]));
    if (item.type !== 'message') continue;
    for (const part of item.parts) {
      if (part.type !== 'text') continue;
      out.text += part.text;
      out.citations += part.annotations?.length ?? 0;
    }
  }
  if (usage) {
    out.tokens = {
      input: inputTokens(usage),
      read: usage.input.cacheRead,
      output: outputTokens(usage),
      thinking: usage.output.reasoning,
    };
  }
  return out;
}

function readBody(body: Loose): Essence {
  const out: Essence = {
    text: '',
    thinking: [],
    calls: [],
    citations: 0,
    stop: word(body['stop_reason']),
    tokens: readUsage([body['usage']]),
  };
  for (const block of list(body['content'])) readBlock(block, out);
  return out;
}

function readBlock(block: Loose, out: Essence): void {
  const type = word(block['type']);
  out.text += word(block['text']);
  out.citations += list(block['citations']).length;
  if (type === 'thinking') out.thinking.push(`${word(block['thinking'])}|${word(block['signature'])}`);
  else if (type === 'tool_use') out.calls.push(JSON.stringify([block['id'], block['name'], block['input']]));
  else if (/tool_use|tool_result|compaction/.test(type))
    out.calls.push(JSON.stringify([type, block['input'] ?? block['content']]));
}

/** Assembles the blocks from the deltas, then reads them as those of a whole answer. */
function readFrames(frames: readonly Frame[]): Essence {
  const blocks: Record<string, unknown>[] = [];
  const usages: (Loose | undefined)[] = [];
  let stop = '';
  for (const { data } of frames) {
    const frame = JSON.parse(data) as Loose;
    const index = Number(frame['index'] ?? 0);
    const delta = frame['delta'] ?? {};
    if (frame['message'] !== undefined) {
      blocks.push(...list(frame['message']['content']).map((block) => ({ ...block })));
      stop += word(frame['message']['stop_reason']);
      usages.push(frame['message']['usage']);
    }
    if (frame['usage'] !== undefined) usages.push(frame['usage']);
    stop += word(delta['stop_reason']);
    if (frame['content_block'] !== undefined) blocks[index] = { ...frame['content_block'] };
    const block = blocks[index];
    if (block === undefined) continue;
    for (const key of ['text', 'thinking', 'signature', 'partial_json']) {
      if (delta[key] !== undefined) block[key] = word(block[key]) + word(delta[key]);
    }
    if (delta['citation'] !== undefined)
      block['citations'] = [...list(block['citations'] as Loose | undefined), delta['citation']];
  }
  for (const block of blocks) {
    if (word(block['partial_json']) !== '') block['input'] = JSON.parse(word(block['partial_json']));
  }
  const body = { content: blocks, stop_reason: stop } as unknown as Loose;
  return { ...readBody(body), tokens: readUsage(usages) };
}

/** Counts of the last object that has them. */
function readUsage(usages: readonly (Loose | undefined)[]): Record<string, number> {
  const last = (key: string): number =>
    Number(usages.map((usage) => usage?.[key]).findLast((n) => n !== undefined && n !== null) ?? 0);
  const details = usages
    .map((usage) => usage?.['output_tokens_details'])
    .findLast((d) => d !== undefined && d !== null);
  const read = last('cache_read_input_tokens');
  const input = last('input_tokens') + last('cache_creation_input_tokens') + read;
  return { input, read, output: last('output_tokens'), thinking: Number(details?.['thinking_tokens'] ?? 0) };
}

/** A whole answer as a stream would have brought it, in pieces of seven characters. */
function streamOf(body: Loose): Frame[] {
  const frames: Frame[] = [];
  const push = (frame: { type: string; [key: string]: unknown }) =>
    frames.push({ event: frame.type, data: JSON.stringify(frame) });
  const pieces = (index: number, type: string, key: string, text: string) => {
    for (let at = 0; at < text.length; at += 7)
      push({ type: 'content_block_delta', index, delta: { type, [key]: text.slice(at, at + 7) } });
  };
  push({ type: 'message_start', message: { ...body, content: [], stop_reason: null, stop_sequence: null } });
  list(body['content']).forEach((block, index) => {
    const type = word(block['type']);
    const blank = {
      text: { text: '', citations: [] },
      thinking: { thinking: '', signature: '' },
      tool_use: { input: {} },
    }[type];
    push({ type: 'content_block_start', index, content_block: { ...block, ...blank } });
    if (type === 'text') pieces(index, 'text_delta', 'text', word(block['text']));
    if (type === 'thinking') {
      pieces(index, 'thinking_delta', 'thinking', word(block['thinking']));
      push({
        type: 'content_block_delta',
        index,
        delta: { type: 'signature_delta', signature: block['signature'] },
      });
    }
    if (type === 'tool_use')
      pieces(index, 'input_json_delta', 'partial_json', JSON.stringify(block['input']));
    for (const citation of type === 'text' ? list(block['citations']) : []) {
      push({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation } });
    }
    push({ type: 'content_block_stop', index });
  });
  push({
    type: 'message_delta',
    delta: { stop_reason: body['stop_reason'], stop_sequence: body['stop_sequence'] },
    usage: body['usage'],
  });
  push({ type: 'message_stop' });
  return frames;
}

function withoutRaw({ start, items, usage, finish, error }: CollectedEvents): unknown {
  return JSON.parse(JSON.stringify({ start, items, usage: { ...usage, raw: null }, finish, error }));
}
