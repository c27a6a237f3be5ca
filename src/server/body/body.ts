// Reads a request body once, under limits of size and content, and says clearly what is wrong with it.
import { isAscii, isUtf8 } from 'node:buffer';
import { GatewayError, parseAround, scanJson } from '../../canonical/index.ts';
import type { BodyReader } from './body-reader.ts';
import type { Hold } from './memory-budget.ts';

export interface RequestBody {
  /** Byte string: one character per byte. */
  readonly bytes: string;
  readonly json: unknown;
}

/** Bytes that a request says its body has; NaN where it does not say. */
export function announcedBytes({ headers }: Request): number {
  return Number(headers.get('content-length') ?? Number.NaN);
}

/** A body that nobody has parsed: a text in ASCII, or what came. */
export type ReceivedBody = string | Buffer;

/** The same as a byte string. */
export function byteString(body: ReceivedBody): string {
  return typeof body === 'string' ? body : body.toString('latin1');
}

/** Reads and parses the body. Throws GatewayError as `receiveBody` and `parseBody`. */
export async function readBody(
  request: Request,
  announced: number,
  reader: BodyReader,
  hold: Hold,
): Promise<RequestBody> {
  return parseBody(await receiveBody(request, announced, reader, hold));
}

/**
 * Reads the body. Throws GatewayError: `too_large`, or `invalid_request` for a compressed one.
 * @param announced as `announcedBytes` has it
 */
export async function receiveBody(
  request: Request,
  announced: number,
  reader: BodyReader,
  hold: Hold,
): Promise<ReceivedBody> {
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && !/^\s*(?:identity\s*)?$/i.test(encoding)) {
    throw new GatewayError(
      'invalid_request',
      'the body has a content-encoding, and none is accepted; send plain JSON',
    );
  }
  const body = await reader.read(request, announced, hold);
  if (!(body instanceof Blob)) return body;
  // The text of a blob is its own memory as long as it is ASCII: then it is a byte string, too, and nothing was copied.
  const text = await body.text();
  if (text.length === body.size && !text.includes(REPLACEMENT)) return text;
  return Buffer.from(await body.arrayBuffer());
}

/** What a decoder writes for bytes that are no UTF-8. */
const REPLACEMENT = '\ufffd';

/** Throws GatewayError `invalid_request` for no body, invalid UTF-8, malformed JSON, and what `scanJson` finds. */
export function parseBody(body: ReceivedBody): RequestBody {
  if (body.length === 0)
    throw new GatewayError('invalid_request', 'the request has no body; send a JSON object');
  if (typeof body === 'string') return { bytes: body, json: parse(body) };
  if (isAscii(body)) {
    const bytes = body.toString('latin1');
    return { bytes, json: parse(bytes) };
  }
  if (!isUtf8(body)) throw new GatewayError('invalid_request', 'the body is not valid UTF-8');
  const json = parse(body.toString('utf8'));
  return { bytes: body.toString('latin1'), json };
}

function parse(text: string): unknown {
  const { fault, messages } = scanJson(text);
  if (fault) {
    const { path, message } = fault;
    const where = path === '' ? '' : `${path}: `;
    throw new GatewayError('invalid_request', where + message, { param: path || undefined });
  }
  try {
    return messages ? parseAround(text, messages) : JSON.parse(text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : String(error);
    throw new GatewayError(
      'invalid_request',
      `the body is not valid JSON: ${reason.replace(/^JSON Parse error: /, '')}`,
    );
  }
}
