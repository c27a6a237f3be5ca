// Recorded streams and those of the golden files, of all five protocols of upstreams, damaged and replayed on real sockets
// to clients of all four protocols. Each gets what its own protocol allows, in time: an answer, or its native error.
// FUZZ_SEED varies the damage, FUZZ_RUNS the number of cases.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readErrorBody } from '../support/rules/messages-stream-rules.ts';
import { CLIENTS, type ClientName } from '../support/recordings/clients.ts';
import { missing } from '../support/recordings/corpus.ts';
import { damage, flipBits, randomFrom } from '../support/recordings/damage.ts';
import { NO_ANSWER } from '../support/recordings/exceptions.ts';
import { at, framesOf, word, type Frame, type Loose } from '../support/recordings/loose.ts';
import { errorProblems } from '../support/recordings/read-answer.ts';
import { recordedStream } from '../support/recordings/read-converse.ts';
import { readAnswers, type RecordedAnswer } from '../support/recordings/recorded-answers.ts';
import { eachRecording, modelOf, ReplayGateway, type Reply } from '../support/recordings/replay-gateway.ts';
import { emptySaid } from '../support/recordings/said.ts';
import { casesOf, shareOf } from '../support/share.ts';
import { frame } from '../support/upstreams/event-stream-frame.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const RUNS = Number(process.env['FUZZ_RUNS'] ?? casesOf(2400));

setDefaultTimeout(300_000);

const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];
const UPSTREAMS = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
  gemini: 'gemini',
  converse: 'bedrock-converse',
} as const;
type Upstream = keyof typeof UPSTREAMS;
const NAMES = Object.keys(UPSTREAMS) as Upstream[];

/** Longer recordings say nothing that shorter ones do not. */
const MAX_BYTES = 60_000;
/** Time after which a client hangs. */
const HANG_MS = 20_000;
/** Pattern of the frame that says how an answer ended. */
const FINISH: Readonly<Record<Upstream, RegExp>> = {
  chat: /"finish_reason": ?"|^\[DONE\]/,
  responses: /"type": ?"response\.(completed|incomplete|failed)"/,
  messages: /"stop_reason": ?"/,
  gemini: /"finishReason"/,
  converse: /"stopReason"/,
};

/**
 * The words of an error are the upstream's, and the damage may have left few of them. Of an empty answer that nobody
 * counted nothing is estimated. Converse may say that a sequence stopped the answer, and not which. Details of reasoning
 * that nobody knows, and items of hosted tools, pass as they came.
 */
const ALLOWED =
  /^(?!function|custom_tool)\w+_call\.\w+ is |^a reasoning detail without format or index$|^an error without a message$|^no token counts$|rule broken: stop_sequence\n/;

interface Stream {
  readonly name: string;
  readonly frames: readonly Frame[];
}

const recorded = missing
  ? []
  : readAnswers().filter(({ stream, case: name }) => stream && !(name in NO_ANSWER));

function streamsOf(upstream: Upstream): Stream[] {
  const folder = join(import.meta.dir, '../golden', UPSTREAMS[upstream], 'decode-stream');
  const golden = readdirSync(folder).map((name) => ({
    name,
    frames: framesOf(readFileSync(join(folder, name), 'utf8').split('\n--------\n')[0] ?? ''),
  }));
  const real = recorded.filter(({ api, res }) => api === upstream && bodyBytes(res) < MAX_BYTES);
  return [...golden, ...real.map((answer) => ({ name: answer.case, frames: framesFrom(answer) }))];
}

function bodyBytes(res: RecordedAnswer['res']): number {
  return res.bytes?.length ?? res.text?.length ?? 0;
}

function framesFrom({ res }: RecordedAnswer): Frame[] {
  if (!res.bytes) return framesOf(res.text ?? '');
  const { events } = recordedStream({ res: { kind: '', base64: res.bytes.toString('base64') } });
  return events.map(([event, data]) => ({ event, data: JSON.stringify(data) }));
}

/** The bytes of a stream, in the framing of its protocol. */
function framed(upstream: Upstream, frames: readonly Frame[]): Buffer {
  if (upstream === 'converse')
    return Buffer.concat(
      frames.map(({ event, data }) => frame({ ':event-type': event, ':message-type': 'event' }, data)),
    );
  return Buffer.from(
    frames.map(({ event, data }) => `${event === '' ? '' : `event: ${event}\n`}data: ${data}\n\n`).join(''),
  );
}

/** A recording that never was. @param n numbers it */
function madeUp(upstream: Upstream, n: number, bytes: Buffer): RecordedAnswer {
  return {
    case: `${NAMES.indexOf(upstream)}${n.toString(16).padStart(11, '0')}`,
    source: 'fuzz',
    fidelity: 'wire',
    provider: 'fuzz',
    api: upstream,
    status: 200,
    stream: true,
    resHeaders: {},
    res: { kind: upstream === 'converse' ? 'eventstream' : 'sse', bytes },
    said: emptySaid(),
  };
}

