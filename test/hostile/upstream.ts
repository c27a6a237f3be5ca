// A hostile upstream, or one that somebody else has taken over: answers without end, answers that grow when they are
// inflated, answers nobody asked for, and words that quote the gateway's own key. The client is honest.
import { gzipSync, brotliCompressSync, zstdCompressSync, constants } from 'node:zlib';
import { only, statusesOf, reported } from './client.ts';
import { askLane, chatLane, LANES, NAMES, type Lane } from './lanes.ts';
import { SECOND_KEY, type Scenario, type Scene } from './scene.ts';
import { chunkOf, flood, PROVIDER_KEY, type Answering, type Reply } from './sockets.ts';

const MB = 1024 * 1024;

interface Got {
  readonly status: number;
  /** The connection ended, or the answer did. */
  readonly ended: boolean;
  readonly received: number;
  readonly said: string;
}

/** Asks over one lane and waits for the end, at most as long as said; then the client goes away. */
async function ask(scene: Scene, name: string, stream: boolean, withinMs = 8000, key?: string): Promise<Got> {
  const socket = scene.connect();
  void socket.send(askLane(name, stream, key));
  const answer = await socket.answer(withinMs);
  const got = {
    status: answer.status,
    ended: socket.isEnded || socket.tail.endsWith('\r\n0\r\n\r\n') || 'content-length' in answer.headers,
    received: socket.received,
    said: socket.received < 2000 ? reported(answer) : socket.tail.slice(-300),
  };
  socket.close();
  return got;
}

/** Asks over every lane. */
async function askAll(scene: Scene, stream: boolean, withinMs?: number): Promise<Record<string, Got>> {
  const got = await Promise.all(
    NAMES.map(async (name) => [name, await ask(scene, name, stream, withinMs)] as const),
  );
  return Object.fromEntries(got);
}

/** The lane whose request this is. */
function laneOf(path: string, model: unknown): Lane {
  const name =
    path.includes('generate') || path.includes('Generate')
      ? 'gemini'
      : path.includes('messages')
        ? 'messages'
        : path.includes('responses')
          ? 'responses'
          : 'relay';
  return LANES[name] ?? chatLane(String(model));
}

/** A stream that begins properly in the protocol it was asked in, and then goes on like this. */
function streaming(then: (reply: Reply, lane: Lane) => Promise<unknown>): Answering {
  return async ({ path, json }, reply) => {
    const lane = laneOf(path, json?.['model']);
    await reply.stream();
    await reply.chunk(lane.opening);
    await then(reply, lane);
  };
}

/** All lanes ended by themselves. */
const allEnded = (got: unknown): boolean =>
  Object.values(got as Record<string, Got>).every(({ ended }) => ended);
const allFailed = (got: unknown): boolean =>
  Object.values(got as Record<string, Got>).every(({ status }) => status >= 500);

/** A body of zeros that is a thousand times as large as what is sent. */
const ZEROS = Buffer.alloc(64 * MB);
const BOMBS: Readonly<Record<string, () => Uint8Array>> = {
  gzip: () => gzipSync(ZEROS),
  br: () => brotliCompressSync(ZEROS, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: () => zstdCompressSync(ZEROS),
};

/** The same, as an event stream of one chunk again and again. */
function inflating(encoding: string): Uint8Array {
  const text = Buffer.from(chatLane('m').event('a'.repeat(1000), 'text').repeat(60_000));
  return encoding === 'br'
    ? brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
    : encoding === 'zstd'
      ? zstdCompressSync(text)
      : gzipSync(text);
}

/** Heads that an honest server never sends. */
const HEADS: Readonly<Record<string, string>> = {
  'an interim answer without end': 'HTTP/1.1 100 Continue\r\n\r\n',
  'switching protocols': 'HTTP/1.1 101 Switching Protocols\r\nupgrade: a\r\nconnection: upgrade\r\n\r\n',
  'an unknown coding': 'HTTP/1.1 200 OK\r\ntransfer-encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'chunks and a length':
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 200\r\n\r\n{}',
  'a chunk of more than there can be':
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}',
  'a length of more than there can be': 'HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n{}',
  'no HTTP': 'SSH-2.0-OpenSSH_9.9\r\n',
  'a status that is none': 'HTTP/1.1 2e2 OK\r\ncontent-length: 2\r\n\r\n{}',
};

