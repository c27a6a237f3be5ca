// Decodes the request in a batch line, and says why it cannot be run.
import {
  asObject,
  isJsonObject,
  jsonBytes,
  type JsonBytes,
  type JsonObject,
  readMembers,
  scanJson,
} from '../../base/json/index.ts';
import type { NamedShape } from '../../base/lib/route-description.ts';
import { GatewayError } from '../../canonical/index.ts';
import {
  type BatchCodec,
  type ClientOperation,
  type ServedProtocol,
  servedProtocols,
} from '../../protocols/index.ts';
import { findTask, postRoutes, type Task, text } from '../tasks/index.ts';

/** A request in a line. */
export interface LineRequest {
  readonly id: string | null;
  /** Members that its result repeats. Null: it has none. */
  readonly named: JsonObject | null;
  readonly protocol: ServedProtocol;
  readonly operation: ClientOperation;
  readonly task: Task & Required<Pick<Task, 'explain'>>;
  readonly url: string;
  readonly body: JsonBytes;
  readonly json: JsonObject;
}

const BASE = '/v1';
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a line. @throws GatewayError `invalid_request` for anything that is not an object */
export function parseLine(bytes: Buffer): JsonObject {
  const { fault } = scanJson(bytes);
  if (fault) throw invalid(`The line cannot be read: ${fault.path} ${fault.message}`);
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw invalid(`The line is not valid JSON: ${error instanceof Error ? error.message : ''}`);
  }
  if (isJsonObject(value)) return value;
  throw invalid('The line must be a JSON object.');
}

/** @throws GatewayError naming the member */
export function lineRequest(
  bytes: Buffer,
  line: JsonObject,
  codec: BatchCodec,
  facts: JsonObject,
): LineRequest {
  const { id, path, body: member } = codec.line(line, facts);
  const found = operationAt(path);
  if (!found)
    throw new GatewayError('not_found', `Batches do not support the endpoint ${path.slice(0, 200)}.`);
  const place = scanJson(bytes).members.find(({ name }) => name === member);
  const body = jsonBytes(Buffer.from(bytes.subarray(place?.valueFrom, place?.to)));
  const named = namedOf(line, codec);
  return { ...found, id, named, url: path, body, json: asObject(line[member] ?? null) };
}

/**
 * A line whose result is written, or only the members that its result repeats: clients recognise a line also if its request
 * is refused before it is parsed, for example for its nesting. Null: these cannot be read either.
 */
export function namedLine(bytes: Buffer, { names }: BatchCodec): JsonObject | null {
  try {
    return parseLine(bytes);
  } catch {
    return readMembers(bytes, new Set(names)) ?? null;
  }
}

/** Members of a line that its result repeats. Null: it has none. */
export function namedOf(line: JsonObject, { names }: BatchCodec): JsonObject | null {
  const named = Object.entries(line).filter(([name]) => names.includes(name));
  return named.length === 0 ? null : Object.fromEntries(named);
}

/** Operation of a POST to an address. Undefined: there is none, or it is not available in batches. */
function operationAt(path: string): Pick<LineRequest, 'protocol' | 'operation' | 'task'> | undefined {
  const query = new URLSearchParams();
  for (const protocol of servedProtocols)
    for (const { path: known, isWhole, operation: serves } of postRoutes(protocol)) {
      const whole = isWhole ? known : BASE + known;
      const isThere = whole.endsWith('*') ? path.startsWith(whole.slice(0, -1)) : path === whole;
      const operation = !isThere
        ? undefined
        : typeof serves === 'function'
          ? serves({ path, query })
          : serves;
      const task = operation?.does === 'answer' ? text : findTask(operation?.does);
      // Tasks that are not routed produce no answer.
      if (operation && task && explains(task)) return { protocol, operation, task };
    }
  return undefined;
}

/**
 * Addresses that lines of a batch may name, of all protocols with the same form of errors, so that clients can read
 * every answer. Aliases are left out.
 */
export function lineEndpoints(errors: NamedShape): readonly string[] {
  const described = new Set<unknown>();
  return servedProtocols
    .filter(({ server }) => server.addresses.errors === errors)
    .flatMap(postRoutes)
    .filter(({ describes }) => !described.has(describes) && described.add(describes))
    .map(({ path, isWhole }) => (isWhole ? path : BASE + path))
    .filter((path) => operationAt(path) !== undefined);
}

function explains(task: Task): task is LineRequest['task'] {
  return task.explain !== undefined;
}

/** @throws GatewayError for options that batches do not support */
export function requireWholeLine({ protocol, operation, json }: LineRequest): void {
  if (json['stream'] === true || operation.route?.stream === true) throw notInBatch('stream');
  if (protocol.server.background?.asks(json)) throw notInBatch('background');
}

function notInBatch(param: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: must not be true in a batch`, {
    param,
  });
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { code: 'invalid_json_line' });
}
