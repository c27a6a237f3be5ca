// Damaged answers of upstreams, over real sockets and all three upstream protocols: split anywhere, cut, repeated, with
// flipped bits. The client gets a complete valid answer or a native error, never a hang, and never a normal end of an
// answer that was cut. FUZZ_SEED varies the damage, FUZZ_RUNS the number of cases.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { TEXTS } from '../../../src/canonical/index.ts';
import { readChatStream, readCompletion, readError } from '../../support/chat-shape.ts';
import { casesOf } from '../../support/share.ts';
import { CHAT, MESSAGES, parameters, RESPONSES, serveSim, user } from '../../support/sim-server.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const RUNS = Number(process.env['FUZZ_RUNS'] ?? casesOf(2400));

const TEXT = 'explain the weather in "Zürich 漢字 😀", parallel';
const TOOL = { name: 'get_weather', parameters };

/** Answers that hold everything a protocol has: reasoning, text beyond ASCII, two calls, usage. */
const SOURCES = [
  {
    protocol: 'chat',
    path: CHAT,
    /** Start of the frame that says how the answer ended. */
    finish: /data: [^\n]*"finish_reason":"/,
    body: {
      model: 'deepseek',
      messages: [user(TEXT)],
      tools: [{ type: 'function', function: TOOL }],
      max_tokens: 4000,
    },
  },
  {
    protocol: 'responses',
    path: RESPONSES,
    finish: /event: response\.completed/,
    body: {
      model: 'responses',
      input: TEXT,
      tools: [{ type: 'function', ...TOOL }],
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
    },
  },
  {
    protocol: 'messages',
    path: MESSAGES,
    finish: /event: message_delta/,
    body: {
      model: 'claude',
      messages: [user(TEXT)],
      tools: [{ name: TOOL.name, input_schema: parameters }],
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
    },
  },
] as const;

const scenes: { translate?: Scene; relay?: Scene } = {};
/** By protocol: the bytes of a whole answer and of a stream. */
const recorded = new Map<string, { readonly whole: Buffer; readonly stream: Buffer }>();

beforeAll(async () => {
  const config = { routing: { retries: 0 } };
  [scenes.translate, scenes.relay] = await Promise.all([
    startScene(['up'], { config }),
    startScene(['up'], { config, faithful: true }),
  ]);
  const sim = serveSim();
  for (const { protocol, path, body } of SOURCES) {
    const read = async (stream: boolean): Promise<Buffer> => {
      const response = await sim.post(path, { ...body, stream });
      expect(response.status).toBe(200);
      return Buffer.from(await response.arrayBuffer());
    };
    recorded.set(protocol, { whole: await read(false), stream: await read(true) });
  }
  await sim.stop();
});
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

function recordingOf(protocol: string): { readonly whole: Buffer; readonly stream: Buffer } {
  const found = recorded.get(protocol);
  if (!found) throw new Error(`nothing was recorded of ${protocol}`);
  return found;
}

/** How the connection goes on after the last byte. */
type Ending = 'ends' | 'closes' | 'breaks';

/** An event stream of these bytes, split into HTTP chunks at these places. */
function served(bytes: Buffer, splits: readonly number[], ending: Ending): Answer {
  return (exchange) => {
    exchange.openStream();
    let from = 0;
    for (const at of [
      ...splits.map((split) => split % (bytes.length + 1)).toSorted((a, b) => a - b),
      bytes.length,
    ]) {
      exchange.chunk(bytes.subarray(from, at));
      from = at;
    }
    if (ending === 'ends') exchange.endStream();
    else if (ending === 'closes') {
      exchange.endStream();
      exchange.close();
    } else setImmediate(() => exchange.cut());
  };
}

interface Reading {
  readonly status: number;
  readonly text: string;
}

