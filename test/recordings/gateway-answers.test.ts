// Every recorded answer, replayed by an upstream on a real socket, must reach a Chat Completions client of the
// gateway as a valid completion that says what was recorded, however the network cuts the upstream's bytes.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { missing, readRecordings } from '../support/recordings/corpus.ts';
import type { Recording } from '../support/recordings/corpus.ts';
import { NO_ANSWER } from '../support/recordings/exceptions.ts';
import { count } from '../support/recordings/loose.ts';
import { RateTable } from '../support/recordings/rate-table.ts';
import { readStream, readWhole } from '../support/recordings/read-answer.ts';
import { readChat } from '../support/recordings/read-chat.ts';
import { readMessages } from '../support/recordings/read-messages.ts';
import { readResponses } from '../support/recordings/read-responses.ts';
import { eachRecording, ReplayGateway } from '../support/recordings/replay-gateway.ts';
import type { Reply } from '../support/recordings/replay-gateway.ts';
import { difference, receivedOf } from '../support/recordings/said.ts';
import type { Said } from '../support/recordings/said.ts';
import { casesOf, shareOf } from '../support/share.ts';

/** Streams that are replayed byte by byte. */
const BYTEWISE = casesOf(60);

const READERS = { chat: readChat, responses: readResponses, messages: readMessages } as const;

/** Kinds of answers that the recordings must hold, so that nothing is compared in vain: the least number, and the test for it. */
const CONTENT: Readonly<Record<string, readonly [number, (said: Said) => boolean]>> = {
  'with text': [1_500, (said) => said.text !== ''],
  'with tool calls': [400, (said) => said.calls.length > 0],
  'with several tool calls': [30, (said) => said.calls.length > 1],
  'with reasoning text': [100, (said) => said.reasoning !== ''],
  'with signatures or encrypted reasoning': [50, (said) => said.opaque.length > 0],
  'with signatures in `extra_content`': [2, (said) => said.extras.length > 0],
  'with citations': [20, (said) => said.citations.length > 0],
  'cut by the output limit': [10, (said) => said.end === 'length'],
  'with token counts': [1_000, (said) => said.tokens !== null],
  'with cached tokens': [50, (said) => count(said.tokens?.cached) > 0],
  'with tokens written to a cache': [10, (said) => count(said.tokens?.written) > 0],
  'with reasoning tokens': [100, (said) => count(said.tokens?.reasoning) > 0],
  'that failed after status 200': [2, (said) => said.end === 'error'],
};

if (missing) console.log(`gateway-answers: ${missing}`);