async function ask(
  gateway: ReplayGateway,
  name: ClientName,
  answer: RecordedAnswer,
  pieceBytes = 0,
): Promise<Reply> {
  const model = modelOf(answer.api, answer, pieceBytes);
  const { path, body } = CLIENTS[name].request({ model, stream: true, calls: answer.said.calls, more: [] });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${answer.case}, ${name}: a hang`)), HANG_MS);
  try {
    return await Promise.race([gateway.post(path, body), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Problem that a client of this protocol has with an answer; undefined for an answer or a native error. */
function problem(name: ClientName, reply: Reply): string | undefined {
  // A failure of the upstream is a 500 to clients of Messages, in words that say whose.
  const isOurs = reply.status === 500 && !reply.text.includes('No endpoint could serve the request');
  if (isOurs || /internal error/i.test(reply.text)) return `a defect: ${reply.text.slice(0, 400)}`;
  try {
    const all = reply.status === 200 ? CLIENTS[name].read(reply).problems : errorOf(name, reply.text);
    const problems = all.filter((each) => !ALLOWED.test(each));
    return problems.length > 0 ? [...new Set(problems)].slice(0, 3).join('; ') : undefined;
  } catch (error) {
    return String(error).slice(0, 300);
  }
}

/** Faults of the body of an error. */
function errorOf(name: ClientName, text: string): string[] {
  const body = JSON.parse(text) as Loose;
  if (name === 'gemini') return word(at(body, 'error', 'status')) === '' ? ['an error without a status'] : [];
  if (name !== 'messages') return errorProblems(body);
  readErrorBody(body);
  return [];
}

// OpenAI's description of its API, which lies with the recordings, judges the answers of clients.
if (missing !== undefined) console.log(`damaged streams: ${missing}`);

describe.skipIf(missing !== undefined).each(NAMES)('%s, damaged', (upstream) => {
  test('is an answer or a native error for every client', async () => {
    const random = randomFrom(SEED + NAMES.indexOf(upstream));
    const sources = streamsOf(upstream);
    const changesOf = new Map<string, string>();
    const answers = Array.from({ length: Math.ceil(RUNS / NAMES.length / CLIENT_NAMES.length) }, (_, n) => {
      const source = sources[random(sources.length)] ?? { name: '', frames: [] };
      const damaged = damage(source.frames, random);
      const changes = [...damaged.changes];
      const bytes = flipBits(framed(upstream, damaged.frames), random, changes);
      const answer = madeUp(upstream, n, bytes);
      changesOf.set(answer.case, `${source.name}: ${changes.join(', ')}`);
      return answer;
    });
    const gateway = await ReplayGateway.start(answers);
    const failures: string[] = [];
    let good = 0;
    await eachRecording(answers, async (answer) => {
      for (const name of CLIENT_NAMES) {
        const reply = await ask(gateway, name, answer, answer.case.endsWith('0') ? 1 : 0);
        const wrong = problem(name, reply);
        if (wrong !== undefined) failures.push(`${name} client, ${changesOf.get(answer.case)}: ${wrong}`);
        else if (reply.status === 200 && CLIENTS[name].read(reply).said.end !== 'error') good++;
      }
    });
    const complaints = gateway.complaints().filter((line) => /"level":"error"|internal/.test(line));
    await gateway.close();
    expect(failures).toEqual([]);
    expect(complaints).toEqual([]);
    // Small damage is survived as often as it is told.
    expect(good).toBeGreaterThan(answers.length / 4);
    expect(good).toBeLessThan(answers.length * CLIENT_NAMES.length);
  });

  test('and cut before its end, is never a whole answer', async () => {
    const random = randomFrom(SEED + 100 + NAMES.indexOf(upstream));
    const sources = streamsOf(upstream).filter(({ frames }) =>
      frames.some(({ data }) => FINISH[upstream].test(data)),
    );
    const answers = Array.from({ length: Math.ceil(RUNS / 80) }, (_, n) => {
      const { frames } = sources[random(sources.length)] ?? { frames: [] };
      const finish = frames.findIndex(({ data }) => FINISH[upstream].test(data));
      const whole = framed(upstream, frames.slice(0, finish));
      return madeUp(upstream, n, whole.subarray(0, random(whole.length + 1)));
    });
    const gateway = await ReplayGateway.start(answers);
    const failures: string[] = [];
    await eachRecording(answers, async (answer) => {
      const name = CLIENT_NAMES[Number.parseInt(answer.case, 16) % CLIENT_NAMES.length] ?? 'chat';
      const reply = await ask(gateway, name, answer);
      const wrong = problem(name, reply);
      if (wrong !== undefined) failures.push(wrong);
      else if (reply.status === 200 && CLIENTS[name].read(reply).said.end !== 'error')
        failures.push(`${name} client, ${answer.res.bytes?.toString('utf8').slice(-200)}: a normal end`);
    });
    await gateway.close();
    expect(failures).toEqual([]);
  });
});

describe.skipIf(missing !== undefined)('recorded streams of Gemini and Converse, byte by byte', () => {
  test('are the same for every client', async () => {
    const all = recorded.filter(
      ({ api, res }) => (api === 'gemini' || api === 'converse') && bodyBytes(res) < MAX_BYTES / 4,
    );
    expect(all.length).toBeGreaterThan(30);
    const answers = shareOf(all);
    const gateway = await ReplayGateway.start(answers);
    const different: string[] = [];
    await eachRecording(answers, async (answer) => {
      for (const name of CLIENT_NAMES) {
        const replies = [await ask(gateway, name, answer), await ask(gateway, name, answer, 1)];
        const [whole, bytewise] = replies.map((reply) => {
          const { said, problems } = CLIENTS[name].read(reply);
          // Sealed states are never alike.
          return JSON.stringify([{ ...said, opaque: said.opaque.length }, problems]);
        });
        if (whole !== bytewise) different.push(`${answer.case} ${name}: ${whole} ${bytewise}`);
      }
    });
    await gateway.close();
    expect(different).toEqual([]);
  });
});
