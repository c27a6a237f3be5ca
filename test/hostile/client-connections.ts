// A hostile client and its connections: slow ones, many, idle, half-closed, pipelined, WebSockets, and answers that it
// does not read while an honest upstream sends them.
import { only, statusesOf } from './client.ts';
import { askLane, LANES, NAMES } from './lanes.ts';
import type { Scenario, Scene } from './scene.ts';
import { chunkOf, requestBytes, type RawSocket } from './sockets.ts';
import { CONTINUATION, PING, closeCode, frame, openWebSocket, TEXT } from './web-socket.ts';

const MB = 1024 * 1024;
const HELLO = [{ role: 'user', content: 'Hello' }];
const SMALL = requestBytes({ model: 'sim/echo', messages: HELLO });

function connections(scene: Scene, count: number): RawSocket[] {
  return Array.from({ length: count }, () => scene.connect());
}

function closeAll(sockets: readonly RawSocket[]): void {
  for (const socket of sockets) socket.close();
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Files that are open more than before; settles when they are few, or after ten seconds. Null: unknown. */
async function leftOpen(scene: Scene, before: number | null): Promise<boolean> {
  for (let round = 0; round < 100; round++) {
    const now = scene.openFiles();
    if (now === null || before === null || now <= before + 40) return false;
    await pause(100);
  }
  return true;
}

/** Clients that ask for a long stream of small pieces, read nothing for a while, and then read all of it. */
async function readLate(scene: Scene, name: string, clients: number, deltas: number): Promise<object> {
  const lane = LANES[name];
  const kind = name === 'messages' || name === 'gemini' ? 'text' : 'arguments';
  const some = chunkOf((lane?.event('0123456789', kind) ?? '').repeat(100));
  scene.server.answering = async (_, reply) => {
    await reply.stream();
    await reply.chunk(lane?.opening ?? '');
    for (let sent = 0; sent < deltas; sent += 100) if (!(await reply.raw(some))) return;
    await reply.chunk(lane?.end ?? '');
    await reply.end();
  };
  const sockets = connections(scene, clients);
  for (const socket of sockets) {
    await socket.send(askLane(name, true));
    socket.pause();
  }
  await pause(700);
  for (const socket of sockets) socket.resume();
  await Promise.all(
    sockets.map((socket) => socket.until(() => socket.tail.endsWith('\r\n0\r\n\r\n'), 20_000)),
  );
  closeAll(sockets);
  const mark = lane?.mark ?? '';
  return { whole: sockets.filter(({ tail }) => tail.slice(-600).includes(mark)).length };
}

const LATE: readonly Scenario[] = NAMES.map((name) => ({
  title: `64,000 deltas over ${name} that are read late`,
  attack: (scene: Scene) => readLate(scene, name, 1, 64_000),
  gets: { whole: 1 },
}));

/** Acts of a client before it goes away without a word. */
const LEAVINGS: readonly ((socket: RawSocket) => Promise<void>)[] = [
  async () => {},
  async (socket) => socket.send('POST /v1/chat/comp'),
  async (socket) => socket.send(SMALL.subarray(0, SMALL.length - 10)),
  async (socket) => socket.send(SMALL),
  async (socket) => {
    await socket.send(requestBytes({ model: 'relay/m', messages: HELLO, stream: true }));
    await socket.until(() => socket.received > 0, 300);
  },
];

export const CONNECTIONS: readonly Scenario[] = [
  ...LATE,
  {
    title: 'ten long streams that are read late',
    attack: (scene) => readLate(scene, 'relay', 10, 32_000),
    gets: { whole: 10 },
  },
  {
    title: 'forty bodies of 30 MB that are never finished',
    async attack(scene) {
      const sockets = connections(scene, 40);
      const most = Buffer.alloc(29 * MB, '[');
      const head = requestBytes(null, {
        method: 'POST',
        headers: ['content-type: application/json', `content-length: ${30 * MB}`],
      });
      await Promise.all(
        sockets.map(async (socket) => {
          await socket.send(head);
          await Promise.race([socket.send(most), pause(1500)]);
        }),
      );
      await pause(300);
      const answers = await Promise.all(sockets.map((socket) => socket.answer(1)));
      closeAll(sockets);
      const refused = answers.find(({ status }) => status === 503);
      return { statuses: statusesOf(answers), retryAfter: refused?.headers['retry-after'] ?? null };
    },
    // A refused client gets its answer at the end of the body, of which nothing is kept until then.
    gets: { statuses: only(0, 503), retryAfter: (value) => value === null || /^\d+$/.test(String(value)) },
  },
  {
    title: 'two hundred heads and bodies that arrive letter by letter',
    async attack(scene) {
      const sockets = connections(scene, 200);
      for (let at = 0; at < 15; at++) {
        for (const [index, socket] of sockets.entries())
          void socket.send(
            index % 2 === 0
              ? SMALL.subarray(at, at + 1)
              : at === 0
                ? SMALL.subarray(0, -20)
                : SMALL.subarray(-20 + at, -19 + at),
          );
        await pause(60);
      }
      const answered = sockets.filter((socket) => socket.received > 0).length;
      closeAll(sockets);
      return { answered };
    },
    gets: { answered: 0 },
  },
  {
    title: 'fifteen hundred silent connections',
    async attack(scene) {
      const before = scene.openFiles();
      const sockets = connections(scene, 1500);
      // A client that closes what does not stand yet may have it open afterwards.
      await Promise.all(sockets.map(({ connected }) => connected));
      await pause(500);
      const right = await scene.ask(null, { path: '/v1/models' });
      closeAll(sockets);
      return { right: right.status, leftOpen: await leftOpen(scene, before) };
    },
    gets: { right: 200, leftOpen: false },
  },
  {
    title: 'a thousand requests on one connection at once',
    async attack(scene) {
      const socket = scene.connect();
      let answers = 0;
      let last = 0;
      void socket.send(
        Buffer.concat(Array.from({ length: 1000 }, () => requestBytes(null, { path: '/v1/models' }))),
      );
      // It is answered, or it is closed; nothing stands still in between.
      while (await socket.until(() => socket.received > last, 400)) last = socket.received;
      answers = last;
      socket.close();
      return { some: answers > 0 };
    },
    gets: { some: true },
  },
  {
    title: 'five hundred clients that disconnect during requests and responses',
    async attack(scene) {
      scene.server.answering = async (_, reply) => {
        await reply.stream();
        await reply.chunk(LANES['relay']?.opening ?? '');
        await reply.gone;
      };
      const before = scene.openFiles();
      for (let round = 0; round < 25; round++)
        await Promise.all(
          connections(scene, 20).map(async (socket, index) => {
            await LEAVINGS[index % LEAVINGS.length]?.(socket);
            socket.close();
          }),
        );
      return { leftOpen: await leftOpen(scene, before) };
    },
    gets: { leftOpen: false },
  },
  {
    title: 'a client that closes its side of the connection and reads',
    async attack(scene) {
      const socket = scene.connect();
      await socket.send(SMALL);
      socket.halfClose();
      const { status } = await socket.answer(3000);
      socket.close();
      return { status };
    },
    gets: { status: (status) => status === 200 || status === 0 },
  },
  {
    title: 'one message of 100 MB over a WebSocket, in fragments',
    async attack(scene) {
      const sockets = connections(scene, 2);
      const piece = frame(Buffer.alloc(MB, 'a'), CONTINUATION, false);
      const codes = await Promise.all(
        sockets.map(async (socket) => {
          if ((await openWebSocket(socket)) !== 101) return 'refused';
          await socket.send(frame('{"type":"response.create","input":"', TEXT, false));
          for (let sent = 0; sent < 100 && !socket.isEnded; sent++) await socket.send(piece);
          await socket.until(() => socket.isEnded, 300);
          return socket.isEnded || closeCode(socket) === 1009 ? 'ended' : 'open';
        }),
      );
      closeAll(sockets);
      return { codes: [...new Set(codes)].toSorted() };
    },
    gets: { codes: (codes) => !(codes as string[]).includes('open') },
  },
  {
    title: 'hundreds of WebSockets with queued messages',
    async attack(scene) {
      const sockets = connections(scene, 300);
      const before = scene.openFiles();
      const opened = await Promise.all(sockets.map((socket) => openWebSocket(socket)));
      const large = 'a'.repeat(MB);
      await Promise.all(
        sockets.slice(0, 12).map(async (socket) => {
          for (let lane = 0; lane < 10; lane++) {
            const body = { type: 'response.create', stream_id: `s${lane}`, model: 'sim/stall', input: large };
            await Promise.race([socket.send(frame(JSON.stringify(body))), pause(300)]);
          }
          for (let sent = 0; sent < 100; sent++) void socket.send(frame('', PING));
        }),
      );
      await pause(300);
      closeAll(sockets);
      const counts = statusesOf(opened.map((status) => ({ status })));
      return {
        refused: (counts['429'] ?? 0) + (counts['503'] ?? 0) > 0,
        leftOpen: await leftOpen(scene, before),
      };
    },
    gets: { refused: true, leftOpen: false },
  },
];
