// An HTTP/1.1 client that sends exactly the bytes it is given: bodies, headers and framing that no proper client
// library would send. Knows nothing of the gateway.
import { connect } from 'node:net';

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  /** Complete lines without their ends; `host` and `connection: close` are added. */
  readonly headers?: readonly string[];
  /** Written one after the other; the head announces nothing that `headers` does not say. */
  readonly body?: readonly (string | Uint8Array)[];
}

export interface RawAnswer {
  readonly status: number;
  /** The status line and the header lines as they arrived. */
  readonly head: string;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body without its chunk sizes. */
  readonly text: string;
}

/**
 * Sends one request on a connection of its own and reads until the server closes it.
 * @param origin `http://host:port`
 * @throws when the connection breaks before a whole head was read: a reset hides the answer from real clients too
 */
export function sendRaw(origin: string, request: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  const lines = [
    `${request.method ?? 'POST'} ${request.path ?? '/v1/chat/completions'} HTTP/1.1`,
    `host: ${hostname}:${port}`,
    'connection: close',
    ...(request.headers ?? []),
  ];
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('data', (piece) => pieces.push(Buffer.from(piece)));
    socket.once('error', reject);
    socket.once('close', () => {
      const answer = parseAnswer(Buffer.concat(pieces));
      if (answer) resolve(answer);
      else reject(new Error('the connection was closed without an answer'));
    });
    socket.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
    for (const piece of request.body ?? []) socket.write(piece);
  });
}

/** The header lines and the body of a JSON request with a key. */
export function jsonRequest(
  key: string,
  body: string | Uint8Array,
  headers: readonly string[] = [],
): RawRequest {
  const bytes = Buffer.from(body as Uint8Array);
  return {
    headers: [
      `authorization: Bearer ${key}`,
      'content-type: application/json',
      `content-length: ${bytes.length}`,
      ...headers,
    ],
    body: [bytes],
  };
}

function parseAnswer(bytes: Buffer): RawAnswer | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = bytes.toString('latin1', 0, end);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = bytes.subarray(end + 4);
  const isChunked = headers.get('transfer-encoding')?.toLowerCase() === 'chunked';
  const text = (isChunked ? unchunk(body) : body).toString('utf8');
  return { status: Number(statusLine.split(' ')[1]), head, headers, text };
}

function unchunk(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = lineEnd < 0 ? 0 : Number.parseInt(body.toString('latin1', at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(pieces);
    pieces.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