export const UPSTREAM: readonly Scenario[] = [
  {
    title: 'errors in the middle of streams that quote the key, whole and in two halves',
    async attack(scene) {
      const half = PROVIDER_KEY.length / 2;
      const got: Record<string, boolean> = {};
      for (const split of [false, true]) {
        scene.server.answering = streaming(async (reply, lane) => {
          const [before = '', after = ''] = lane
            .event(`Incorrect API key provided: ${PROVIDER_KEY}`, 'error')
            .split(PROVIDER_KEY);
          if (split) {
            await reply.chunk(before + PROVIDER_KEY.slice(0, half));
            await new Promise((resolve) => setTimeout(resolve, 60));
            await reply.chunk(PROVIDER_KEY.slice(half) + after);
          } else await reply.chunk(before + PROVIDER_KEY + after);
          await reply.end();
        });
        for (const [name, { said }] of Object.entries(await askAll(scene, true)))
          got[`${name}${split ? ' in halves' : ''}`] =
            /api key provided/i.test(said) || said.includes('rror');
      }
      return got;
    },
    gets: Object.fromEntries(
      NAMES.flatMap((name) => [name, `${name} in halves`]).map((name) => [name, true]),
    ),
  },
  {
    title: 'responses and errors that quote the key',
    async attack(scene) {
      const echo = `your key is ${PROVIDER_KEY}`;
      const statuses: number[] = [];
      for (const status of [200, 401, 500]) {
        scene.server.answering = ({ path }, reply) =>
          void reply.whole(
            status === 200 && path.includes('chat')
              ? {
                  id: 'c',
                  object: 'chat.completion',
                  created: 1,
                  model: 'm',
                  choices: [
                    {
                      index: 0,
                      message: { role: 'assistant', content: 'Hello', refusal: echo },
                      finish_reason: 'stop',
                    },
                  ],
                  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
                }
              : { error: { message: echo, type: echo, code: echo } },
            status,
            { 'x-echo': PROVIDER_KEY, 'x-request-id': PROVIDER_KEY },
          );
        for (const name of NAMES) statuses.push((await ask(scene, name, false)).status);
      }
      scene.server.answering = streaming((reply, lane) =>
        reply.chunk(lane.event(echo, 'text') + lane.end).then(() => reply.end()),
      );
      await askAll(scene, true);
      return { answered: statuses.every((status) => status >= 200) };
    },
    gets: { answered: true },
  },
  {
    title: 'one endless event',
    async attack(scene) {
      const piece = chunkOf(Buffer.alloc(MB, 'a'));
      scene.server.answering = streaming(async (reply) => {
        await reply.chunk('data: {"a":"');
        await flood(reply, piece, 128 * MB);
      });
      return askAll(scene, true, 15_000);
    },
    gets: allEnded,
  },
  {
    title: 'an endless JSON body',
    async attack(scene) {
      const piece = chunkOf(Buffer.alloc(MB, ' '));
      scene.server.answering = async (_, reply) => {
        await reply.head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
        await flood(reply, piece, 400 * MB);
      };
      return askAll(scene, false, 15_000);
    },
    gets: allFailed,
  },
  {
    title: 'endless arguments of one call',
    async attack(scene) {
      scene.server.answering = streaming(async (reply, lane) => {
        await flood(reply, chunkOf(lane.event('a'.repeat(100_000), 'arguments')), 200 * MB);
        await reply.chunk(lane.end);
        await reply.end();
      });
      return ask(scene, 'chat', true, 15_000);
    },
    gets: { status: 200, ended: true, received: (bytes) => Number(bytes) < 200 * MB },
  },
  {
    title: 'endless comments to clients that disconnect',
    async attack(scene) {
      const comments = chunkOf(': still here\n\n'.repeat(5000));
      scene.server.answering = streaming((reply) => flood(reply, comments, 64 * MB));
      return { statuses: statusesOf(Object.values(await askAll(scene, true, 1000))) };
    },
    // 0: nothing is said before the first content.
    gets: { statuses: only(0, 200) },
  },
  {
    title: 'endless bodies of errors',
    async attack(scene) {
      const piece = chunkOf(Buffer.alloc(MB, 'a'));
      scene.server.answering = async (_, reply) => {
        await reply.head(500, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' });
        await flood(reply, piece, 200 * MB);
      };
      return askAll(scene, true, 8000);
    },
    gets: allFailed,
  },
  {
    title: 'endless interim responses, heads and trailers',
    async attack(scene) {
      const endless: Readonly<Record<string, readonly [string, string]>> = {
        interim: ['', 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n'],
        head: ['HTTP/1.1 200 OK\r\n', `x-a: ${'a'.repeat(100)}\r\n`],
        trailers: [
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n',
          `x-a: ${'a'.repeat(100)}\r\n`,
        ],
        'a size': ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '0'.repeat(100)],
      };
      const got: Record<string, Got> = {};
      for (const [name, [beginning, piece]] of Object.entries(endless)) {
        scene.server.answering = async (_, reply) => {
          await reply.raw(beginning);
          await flood(reply, Buffer.from(piece.repeat(1000)), 20 * MB);
        };
        got[name] = await ask(scene, 'relay', false, 4000);
      }
      return got;
    },
    gets: allFailed,
  },
  {
    title: 'heads that no honest server sends',
    async attack(scene) {
      const got: Record<string, Got> = {};
      for (const [name, bytes] of Object.entries(HEADS)) {
        scene.server.answering = async (_, reply) => {
          if (name.includes('without end')) await flood(reply, Buffer.from(bytes.repeat(1000)), 4 * MB);
          else await reply.raw(bytes);
          setTimeout(() => reply.close(), 200);
        };
        got[name] = await ask(scene, 'relay', false, 3000);
      }
      return got;
    },
    gets: allFailed,
  },
  ...Object.entries(BOMBS).map(([encoding, make]) => ({
    title: `a bomb of ${encoding}`,
    async attack(scene: Scene): Promise<unknown> {
      const whole = make();
      scene.server.answering = (_: unknown, reply: Reply) =>
        void reply.whole(whole, 200, { 'content-encoding': encoding });
      const bodies = await Promise.all(Array.from({ length: 6 }, () => ask(scene, 'relay', false, 10_000)));
      const stream = Buffer.from(inflating(encoding));
      scene.server.answering = async (_: unknown, reply: Reply): Promise<void> => {
        await reply.head(200, {
          'content-type': 'text/event-stream',
          'content-encoding': encoding,
          'content-length': String(stream.length),
        });
        await reply.raw(stream);
      };
      // Readers that take nothing while it is inflated.
      const sockets = Array.from({ length: 10 }, () => scene.connect());
      for (const socket of sockets) {
        await socket.send(askLane('relay', true));
        await socket.until(() => socket.received > 0, 500);
        socket.pause();
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      for (const socket of sockets) socket.close();
      return { statuses: statusesOf(bodies) };
    },
    gets: { statuses: only(500, 502) },
  })),
  {
    title: 'unrequested responses that precede the next request',
    async attack(scene) {
      const stray = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 200\r\n\r\n${JSON.stringify({ id: 'stray', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'of another' }, finish_reason: 'stop' }] }).padEnd(200)}`;
      let number = 0;
      scene.server.answering = async ({ path }, reply) => {
        const lane = laneOf(path, 'm');
        const mine = `answer ${number++}`;
        await reply.whole({
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: mine }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        });
        if (lane === LANES['relay'])
          for (const delay of [0, 1, 5, 20]) setTimeout(() => void reply.raw(stray), delay);
      };
      const said: string[] = [];
      for (let turn = 0; turn < 40; turn++) {
        const { said: text } = await ask(
          scene,
          'relay',
          false,
          3000,
          turn % 2 === 0 ? undefined : SECOND_KEY,
        );
        said.push(text);
        if (turn % 4 === 3) await new Promise((resolve) => setTimeout(resolve, 8));
      }
      return {
        strays: said.filter((text) => text.includes('stray') || text.includes('of another')).length,
        answered: said.filter((text) => text.includes('answer ')).length,
      };
    },
    // Nobody can tell the first from an answer when it comes while one is awaited; after it, no connection is used again.
    gets: { strays: (count) => Number(count) <= 1, answered: (count) => Number(count) >= 30 },
  },
  {
    title: 'responses and events of deep nesting, duplicates and millions of values',
    async attack(scene) {
      const deep = `${'[{"a":'.repeat(60_000)}1${'}]'.repeat(60_000)}`;
      const many = `[${'0,'.repeat(2_000_000)}0]`;
      const got: Record<string, Got> = {};
      for (const [kind, text] of Object.entries({ deep, many })) {
        scene.server.answering = (_, reply) => void reply.whole(`{"id":"c","choices":${text}}`);
        for (const name of NAMES) got[`${kind} ${name}`] = await ask(scene, name, false, 8000);
        scene.server.answering = streaming(async (reply, lane) => {
          for (let index = 0; index < 8; index++) await reply.chunk(`data: {"id":"c","choices":${deep}}\n\n`);
          await reply.chunk(lane.end);
          await reply.end();
        });
        if (kind === 'deep') await askAll(scene, true);
      }
      return { statuses: statusesOf(Object.values(got)) };
    },
    gets: { statuses: only(200, 500, 502, 503) },
  },
  {
    title: 'HTML pages in place of a response',
    async attack(scene) {
      const types = new Set<string>();
      const sniffed: string[] = [];
      for (const status of [200, 400, 403, 404, 500]) {
        scene.server.answering = (_, reply) =>
          void reply.whole('<html><script>alert(1)</script></html>', status, { 'content-type': 'text/html' });
        for (const name of NAMES) {
          const lane = LANES[name];
          const answer = await scene.ask(lane?.body, { path: lane?.path ?? '' });
          types.add((answer.headers['content-type'] ?? 'none').replace(/;.*/, ''));
          if (answer.headers['x-content-type-options'] !== 'nosniff') sniffed.push(`${name} ${status}`);
        }
      }
      return { types: [...types], sniffed };
    },
    gets: { types: ['application/json'], sniffed: [] },
  },
  {
    title: 'silence to three hundred clients that disconnect',
    async attack(scene) {
      const before = scene.openFiles();
      const already = scene.server.asked;
      scene.server.answering = async (_, reply) => void (await reply.gone);
      const sockets = Array.from({ length: 300 }, () => scene.connect());
      await Promise.all(sockets.map((socket) => socket.send(askLane('relay', false))));
      const asked = (): number => scene.server.asked - already;
      for (let round = 0; round < 50 && asked() < 300; round++)
        await new Promise((resolve) => setTimeout(resolve, 100));
      const arrived = asked();
      for (const socket of sockets) socket.close();
      let after = scene.openFiles();
      for (let round = 0; round < 50 && (after ?? 0) > (before ?? 0) + 40; round++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        after = scene.openFiles();
      }
      return { asked: arrived >= 300, leftOpen: (after ?? 0) > (before ?? 0) + 40 };
    },
    gets: { asked: true, leftOpen: false },
  },
];
