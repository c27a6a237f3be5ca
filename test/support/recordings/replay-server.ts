// An upstream that answers with recorded bytes. The model's name says which recording, and into how small pieces
// its body is cut. Raw sockets, so that every byte and every write is the recorder's or the test's own.
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { bytesOf } from './corpus.ts';
import type { Recording } from './corpus.ts';

export interface ReplayServer {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  /** The last body that asked for a model, by the model's name. */
  readonly bodies: ReadonlyMap<string, string>;
  /** Requests that asked for no known recording. */
  readonly misses: readonly string[];
  close(): Promise<void>;
}

/** Bytes at either end of a body that are cut as finely as asked for; the middle of a long one is cut coarser. */
const FINE_BYTES = 1_000;
/** Size of the pieces in the middle: odd, so that they begin everywhere in a frame. */
const COARSE_BYTES = 251;
const TYPES: Readonly<Record<string, string>> = {
  sse: 'text/event-stream',
  eventstream: 'application/vnd.amazon.eventstream',
};
const MODEL_IN_PATH = /^POST \S*(case-([0-9a-f]{12})-(\d+))[:/]/;

/** A recording of any protocol, as far as it is replayed. */
export type Replayable = Omit<Recording, 'api'>;

/** The model name under which a recording is replayed. @param pieceBytes 0 for the whole body at once */
export function replayModel(recording: Replayable, pieceBytes = 0): string {
  return `case-${recording.case}-${pieceBytes}`;
}

/** Starts the server on the loopback address. */
export function startReplay(recordings: readonly Replayable[]): Promise<ReplayServer> {
  const byCase = new Map(recordings.map((recording) => [recording.case, recording]));
  const sockets = new Set<Socket>();
  const misses: string[] = [];
  const bodies = new Map<string, string>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    // A client that leaves early is nothing to this server.
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      const body = wholeRequest(received);
      if (body === undefined) return;
      // Google's and Amazon's paths name the model.
      const named = /"model":"(case-([0-9a-f]{12})-(\d+))"/.exec(body) ?? MODEL_IN_PATH.exec(received);
      const [, model = '', name = '', pieceBytes] = named ?? [];
      received = '';
      const recording = byCase.get(name);
      bodies.set(model, Buffer.from(body, 'latin1').toString());
      if (recording) void answer(socket, recording, Number(pieceBytes));
      else {
        misses.push(body.slice(0, 300));
        socket.end('HTTP/1.1 418 No such recording\r\ncontent-length: 0\r\n\r\n');
      }
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      resolve({
        origin: `http://127.0.0.1:${port}`,
        bodies,
        misses,
        close: () =>
          new Promise((closed) => {
            for (const socket of sockets) socket.destroy();
            server.close(() => closed());
          }),
      });
    });
  });
}

/** The body of a request that is complete, else undefined. */
function wholeRequest(received: string): string | undefined {
  const head = received.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, head));
  if (!length) throw new Error('the gateway sent a body without content-length');
  return received.length < head + 4 + Number(length[1]) ? undefined : received.slice(head + 4);
}

async function answer(socket: Socket, recording: Replayable, pieceBytes: number): Promise<void> {
  const body = bytesOf(recording);
  const head = `HTTP/1.1 ${recording.status} Recorded\r\n${headerLines(recording)}`;
  if (pieceBytes === 0 || body.length === 0) {
    socket.write(Buffer.concat([Buffer.from(`${head}content-length: ${body.length}\r\n\r\n`), body]));
    return;
  }
  socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
  for (let at = 0; at < body.length && !socket.destroyed;) {
    const fine = at < FINE_BYTES || at >= body.length - FINE_BYTES;
    const piece = body.subarray(at, at + (fine ? pieceBytes : COARSE_BYTES));
    at += piece.length;
    const end = at === body.length ? '0\r\n\r\n' : '';
    socket.write(`${piece.length.toString(16)}\r\n${piece.toString('latin1')}\r\n${end}`, 'latin1');
    // Each write is read by itself: the gateway's turn comes before the next one.
    await new Promise((done) => setImmediate(done));
  }
}

/** The recorded headers, without those that describe another framing, and with the type that the body has. */
function headerLines({ res, resHeaders }: Replayable): string {
  const type = TYPES[res.kind] ?? 'application/json';
  let lines = '';
  for (const [name, value] of Object.entries(resHeaders)) {
    if (/^(content-type|content-length|transfer-encoding|connection|keep-alive)$/i.test(name)) continue;
    if (/^[\t\x20-\x7e]*$/.test(value)) lines += `${name}: ${value}\r\n`;
  }
  const recorded = resHeaders['content-type'] ?? '';
  return `${lines}content-type: ${recorded.startsWith(type) ? recorded : type}\r\n`;
}
