// Reads a request body once, under limits of size and content, and says clearly what is wrong with it.
import { isAscii, isUtf8 } from 'node:buffer';
import { findJsonFault, GatewayError } from '../canonical/index.ts';

export interface RequestBody {
  /** Byte string: one character per byte. */
  readonly bytes: string;
  readonly json: unknown;
}

/**
 * Reads and parses the body. Throws GatewayError: `too_large`, or `invalid_request` for no body, a compressed one,
 * invalid UTF-8, malformed JSON, and what `findJsonFault` finds.
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
  if (isAscii(buffer)) {
    const bytes = buffer.toString('latin1');
    return { bytes, json: parse(bytes) };
  }
  if (!isUtf8(buffer)) throw new GatewayError('invalid_request', 'the body is not valid UTF-8');
  const json = parse(buffer.toString('utf8'));
  return { bytes: buffer.toString('latin1'), json };
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
  const fault = findJsonFault(text);
  if (fault) {
    const { path, message } = fault;
    const where = path === '' ? '' : `${path}: `;
    throw new GatewayError('invalid_request', where + message, { param: path || undefined });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : String(error);
    throw new GatewayError(
      'invalid_request',
      `the body is not valid JSON: ${reason.replace(/^JSON Parse error: /, '')}`,
    );
  }
}
