// Reads a request body with limits on size and content, and reports precisely what is invalid.
import { isUtf8 } from 'node:buffer';
import { type JsonBytes, type JsonObject, type JsonValue, scanJson } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { joined } from '../../base/lib/bytes.ts';
import type { FormFile } from '../../base/lib/form.ts';
import type { BodyReader } from './body-reader.ts';
import type { MemoryAccount } from './memory-budget.ts';
import { type PartHead, readMultipart } from './multipart.ts';

export interface RequestBody {
  readonly body: JsonBytes;
  readonly json: unknown;
}

/** A parsed form. */
export interface RequestForm {
  /** As it arrived. */
  readonly body: JsonBytes;
  /** Fields by name: a string, or a list of strings if repeated. For files, their metadata. */
  readonly json: JsonObject;
  /** Views of the body. */
  readonly files: readonly FormFile[];
}

/** Declared size of a request's body in bytes. NaN: not declared. */
export function announcedBytes({ headers }: Request): number {
  return Number(headers.get('content-length') ?? Number.NaN);
}

/** Reads and parses the body. Throws GatewayError like `receiveBody` and `parseBody`. */
export async function readBody(
  request: Request,
  announced: number,
  reader: BodyReader,
  hold: MemoryAccount,
): Promise<RequestBody> {
  return parseBody(await receiveBody(request, announced, reader, hold));
}

/**
 * Reads the body. Throws GatewayError: `too_large`, or `invalid_request` for a compressed one.
 * @param announced see `announcedBytes`
 */
export async function receiveBody(
  request: Request,
  announced: number,
  reader: BodyReader,
  hold: MemoryAccount,
): Promise<Buffer> {
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && !/^\s*(?:identity\s*)?$/i.test(encoding)) {
    throw new GatewayError(
      'invalid_request',
      'The content-encoding of the request body is not supported. Send uncompressed JSON.',
    );
  }
  return reader.read(request, announced, hold);
}

/**
 * Throws GatewayError `invalid_request` for an empty body, invalid UTF-8, malformed JSON, and problems found by
 * `scanJson`.
 */
export function parseBody(body: Buffer): RequestBody {
  if (body.length === 0)
    throw new GatewayError('invalid_request', 'The request has no body. Send a JSON object.');
  if (!isUtf8(body)) throw new GatewayError('invalid_request', 'The request body is not valid UTF-8.');
  const { fault, members } = scanJson(body);
  if (fault) {
    const { path, message } = fault;
    const where = path === '' ? '' : `${path}: `;
    throw new GatewayError('invalid_request', where + message, { param: path || undefined });
  }
  return { body: { bytes: body, members }, json: parse(body.toString('utf8')) };
}

/**
 * Parses a form.
 * @throws GatewayError `invalid_request` for an invalid form, or fields that are not UTF-8
 * @param contentType the request's header
 */
export async function parseForm(body: Buffer, contentType: string): Promise<RequestForm> {
  const fields = new Map<string, JsonValue>();
  const files: FormFile[] = [];
  const add = (name: string, value: JsonValue): void => {
    const before = fields.get(name);
    fields.set(
      name,
      before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value],
    );
  };
  const parts: { readonly head: PartHead; readonly pieces: Uint8Array[] }[] = [];
  await readMultipart(once(body), contentType, (head) => {
    const pieces: Uint8Array[] = [];
    parts.push({ head, pieces });
    return (piece) => void pieces.push(piece);
  });
  for (const { head, pieces } of parts) {
    const { name, filename, mediaType } = head;
    const bytes = joined(pieces);
    if (filename === undefined) add(name, fieldText(name, bytes));
    else {
      files.push({ name, filename, mediaType, bytes });
      add(name, { filename, content_type: mediaType, bytes: bytes.length });
    }
  }
  return { body: { bytes: body, members: [] }, json: Object.fromEntries(fields), files };
}

async function* once(body: Buffer): AsyncGenerator<Uint8Array> {
  yield body;
}

function fieldText(name: string, bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new GatewayError('invalid_request', `${name}: must be valid UTF-8`, { param: name });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : String(error);
    throw new GatewayError(
      'invalid_request',
      `The request body is not valid JSON: ${reason.replace(/^JSON Parse error: /, '')}`,
    );
  }
}
