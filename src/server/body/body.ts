// Reads a request body once, under limits of size and content, and says clearly what is wrong with it.
import { isUtf8 } from 'node:buffer';
import { type JsonBytes, scanJson } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { BodyReader } from './body-reader.ts';
import type { Hold } from './memory-budget.ts';

export interface RequestBody {
  readonly body: JsonBytes;
  readonly json: unknown;
}

/** Bytes that a request says its body has; NaN where it does not say. */
export function announcedBytes({ headers }: Request): number {
  return Number(headers.get('content-length') ?? Number.NaN);
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
): Promise<Buffer> {
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && !/^\s*(?:identity\s*)?$/i.test(encoding)) {
    throw new GatewayError(
      'invalid_request',
      'the body has a content-encoding, and none is accepted; send plain JSON',
    );
  }
  return reader.read(request, announced, hold);
}

/** Throws GatewayError `invalid_request` for no body, invalid UTF-8, malformed JSON, and what `scanJson` finds. */
export function parseBody(body: Buffer): RequestBody {
  if (body.length === 0)
    throw new GatewayError('invalid_request', 'the request has no body; send a JSON object');
  if (!isUtf8(body)) throw new GatewayError('invalid_request', 'the body is not valid UTF-8');
  const { fault, members } = scanJson(body);
  if (fault) {
    const { path, message } = fault;
    const where = path === '' ? '' : `${path}: `;
    throw new GatewayError('invalid_request', where + message, { param: path || undefined });
  }
  return { body: { bytes: body, members }, json: parse(body.toString('utf8')) };
}

function parse(text: string): unknown {
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