describe.skipIf(missing !== undefined)('recorded answers through the gateway', () => {
  let recordings: Recording[] = [];
  let gateway: ReplayGateway;
  /** The answers to unsplit upstreams, by case. */
  const unsplit = new Map<string, Reply>();

  beforeAll(async () => {
    recordings = readRecordings().filter((recording) => recording.status === 200);
    gateway = await ReplayGateway.start(recordings);
  });
  afterAll(() => gateway.close());

  test('have the recorded content, as valid completions', async () => {
    const table = new RateTable('recorded answers as Chat Completions');
    await eachRecording(recordings, async (recording) => {
      const want = READERS[recording.api](recording);
      const reply = await askOnce(recording);
      if (recording.case in NO_ANSWER) return;
      table.add(`${recording.source} ${recording.api}`, recording.case, problem(recording, want, reply));
    });
    table.print();
    const said = recordings
      .filter((recording) => !(recording.case in NO_ANSWER))
      .map((recording) => READERS[recording.api](recording));
    for (const [what, [least, has]] of Object.entries(CONTENT)) {
      const found = said.filter(has).length;
      console.log(`  ${what}: ${found}`);
      expect(found).toBeGreaterThanOrEqual(least);
    }
    expect(table.total).toBeGreaterThan(2_000);
    expect(table.rate).toBeGreaterThanOrEqual(0.99);
    expect(table.failures).toEqual([]);
    // A recording of a chat server holds 19 billed tokens and not one character: the log says so.
    const [empty, ...others] = gateway.complaints();
    expect(empty).toContain('an empty response was billed');
    expect(others).toEqual([]);
  });

  test('are refused if the recording has no complete response', async () => {
    const refused = recordings.filter((recording) => recording.case in NO_ANSWER);
    expect(refused.map((recording) => recording.case).sort()).toEqual(Object.keys(NO_ANSWER).sort());
    for (const recording of refused) {
      const reply = await askOnce(recording);
      const { said, problems } = receive(reply);
      expect([recording.case, said.end, problems]).toEqual([recording.case, 'error', []]);
      if (!recording.stream) expect(reply.status).toBe(502);
    }
  });

  test('are the same when the stream comes in pieces of seven bytes', async () => {
    await checkPieces(shareOf(recordings.filter((recording) => recording.stream)), 7);
  });

  test('are the same when the stream comes byte by byte', async () => {
    const short = recordings
      .filter((recording) => recording.stream)
      .sort((a, b) => (a.res.text ?? '').length - (b.res.text ?? '').length);
    // Short ones of every protocol and recorder, not only the shortest.
    const groups = Map.groupBy(short, (recording) => `${recording.source} ${recording.api}`);
    const share = Math.ceil(BYTEWISE / groups.size);
    await checkPieces(
      [...groups.values()].flatMap((group) => group.slice(0, share)),
      1,
    );
  });

  /** Tools are declared where they are called: they make the gateway keep signed reasoning, as in real use. */
  function ask(recording: Recording, pieceBytes = 0): Promise<Reply> {
    const { calls } = READERS[recording.api](recording);
    return gateway.ask(recording.api, recording, { pieceBytes, calls });
  }

  /** The answer to an upstream that writes everything at once; asked for by the first who needs it. */
  async function askOnce(recording: Recording): Promise<Reply> {
    const reply = unsplit.get(recording.case) ?? (await ask(recording));
    unsplit.set(recording.case, reply);
    return reply;
  }

  async function checkPieces(streams: readonly Recording[], pieceBytes: number): Promise<void> {
    expect(streams.length).toBeGreaterThanOrEqual(BYTEWISE);
    const failures: string[] = [];
    await eachRecording(streams, async (recording) => {
      const whole = await askOnce(recording);
      const reply = await ask(recording, pieceBytes);
      const [want, got] = [comparable(recording, whole), comparable(recording, reply)];
      if (want !== got) failures.push(`${recording.case} ${recording.source}: ${firstDifference(want, got)}`);
    });
    expect(failures.slice(0, 10)).toEqual([]);
  }
});

/** Fault of the answer to a recording; undefined when there is none. */
function problem(recording: Recording, want: Said, reply: Reply): string | undefined {
  try {
    return mistake(recording, want, reply);
  } catch (error) {
    return String(error);
  }
}

function mistake(recording: Recording, want: Said, reply: Reply): string | undefined {
  if (reply.status === 500) return `500 ${reply.text.slice(0, 300)}`;
  if (reply.status >= 400 && want.end !== 'error') return `${reply.status} ${reply.text.slice(0, 300)}`;
  const { said, problems } = receive(reply);
  if (problems.length > 0) return [...new Set(problems)].slice(0, 5).join('; ');
  if (reply.headers.get('x-dragoman-lane') !== 'translate' && said.end !== 'error')
    return `lane ${reply.headers.get('x-dragoman-lane')}`;
  return difference(forComparison(recording, want), forComparison(recording, receivedOf(want, said)));
}

function receive(reply: Reply): ReturnType<typeof readWhole> {
  const streamed = reply.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  return streamed ? readStream(reply.text) : readWhole(reply.status, reply.text);
}

/** Chat servers do not say where a paragraph of reasoning ends and the next begins. */
function forComparison(recording: Recording, said: Said): Said {
  return recording.api === 'chat' ? { ...said, reasoning: said.reasoning.replaceAll('\n', '') } : said;
}

/** The answer without what differs from request to request: our id, the time, ids made for calls that have none. */
function comparable(recording: Recording, reply: Reply): string {
  const recorded = recording.res.text ?? '';
  // Most frames of a stream repeat one id, and a recording is long.
  const ids = new Map<string, boolean>();
  const isRecorded = (id: string): boolean => {
    const known = ids.get(id) ?? recorded.includes(id);
    ids.set(id, known);
    return known;
  };
  return `${reply.status} ${reply.text}`
    .replace(/"id":"([^"]*)"/g, (whole, id: string) => (isRecorded(id) ? whole : '"id":"made here"'))
    .replace(/"created":\d+/g, '"created":0')
    .replace(/"model":"(\w+\/case-\w+)-\d+"/g, '"model":"$1"');
}

function firstDifference(want: string, got: string): string {
  let from = 0;
  while (want[from] === got[from]) from++;
  return `expected …${want.slice(from - 60, from + 120)}, got …${got.slice(from - 60, from + 120)}`;
}
