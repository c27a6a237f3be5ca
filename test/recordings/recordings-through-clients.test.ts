// Every recorded answer of every protocol, through a gateway on real sockets, to a client of each of the four: it must be
// told what was recorded, and what it gives back must bring the upstream's signatures and hidden reasoning home.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS, type Client, type ClientName } from '../support/recordings/clients.ts';
import { missing } from '../support/recordings/corpus.ts';
import { NO_ANSWER } from '../support/recordings/exceptions.ts';
import { RateTable } from '../support/recordings/rate-table.ts';
import { readAnswers, RECORDED, type RecordedAnswer } from '../support/recordings/recorded-answers.ts';
import {
  eachRecording,
  modelOf,
  ReplayGateway,
  type Reply,
  type Route,
} from '../support/recordings/replay-gateway.ts';
import { difference, saidCall, type Said, receivedOf } from '../support/recordings/said.ts';
import { casesOf, isWhole, shareOf } from '../support/share.ts';

const page = readFileSync(join(import.meta.dir, '../../docs/recordings.md'), 'utf8');

setDefaultTimeout(300_000);
if (missing) console.log(`recordings-through-clients: ${missing}`);

/** Recordings whose meaning the readers do not know, or that were written by hand; each with its reason. */
const OTHER: Readonly<Record<string, string>> = {
  '83497456ecc5': 'asked for numbers in place of words: its finish reason is 2',
  cffcd3d56deb: 'its call comes in pieces by JSON path, which gemini-recordings puts together by hand',
};

const NO_PLACE = 'thinking stands after text, for which a message of Chat Completions has no place';
const SERVERS_OWN = "Google's `extra_content` is a member of a chat message: other clients are not given it";
/** Signatures that do not come home, by the client that is not given them or cannot say where they stand. */
const LOST: Readonly<Record<ClientName, Readonly<Record<string, string>>>> = {
  chat: { b98fda0b6961: NO_PLACE },
  responses: { b159db457580: SERVERS_OWN, fc429ace1b50: SERVERS_OWN },
  messages: { b159db457580: SERVERS_OWN, fc429ace1b50: SERVERS_OWN },
  gemini: { b159db457580: SERVERS_OWN, fc429ace1b50: SERVERS_OWN },
};

/** Reasoning goes back to a chat server whose kind of it is known. */
function routeOf({ api, provider }: RecordedAnswer): Route {
  return api === 'chat' && provider === 'openrouter' ? provider : api;
}

const NAMES = Object.keys(CLIENTS) as ClientName[];

describe.skipIf(missing !== undefined)('recorded answers through every client protocol', () => {
  let answers: RecordedAnswer[] = [];
  let gateway: ReplayGateway;
  /** Rows of the table in `docs/recordings.md`. */
  const rows: string[] = [];

  beforeAll(async () => {
    answers = shareOf(readAnswers().filter(({ case: name }) => !(name in NO_ANSWER)));
    gateway = await ReplayGateway.start(answers);
  });
  afterAll(() => gateway.close());

  const ask = (client: Client, answer: RecordedAnswer, more: readonly unknown[] = []): Promise<Reply> => {
    const { path, body } = client.request({
      model: modelOf(routeOf(answer), answer),
      stream: answer.stream,
      calls: answer.said.calls,
      more,
    });
    return gateway.post(path, body);
  };

  test.each(NAMES)('%s receives the recorded content', async (name) => {
    const table = new RateTable(`recorded answers, ${name} clients`);
    await eachRecording(answers, async (answer) => {
      if (answer.case in OTHER) return;
      table.add(answer.api, answer.case, problem(name, answer, await ask(CLIENTS[name], answer)));
    });
    table.print();
    expect(table.total).toBeGreaterThan(casesOf(2_600));
    expect(table.rate).toBeGreaterThanOrEqual(0.99);
    expect(table.failures).toEqual([]);
    rows.push(`| ${name}, told | ${cells(table)} |`);
  });

  test.each(NAMES)('%s returns the signed or encrypted reasoning of its upstream', async (name) => {
    const table = new RateTable(`signatures that came home, ${name} clients`);
    const client = CLIENTS[name];
    await eachRecording(answers, async (answer) => {
      if (answer.case in OTHER || answer.said.opaque.length + answer.said.extras.length === 0) return;
      const first = await ask(client, answer);
      const second = await ask(client, answer, first.status === 200 ? client.goOn(first) : []);
      table.add(answer.api, answer.case, lost(answer, second, gateway));
    });
    table.print();
    expect(table.total).toBeGreaterThan(casesOf(300));
    // A few known failures weigh more in a part of the recordings.
    if (isWhole) expect(table.rate).toBeGreaterThanOrEqual(0.99);
    const known = LOST[name];
    expect(table.failures.filter((failure) => known[failure.slice(0, 12)] === undefined)).toEqual([]);
    if (isWhole) expect(table.failures).toHaveLength(Object.keys(known).length);
    rows.push(`| ${name}, given back | ${cells(table)} |`);
  });

  test.skipIf(!isWhole)('docs/recordings.md has the same figures', () => {
    expect(rows).toHaveLength(2 * NAMES.length);
    expect(rows.filter((row) => !page.includes(row))).toEqual([]);
  });

  test('the gateway itself had nothing to complain about', () => {
    // A recording of a chat server holds 19 billed tokens and not one character: the log says so.
    expect(gateway.complaints().filter((line) => !line.includes('an empty response was billed'))).toEqual([]);
  });
});

