// Every recorded Chat Completions exchange must decode to what its bytes say. The expectations are read from
// the raw chunks by the plainest means, on purpose without any of the codec's own code.
import { expect, test } from 'bun:test';
import type { CanonicalEvent, CollectedEvents, ErrorKind, EventSink } from '../../src/canonical/index.ts';
import {
  cacheWriteTokens,
  Collector,
  GatewayError,
  inputTokens,
  outputTokens,
} from '../../src/canonical/index.ts';
import { openaiChat } from '../../src/protocols/openai-chat/index.ts';
import { codecContext } from '../support/golden-operations.ts';
import { missing, readRecordings, type Recording } from '../support/recordings/corpus.ts';
import { at, framesOf, list, type Loose, word } from '../support/recordings/loose.ts';

const NO_BODY = 'the recorder kept null in place of the answer';
/** Recordings that hold no answer, with the reason. They must be refused, and do not count in the rate. */
const REFUSED: Readonly<Record<string, string>> = {
  '12e8237bf1c3': NO_BODY,
  '35a000a6d5f9': NO_BODY,
  '1deede6322e6': NO_BODY,
  '4572b28d940b': NO_BODY,
  '8bb4e27d5502': NO_BODY,
};

/** Content of an answer, in a form that both sides can be brought to. */
interface Essence {
  readonly text: string;
  readonly refusal: string;
  readonly reasoning: string;
  readonly signatures: readonly string[];
  readonly calls: readonly string[];
  readonly usage: string | null;
  readonly outcome: string;
}

if (missing === undefined) {
  const recordings = readRecordings('chat');
  test('recorded responses are decoded to their content', () => {
    checkAll(
      'chat answers',
      recordings.filter((recording) => recording.status < 400 && !(recording.case in REFUSED)),
      check,
    );
  });
  test('recordings without an answer are refused', () => {
    const refused = recordings.filter((recording) => recording.case in REFUSED);
    expect(refused.length).toBe(Object.keys(REFUSED).length);
    for (const { res } of refused) {
      const decode = (): void =>
        openaiChat.upstream.decodeResponse(res.json, new Collector(), codecContext());
      expect(decode).toThrow(GatewayError);
    }
  });
  test('recorded errors are classified', () => {
    checkAll(
      'chat errors',
      recordings.filter((recording) => recording.status >= 400),
      ({ status, res }) => {
        const body = JSON.stringify(res.json ?? res.text ?? '');
        const error = openaiChat.upstream.decodeError(status, () => null, body);
        expect(error.upstream).toMatchObject({ status, body });
        expect(error.kind).toBe(expectedKind(status, body));
        expect(error.message.length).toBeGreaterThan(10);
      },
    );
  });
} else {
  test.skip(`recorded chat exchanges: ${missing}`, () => {});
}

function checkAll(
  title: string,
  recordings: readonly Recording[],
  run: (recording: Recording) => void,
): void {
  const rates = new Map<string, { passed: number; total: number }>();
  const failures: string[] = [];
  for (const recording of recordings) {
    const key = `${recording.source} ${recording.provider}`;
    const rate = rates.get(key) ?? { passed: 0, total: 0 };
    rates.set(key, rate);
    rate.total++;
    try {
      run(recording);
      rate.passed++;
    } catch (error) {
      failures.push(`${recording.case} ${key}: ${String(error).slice(0, 800)}`);
    }
  }
  for (const [key, { passed, total }] of [...rates].sort())
    console.log(`${title}: ${key} ${passed}/${total}`);
  const passed = recordings.length - failures.length;
  console.log(`${title}: ${passed}/${recordings.length}`);
  expect(recordings.length).toBeGreaterThan(0);
  if (passed / recordings.length < 0.99) expect(failures).toEqual([]);
  for (const failure of failures) console.log(`${title}: FAILED ${failure}`);
}

