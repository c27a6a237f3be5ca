// Reads a request body once, under limits of size, depth and content, and says clearly what is wrong with it.
import { isAscii, isUtf8 } from 'node:buffer';
import { GatewayError } from '../canonical/index.ts';

/** Deepest nesting accepted: far more than any real schema, far less than would hurt. */
export const MAX_DEPTH = 128;
/** Most JSON values in a body: a request of two thousand messages with tools has some ten thousand. */
export const MAX_VALUES = 500_000;

export interface RequestBody {
  /** Byte string: one character per byte. */
  readonly bytes: string;
  readonly json: unknown;
}

/**
 * Reads and parses the body. Throws GatewayError: `too_large`, or `invalid_request` for no body, a compressed one,
 * invalid UTF-8, malformed JSON, excessive nesting, `__proto__` members and lone surrogates.
 */
export async function readBody(request: Request, maxBytes: number): Promise<RequestBody> {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') {
    throw new GatewayError(
      'invalid_request',
      'the body has a content-encoding, and none is accepted; send plain JSON',
    );
  }
  return parseBody(await readBytes(request, maxBytes));
}

/** The same for a body that is here already. */
export function parseBody(buffer: Buffer): RequestBody {
  if (buffer.length === 0)
    throw new GatewayError('invalid_request', 'the request has no body; send a JSON object');
  if (!isUtf8(buffer)) throw new GatewayError('invalid_request', 'the body is not valid UTF-8');
  const bytes = buffer.toString('latin1');
  const json = parse(isAscii(buffer) ? bytes : buffer.toString('utf8'));
  inspected = 0;
  const problem = inspect(json, 0);
  if (problem)
    throw new GatewayError(
      'invalid_request',
      `${problem.path ? `${problem.path}: ` : ''}${problem.message}`,
      { param: problem.path || undefined },
    );
  return { bytes, json };
}

async function readBytes(request: Request, maxBytes: number): Promise<Buffer> {
  const announced = Number(request.headers.get('content-length') ?? Number.NaN);
  if (announced <= maxBytes) return Buffer.from(await request.arrayBuffer());
  // Read to its end even when it is too long: a client that is still writing would otherwise see a reset
  // connection instead of the answer.
  const pieces: Uint8Array[] = [];
  let size = 0;
  if (request.body) {
    for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
      size += piece.length;
      if (size <= maxBytes) pieces.push(piece);
      else pieces.length = 0;
    }
  }
  if (size > maxBytes) {
    throw new GatewayError(
      'too_large',
      `the body has ${size} bytes; at most ${maxBytes} are accepted (server.body_limit_mb)`,
    );
  }
  return Buffer.concat(pieces);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // A parser that runs out of stack has met absurd nesting.
    const reason =
      error instanceof SyntaxError ? error.message.replace(/^JSON Parse error: /, '') : 'nested too deeply';
    throw new GatewayError('invalid_request', `the body is not valid JSON: ${reason}`);
  }
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Values of the body being inspected: everything behind costs time by their number, not by their bytes. */
let inspected = 0;

/** The first thing in a JSON value that must not be passed on; the path is built on the way out. */
function inspect(value: unknown, depth: number): Problem | undefined {
  if (++inspected > MAX_VALUES) {
    return { path: '', message: `the body holds more than ${MAX_VALUES} values` };
  }
  if (typeof value === 'string') {
    return value.isWellFormed()
      ? undefined
      : { path: '', message: 'contains a lone surrogate, which is not valid Unicode text' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH)
    return { path: '', message: `the body is nested more than ${MAX_DEPTH} levels deep` };
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const problem = inspect(value[at], depth + 1);
      if (problem) return under(`[${at}]`, problem);
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__') return { path: '__proto__', message: 'is not an allowed member name' };
    if (!key.isWellFormed()) return { path: '', message: 'a member name contains a lone surrogate' };
    const problem = inspect((value as Record<string, unknown>)[key], depth + 1);
    if (problem) return under(key, problem);
  }
  return undefined;
}

function under(member: string, { path, message }: Problem): Problem {
  // Only the innermost steps of an absurdly deep path are worth showing, and only the start of an absurd name.
  if (path.length > 200) return { path, message };
  const step = member.length > 100 ? `${member.slice(0, 100)}…` : member;
  return { path: path === '' ? step : path.startsWith('[') ? step + path : `${step}.${path}`, message };
}