async function ask(scene: Scene, protocol: string, stream: boolean, answer: Answer): Promise<Reading> {
  scene.upstream('up').always(answer);
  const response = await fetch(`${scene.gateway.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: `one/${protocol}`,
      messages: [user(TEXT)],
      tools: [{ type: 'function', function: TOOL }],
      stream,
    }),
    // A hang is a failure that the shortest input should show.
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, text: await response.text() };
}

/** Throws unless it is a complete answer or an error; true for an answer. */
function judge({ status, text }: Reading, stream: boolean): boolean {
  if (status !== 200) {
    const error = readError(text);
    if (status === 500 || error.message === TEXTS.internal) throw new Error(`a defect: ${status} ${text}`);
    return false;
  }
  if (stream) {
    const { done, error } = readChatStream(text);
    if (error?.message === TEXTS.internal) throw new Error(`a defect: ${text}`);
    return done;
  }
  readCompletion(text);
  return true;
}

function sceneOf(lane: 'translate' | 'relay'): Scene {
  const scene = scenes[lane];
  if (!scene) throw new Error('no scene');
  return scene;
}

/** Everything but what differs between two answers by its nature. */
function contentOf(text: string): unknown {
  return readChatStream(text).chunks.map(({ id: _, created: __, ...rest }) => rest);
}

const splits = fc.array(fc.nat({ max: 100_000 }), { maxLength: 12 });
const ending = fc.constantFrom<Ending>('ends', 'closes', 'breaks');
const runs = Math.ceil(RUNS / 24);

describe.each(['translate', 'relay'] as const)('%s lane', (lane) => {
  // Whole answers pass the relay lane as they are: only streams are told by their end there.
  const protocols = SOURCES.filter(({ protocol }) => lane === 'translate' || protocol === 'chat');

  test.each(protocols.map(({ protocol }) => protocol))(
    '%s: the places where the stream is split make no difference',
    async (protocol) => {
      const { stream } = recordingOf(protocol);
      const whole = await ask(sceneOf(lane), protocol, true, served(stream, [], 'ends'));
      expect(judge(whole, true)).toBe(true);
      const everywhere = Array.from(stream.keys());
      const bytewise = await ask(sceneOf(lane), protocol, true, served(stream, everywhere, 'ends'));
      expect(contentOf(bytewise.text)).toEqual(contentOf(whole.text));
      await fc.assert(
        fc.asyncProperty(splits, fc.constantFrom<Ending>('ends', 'closes'), async (places, end) => {
          const reading = await ask(sceneOf(lane), protocol, true, served(stream, places, end));
          expect(contentOf(reading.text)).toEqual(contentOf(whole.text));
        }),
        { seed: SEED, numRuns: runs },
      );
    },
  );

  test.each(protocols.map((source) => [source.protocol, source] as const))(
    '%s: a cut stream never ends normally',
    async (protocol, source) => {
      const { stream } = recordingOf(protocol);
      const finishAt = Buffer.byteLength(stream.toString('utf8').split(source.finish)[0] ?? '');
      expect(finishAt).toBeGreaterThan(stream.length / 4);
      expect(finishAt).toBeLessThan(stream.length);
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: finishAt }), splits, ending, async (length, places, end) => {
          const reading = await ask(
            sceneOf(lane),
            protocol,
            true,
            served(stream.subarray(0, length), places, end),
          );
          expect(judge(reading, true)).toBe(false);
          expect(reading.text).not.toContain('[DONE]');
        }),
        // First within an event, far enough for the envelope of its frame to be complete.
        { seed: SEED, numRuns: runs * 2, examples: [[finishAt - 12, [], 'ends']] },
      );
    },
  );
});

describe('translate lane, damaged', () => {
  /** Changes of the bytes, in order. */
  const damage = fc.array(
    fc.record({
      kind: fc.constantFrom('flip', 'flip', 'flip', 'drop', 'repeat', 'frame', 'insert'),
      at: fc.nat({ max: 1_000_000 }),
      length: fc.nat({ max: 60 }),
      bit: fc.nat({ max: 7 }),
      text: fc.constantFrom('\n', '\r', '\n\n', '{', '}', '"', ',', 'null', '0', '\u0000', 'data: ', 'data: {}\n\n', 'data: [DONE]\n\n', 'data: null\n\n', 'event: x\n', ': c\n\n', 'data: []\n\n'), // prettier-ignore
    }),
    { minLength: 1, maxLength: 4 },
  );
  type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

  function damaged(original: Buffer, changes: Damage): Buffer {
    let bytes: Buffer = Buffer.from(original);
    for (const { kind, at, length, bit, text } of changes) {
      const place = at % bytes.length;
      const before = bytes.subarray(0, place);
      if (kind === 'flip') bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
      else if (kind === 'drop') bytes = Buffer.concat([before, bytes.subarray(place + length)]);
      else if (kind === 'repeat')
        bytes = Buffer.concat([before, bytes.subarray(place, place + length), bytes.subarray(place)]);
      else if (kind === 'insert') bytes = Buffer.concat([before, Buffer.from(text), bytes.subarray(place)]);
      else bytes = repeatFrame(bytes, place);
      if (bytes.length === 0) return bytes;
    }
    return bytes;
  }

  /** The event at a place, twice. */
  function repeatFrame(bytes: Buffer, place: number): Buffer {
    const from = bytes.lastIndexOf('\n\n', place);
    const start = from < 0 ? 0 : from + 2;
    const end = bytes.indexOf('\n\n', start);
    const frame = bytes.subarray(start, end < 0 ? bytes.length : end + 2);
    return Buffer.concat([bytes.subarray(0, start), frame, bytes.subarray(start)]);
  }

  test.each(SOURCES.map(({ protocol }) => protocol))('%s: a stream', async (protocol) => {
    const { stream } = recordingOf(protocol);
    let complete = 0;
    await fc.assert(
      fc.asyncProperty(damage, splits, ending, async (changes, places, end) => {
        const reading = await ask(
          sceneOf('translate'),
          protocol,
          true,
          served(damaged(stream, changes), places, end),
        );
        if (judge(reading, true)) complete += 1;
      }),
      { seed: SEED, numRuns: runs * 4 },
    );
    // Small damage is survived as often as it is told.
    expect(complete).toBeGreaterThan(0);
  });

  test.each(SOURCES.map(({ protocol }) => protocol))('%s: a whole answer', async (protocol) => {
    const { whole } = recordingOf(protocol);
    const answered =
      (bytes: Buffer, announced: number): Answer =>
      (exchange) => {
        exchange.head(200, { 'content-type': 'application/json', 'content-length': String(announced) });
        exchange.raw(bytes);
        if (announced !== bytes.length) setImmediate(() => exchange.cut());
      };
    const intact = await ask(sceneOf('translate'), protocol, false, answered(whole, whole.length));
    expect(judge(intact, false)).toBe(true);
    await fc.assert(
      fc.asyncProperty(damage, fc.boolean(), async (changes, short) => {
        const bytes = damaged(whole, changes);
        const reading = await ask(
          sceneOf('translate'),
          protocol,
          false,
          answered(bytes, bytes.length + (short ? 1 : 0)),
        );
        const isAnswer = judge(reading, false);
        // An answer that is shorter than announced is cut, however valid it looks.
        if (short) expect(isAnswer).toBe(false);
      }),
      { seed: SEED, numRuns: runs * 4 },
    );
  });

  test('nothing of it was an internal error', () => {
    for (const lane of ['translate', 'relay'] as const) {
      const lines = sceneOf(lane).gateway.logLines;
      expect(
        lines.filter((line) => line.includes('"level":"error"') || line.includes(TEXTS.internal)),
      ).toEqual([]);
    }
  });
});
