// Answers of OpenAI itself through the relay lane: id and model are the gateway's, every other byte is the
// recording's, streamed or whole, however the network cuts them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { bytesOf, missing, readRecordings } from '../support/recordings/corpus.ts';
import type { Recording } from '../support/recordings/corpus.ts';
import { at, list, word } from '../support/recordings/loose.ts';
import type { Loose } from '../support/recordings/loose.ts';
import { RateTable } from '../support/recordings/rate-table.ts';
import { readChat } from '../support/recordings/read-chat.ts';
import { eachRecording, ReplayGateway } from '../support/recordings/replay-gateway.ts';
import type { Reply } from '../support/recordings/replay-gateway.ts';

/** Answers whose end the record does not know, with the reason. */
const NO_END: Readonly<Record<string, string>> = {
  a8dd0f46fccf: 'gpt-4-vision-preview, retired in 2024, wrote `finish_details` in place of `finish_reason`',
};

if (missing) console.log(`gateway-relay: ${missing}`);

describe.skipIf(missing !== undefined)('recorded answers of OpenAI through the relay lane', () => {
  let recordings: Recording[] = [];
  let gateway: ReplayGateway;

  beforeAll(async () => {
    recordings = readRecordings().filter(
      ({ api, provider, status, fidelity }) =>
        api === 'chat' && provider === 'openai' && status === 200 && fidelity !== 'sdk',
    );
    gateway = await ReplayGateway.start(recordings);
  });
  afterAll(() => gateway.close());

  test('keep every byte but id and model, and are recorded with their counts', async () => {
    const table = new RateTable("OpenAI's bytes through the relay lane");
    await eachRecording(recordings, async (recording) => {
      const row = `${recording.source} ${recording.stream ? 'streamed' : 'whole'}`;
      const reply = await gateway.ask('relay', recording);
      const reason = problem(recording, reply, true) ?? recordProblem(recording, await gateway.record(reply));
      table.add(row, recording.case, reason);
    });
    table.print();
    expect(table.total).toBeGreaterThan(200);
    expect(table.failures).toEqual([]);
    expect(gateway.complaints()).toEqual([]);
  });

  test('lose only the token counts that the client did not ask for', async () => {
    const streams = recordings.filter((recording) => recording.stream);
    expect(streams.filter(countsTokens).length).toBeGreaterThan(10);
    const failures: string[] = [];
    await eachRecording(streams, async (recording) => {
      const reply = await gateway.ask('relay', recording, { usage: false });
      const reason =
        problem(recording, reply, false) ?? recordProblem(recording, await gateway.record(reply));
      if (reason !== undefined) failures.push(`${recording.case}: ${reason}`);
    });
    expect(failures).toEqual([]);
  });

  test.each([7, 1])('keep every byte of streams in pieces of %d', async (pieceBytes) => {
    const streams = recordings
      .filter((recording) => recording.stream)
      .sort((a, b) => bytesOf(a).length - bytesOf(b).length);
    const failures: string[] = [];
    await eachRecording(pieceBytes === 1 ? streams.slice(0, 20) : streams, async (recording) => {
      const reply = await gateway.ask('relay', recording, { pieceBytes });
      const reason = problem(recording, reply, true);
      if (reason !== undefined) failures.push(`${recording.case}: ${reason}`);
    });
    expect(failures).toEqual([]);
  });
});

/** Fault of a relayed answer; undefined when there is none. */
function problem(recording: Recording, reply: Reply, usage: boolean): string | undefined {
  const lane = reply.headers.get('x-dragoman-lane');
  if (reply.status !== 200 || lane !== 'relay') return `${reply.status} ${lane} ${reply.text.slice(0, 200)}`;
  const id = reply.headers.get('x-request-id') ?? '';
  const model = reply.headers.get('x-dragoman-model') ?? '';
  const text = bytesOf(recording).toString();
  let want = '';
  for (const frame of recording.stream ? text.split(/(?<=\n\n)/) : [text]) {
    const data = recording.stream ? frame.trim().replace(/^data: ?/, '') : frame;
    if (data === '' || data === '[DONE]') {
      want += frame;
      continue;
    }
    const json = JSON.parse(data) as Loose;
    if (!usage && list(json['choices']).length === 0) continue;
    const patched = withMember(withMember(frame, json, 'id', id), json, 'model', model);
    // OpenAI announces in every chunk that the counts are still to come.
    want += usage || !recording.stream ? patched : patched.replace(',"usage":null', '');
  }
  // A recording without its last blank line still becomes a whole stream.
  if (recording.stream && !want.endsWith('\n\n')) want += '\n';
  if (reply.text === want) return undefined;
  let from = 0;
  while (reply.text[from] === want[from]) from++;
  const around = (whole: string): string => JSON.stringify(whole.slice(Math.max(0, from - 60), from + 100));
  return `expected ${around(want)}, got ${around(reply.text)}`;
}

/** Difference between the gateway's record and the recording, also when the client did not see the counts. */
function recordProblem(recording: Recording, data: Loose): string | undefined {
  const { tokens, end } = readChat(recording);
  const got = at(data, 'native_tokens');
  const counts = (prompt: unknown, cached: unknown, completion: unknown, reasoning: unknown): string =>
    JSON.stringify([prompt, cached, completion, reasoning]);
  const recorded = counts(
    got?.['prompt_tokens'],
    at(got, 'prompt_tokens_details', 'cached_tokens'),
    got?.['completion_tokens'],
    at(got, 'completion_tokens_details', 'reasoning_tokens'),
  );
  const wantEnd = recording.case in NO_END ? '' : end;
  if (word(data['finish_reason']) !== wantEnd)
    return `recorded end ${word(data['finish_reason'])}, not ${wantEnd}`;
  if (tokens === null) return data['estimated'] ? undefined : 'counts of nobody that are no estimate';
  const want = counts(tokens.prompt, tokens.cached, tokens.completion, tokens.reasoning);
  return recorded === want ? undefined : `recorded tokens ${recorded}, not ${want}`;
}

/** The text with another value of a member of the outermost object, which is the first of its name and value. */
function withMember(text: string, json: Loose, key: string, value: string): string {
  const before = word(json[key]);
  const found = [`"${key}":`, `"${key}": `]
    .map((name) => name + JSON.stringify(before))
    .find((member) => text.includes(member));
  return found
    ? text.replace(found, () => `"${key}":${found.includes(': ') ? ' ' : ''}${JSON.stringify(value)}`)
    : text;
}

function countsTokens(recording: Recording): boolean {
  return bytesOf(recording).includes('"choices":[],');
}