function check(recording: Recording): void {
  if (recording.res.kind === 'json') {
    const body = recording.res.json;
    const expected = essenceOf(body ? [body] : [], true);
    const sink = new OrderedSink();
    // An error that was recorded with status 200 is thrown.
    if (body?.['error']) {
      expect(() => openaiChat.upstream.decodeResponse(body, sink, codecContext())).toThrow(GatewayError);
      return;
    }
    openaiChat.upstream.decodeResponse(body, sink, codecContext());
    expect(sink.ended).toBe(true);
    expect(essenceFrom(sink.collector.result())).toEqual(expected);
    return;
  }
  const frames = framesOf(recording.res.text ?? '');
  const chunks = frames
    .filter((frame) => frame.data !== '[DONE]')
    .map((frame) => JSON.parse(frame.data) as Loose);
  const expected = essenceOf(
    chunks,
    frames.some((frame) => frame.data === '[DONE]'),
  );
  const sink = new OrderedSink();
  const decoder = openaiChat.upstream.decodeStream(sink, codecContext());
  for (const frame of frames) decoder.frame(frame.event, frame.data);
  decoder.end();
  expect(sink.ended).toBe(true);
  expect(essenceFrom(sink.collector.result())).toEqual(expected);
  checkCut(frames);
}

/** A stream without its last third must not look complete. */
function checkCut(frames: readonly { event: string; data: string }[]): void {
  const head = frames.slice(0, Math.floor((frames.length * 2) / 3));
  if (head.some((frame) => /"finish_reason":\s*"\w|\[DONE\]|"error"/.test(frame.data))) return;
  const collector = new Collector();
  const decoder = openaiChat.upstream.decodeStream(collector, codecContext());
  for (const frame of head) decoder.frame(frame.event, frame.data);
  decoder.end();
  expect(collector.result().error?.kind).toBe('upstream_unavailable');
  expect(collector.result().finish).toBeUndefined();
}

/** Collects events and insists on their order: `start` first, dense indices, content in open items only, one end. */
class OrderedSink implements EventSink {
  readonly collector = new Collector();
  readonly #open = new Set<number>();
  #next = -1;
  ended = false;

  on(event: CanonicalEvent): void {
    if (this.ended) throw new Error(`${event.type} after the end`);
    if (this.#next < 0 && event.type !== 'start' && event.type !== 'error')
      throw new Error(`${event.type} before start`);
    switch (event.type) {
      case 'start':
        if (this.#next >= 0) throw new Error('a second start');
        this.#next = 0;
        break;
      case 'open':
        if (event.index !== this.#next++) throw new Error(`index ${event.index} is not dense`);
        this.#open.add(event.index);
        break;
      case 'text':
      case 'reasoning':
      case 'arguments':
      case 'annotate':
        if (!this.#open.has(event.index))
          throw new Error(`${event.type} in item ${event.index}, which is not open`);
        break;
      case 'close':
        if (!this.#open.delete(event.index))
          throw new Error(`close of item ${event.index}, which is not open`);
        break;
      case 'finish':
        if (this.#open.size > 0) throw new Error('finish with open items');
        this.ended = true;
        break;
      case 'error':
        this.ended = true;
        break;
      default:
    }
    this.collector.on(event);
  }
}

/** The decoded side. */
function essenceFrom(result: CollectedEvents): Essence {
  const essence = { text: '', refusal: '', reasoning: '', signatures: [] as string[], calls: [] as string[] };
  for (const item of result.items) {
    if (item.type === 'message') {
      for (const part of item.parts) {
        if (part.type === 'text') essence.text += part.text;
        if (part.type === 'refusal') essence.refusal += part.refusal;
      }
    } else if (item.type === 'reasoning') {
      essence.reasoning += item.text.join('') + item.summary.join('');
      if (item.opaque) essence.signatures.push(item.opaque.data);
    } else if (item.type === 'tool_call') essence.calls.push(`${item.name}(${item.arguments})`);
  }
  const { usage } = result;
  return {
    ...essence,
    usage: usage
      ? `${inputTokens(usage)}+${outputTokens(usage)} cached ${usage.input.cacheRead} written ${cacheWriteTokens(usage)} reasoning ${usage.output.reasoning}`
      : null,
    outcome: result.error ? 'error' : (result.finish?.raw ?? ''),
  };
}

/** The recorded side: members joined chunk by chunk. */
function essenceOf(chunks: readonly Loose[], complete: boolean): Essence {
  let text = '';
  let refusal = '';
  let reasoning = '';
  let usage: Loose | undefined;
  let outcome: string | undefined;
  let failed = false;
  const signatures: string[] = [];
  const calls = new Map<string, { name: string; text: string }>();
  let anonymous = 0;
  for (const chunk of chunks) {
    if (chunk['error']) failed = true;
    usage = chunk['usage'] ?? at(chunk['x_groq'], 'usage') ?? usage;
    for (const choice of list(chunk['choices'])) {
      if (Number(choice['index'] ?? 0) !== 0) continue;
      outcome = word(choice['finish_reason']) || word(at(choice['finish_details'], 'type')) || outcome;
      // Writer's chunks hold the delta twice, Perplexity's completions an empty delta beside the message.
      const whole = String(chunk['object']).endsWith('.chunk') ? undefined : choice['message'];
      const message = whole ?? choice['delta'];
      if (!message) continue;
      if (typeof message['content'] === 'string') text += word(message['content']);
      else
        for (const part of list(message['content'])) {
          text += word(part['text']);
          for (const piece of list(part['thinking'])) reasoning += word(piece['text']);
        }
      refusal += word(message['refusal']);
      const details = list(message['reasoning_details']);
      const shown = details.map((detail) => word(detail['text']) + word(detail['summary'])).join('');
      reasoning += shown || word(message['reasoning_content']) || word(message['reasoning']);
      signatures.push(
        ...details.map((detail) => word(detail['signature']) + word(detail['data'])).filter(Boolean),
      );
      if (message['thought_signature']) signatures.push(word(message['thought_signature']));
      for (const call of list(message['tool_calls'])) {
        const key = whole ? `#${++anonymous}` : `${String(call['index'])}`;
        const entry = calls.get(key) ?? { name: '', text: '' };
        calls.set(key, entry);
        entry.name += word(at(call['function'], 'name'));
        entry.text += word(at(call['function'], 'arguments'));
      }
      if (word(at(message['function_call'], 'name')) || word(at(message['function_call'], 'arguments'))) {
        const entry = calls.get('legacy') ?? { name: '', text: '' };
        calls.set('legacy', entry);
        entry.name += word(at(message['function_call'], 'name'));
        entry.text += word(at(message['function_call'], 'arguments'));
      }
    }
  }
  return {
    text,
    refusal,
    reasoning,
    signatures,
    calls: [...calls.values()].map((call) => `${call.name}(${call.text})`),
    usage: usage ? describeUsage(usage) : null,
    outcome: failed || (!complete && outcome === undefined) ? 'error' : (outcome ?? ''),
  };
}

function describeUsage(usage: Loose): string {
  const prompt = Number(usage['prompt_tokens']);
  const completion = Number(usage['completion_tokens']);
  const hidden = Math.max(0, Number(usage['total_tokens']) - prompt - completion);
  const cached = Math.min(
    prompt,
    Number(
      at(usage['prompt_tokens_details'], 'cached_tokens') ??
        usage['num_cached_tokens'] ??
        usage['cached_tokens'] ??
        0,
    ),
  );
  const written = Number(at(usage['prompt_tokens_details'], 'cache_write_tokens') ?? 0);
  const reasoning = Math.max(hidden, Number(at(usage['completion_tokens_details'], 'reasoning_tokens') ?? 0));
  return `${prompt}+${completion + hidden} cached ${cached} written ${written} reasoning ${reasoning}`;
}

function expectedKind(status: number, body: string): ErrorKind {
  if (status === 400) return /context length|too long/.test(body) ? 'context_overflow' : 'invalid_request';
  const kinds: Readonly<Record<number, ErrorKind>> = {
    401: 'authentication',
    404: 'not_found',
    429: 'rate_limited',
  };
  return kinds[status] ?? 'upstream_unavailable';
}
