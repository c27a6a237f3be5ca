// Recorded refusals, replayed by an upstream on a real socket: a client of the gateway gets the status that says
// whose fault it was, in OpenAI's error shape. A faithful server's own words pass untouched.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { bytesOf, missing, readRecordings } from '../support/recordings/corpus.ts';
import type { Recording } from '../support/recordings/corpus.ts';
import { at, framesOf, word } from '../support/recordings/loose.ts';
import type { Loose } from '../support/recordings/loose.ts';
import { errorProblems } from '../support/recordings/read-answer.ts';
import { ReplayGateway } from '../support/recordings/replay-gateway.ts';

/** Failures that were reported after status 200. */
const FILTERED = '1e7319d82822';
const FAILED_IN_STREAM = '6c73fa8185fc';

if (missing) console.log(`gateway-errors: ${missing}`);

describe.skipIf(missing !== undefined)('recorded errors through the gateway', () => {
  let refused: Recording[] = [];
  let lateRefused: Recording[] = [];
  let gateway: ReplayGateway;

  beforeAll(async () => {
    const recordings = readRecordings();
    refused = recordings.filter((recording) => recording.status >= 400);
    lateRefused = recordings.filter(({ case: name }) => name === FILTERED || name === FAILED_IN_STREAM);
    gateway = await ReplayGateway.start([...refused, ...lateRefused]);
  });
  afterAll(() => gateway.close());

  test("have the caller's status or that of a failed upstream, and OpenAI's shape", async () => {
    expect(refused.length).toBeGreaterThan(15);
    for (const recording of refused) {
      const reply = await gateway.ask(recording.api, recording);
      const json = JSON.parse(reply.text) as Loose;
      expect([recording.case, reply.status, ...errorProblems(json)]).toEqual([
        recording.case,
        statusFor(recording),
      ]);
      // Nobody learns which key the gateway uses: servers repeat parts of it.
      const message = word(at(json, 'error', 'message'));
      if (recording.status !== 401) expect(message).toContain(recordedMessage(recording));
      if (/context|too long|too_many/.test(recordedText(recording)) && reply.status === 400)
        expect([recording.case, word(at(json, 'error', 'code'))]).toEqual([
          recording.case,
          'context_length_exceeded',
        ]);
      const caller = statusFor(recording) === recording.status && recording.status < 429;
      expect([recording.case, reply.headers.get('x-should-retry')]).toEqual([
        recording.case,
        caller ? null : 'false',
      ]);
    }
    // The recorded 401s raise alerts, if the test takes long enough.
    expect(gateway.complaints().filter((line) => !line.includes('provider.key_refused'))).toEqual([]);
  });

  test('that come with status 200 never look like an answer', async () => {
    const [filtered, failed] = [FILTERED, FAILED_IN_STREAM].map((name) =>
      lateRefused.find((recording) => recording.case === name),
    );
    if (!filtered || !failed) throw new Error('the recordings are gone');
    const whole = await gateway.ask('chat', filtered);
    expect([whole.status, word(at(JSON.parse(whole.text) as Loose, 'error', 'code'))]).toEqual([
      400,
      'content_filter',
    ]);
    const stream = await gateway.ask('chat', failed);
    const frames = framesOf(stream.text).map(({ data }) => JSON.parse(data) as Loose);
    expect(stream.status).toBe(200);
    expect(stream.text).toContain('"content":"maybe"');
    expect(errorProblems(frames.at(-1) ?? {})).toEqual([]);
    expect(word(at(frames.at(-1), 'error', 'code'))).toBe('tool_use_failed');
  });

  test('of a faithful server are its own bytes when the caller is at fault', async () => {
    const own = refused.filter((recording) => recording.api === 'chat' && recording.provider === 'openai');
    expect(own.length).toBeGreaterThanOrEqual(5);
    for (const recording of own) {
      const reply = await gateway.ask('relay', recording);
      expect([recording.case, reply.status]).toEqual([recording.case, statusFor(recording)]);
      if (reply.status !== recording.status) continue;
      expect(reply.text).toBe(bytesOf(recording).toString());
      // The type is the gateway's own: no browser shall take an upstream's words for a page.
      expect(reply.headers.get('content-type')).toBe('application/json');
    }
  });
});

/**
 * The contract's "Errors": the upstream's own status when the caller is at fault, 429 when it is a rate limit,
 * else 502. The gateway's own key is not the caller's.
 */
function statusFor(recording: Recording): number {
  return recording.status === 401 ? 502 : recording.status;
}

function recordedText({ res }: Recording): string {
  return res.text ?? JSON.stringify(res.json);
}

/** The beginning of what the server said: the gateway may put more around it. */
function recordedMessage({ res }: Recording): string {
  return word(at(res.json, 'error', 'message')).slice(0, 60);
}