test('docs/recordings.md names every exception', () => {
  for (const name of [OTHER, ...Object.values(LOST)].flatMap((list) => Object.keys(list)))
    expect(page).toContain(`\`${name}\``);
});

/** How many of how many, by the upstream's protocol. */
function cells(table: RateTable): string {
  const { rates } = table;
  return RECORDED.map((api) => rates.get(api) ?? { passed: 0, total: 0 })
    .map(({ passed, total }) => `${passed}/${total}`)
    .join(' | ');
}

/** Fault of the answer to a client; undefined when there is none. */
function problem(name: ClientName, answer: RecordedAnswer, reply: Reply): string | undefined {
  const { said, problems } = CLIENTS[name].read(reply);
  if (reply.status !== 200 && answer.said.end !== 'error')
    return `${reply.status} ${reply.text.slice(0, 300)}`;
  // A relayed answer has the shape that its upstream gave it, whatever the client's library makes of that.
  const isOwn = reply.headers.get('x-dragoman-lane') === 'translate';
  if (isOwn && problems.length > 0) return [...new Set(problems)].slice(0, 3).join('; ');
  const received = receivedOf(answer.said, said);
  return difference(comparable(name, answer, answer.said), comparable(name, answer, received));
}

/** Which signature or hidden state the upstream did not get back; undefined when it got all. */
function lost(answer: RecordedAnswer, reply: Reply, gateway: ReplayGateway): string | undefined {
  if (reply.status !== 200) return `${reply.status} ${reply.text.slice(0, 300)}`;
  const sent = JSON.stringify(gateway.sent(answer));
  const states = [...answer.said.opaque, ...answer.said.extras.flatMap((extra) => signaturesIn(extra))];
  const gone = states.filter((state) => !sent.includes(JSON.stringify(state).slice(1, -1)));
  return gone.length === 0
    ? undefined
    : `${gone.length} of ${states.length} lost, first ${gone[0]?.slice(0, 30)}…`;
}

function signaturesIn(extra: string): string[] {
  return [...extra.matchAll(/"thought_signature":"([^"]+)"/g)].map(([, state = '']) => state);
}

/**
 * Facts that must be the same on both sides. Opaque state is compared where it counts, in the next turn. Chat servers do not
 * say where a paragraph of reasoning ends, and Gemini joins them.
 */
function comparable(name: ClientName, { api }: RecordedAnswer, said: Said): Said {
  const pages = said.citations.filter(Boolean);
  // Google cites a page for each stretch of text, the others each page once or for each stretch, as they like.
  const citations = name === 'gemini' || api === 'gemini' ? [...new Set(pages)].toSorted() : pages;
  // Neither Messages nor Gemini knows tools without a schema: their input is a member of its own.
  const isPlain = name === 'messages' || name === 'gemini';
  const calls = said.calls.map((call) =>
    isPlain && call.kind === 'custom'
      ? saidCall('function', call.name, JSON.stringify({ input: call.arguments }))
      : call,
  );
  // Google counts what is read from a cache, not what is written to it.
  const tokens = said.tokens && (name === 'gemini' ? { ...said.tokens, written: 0 } : said.tokens);
  // Google's words on a prompt that it blocks are shown as text where a client has no place for a refusal, and Messages
  // has one end for refusals with words, whoever refused.
  const words: Partial<Said> =
    isPlain && api === 'gemini' ? { text: said.text || said.refusal, refusal: '' } : {};
  if (name === 'messages' && said.refusal !== '') words.end = 'stop';
  return {
    ...said,
    ...words,
    reasoning: said.reasoning.replaceAll('\n', ''),
    citations,
    calls,
    tokens,
    opaque: [],
    extras: [],
  };
}
