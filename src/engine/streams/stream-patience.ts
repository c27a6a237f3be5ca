// Reads how long a client waits for its answer: whether its stream is kept, what happens when it disconnects, and whether it
// waits at all (`Prefer: respond-async`, RFC 7240).
import { isJsonObject } from '../../base/json/index.ts';
import { GatewayError, ON_DISCONNECT, ON_DISCONNECT_HINT } from '../../canonical/index.ts';
import type { ApiCall } from '../call.ts';
import type { Patience } from './kept-stream.ts';

/** Request headers that ask for a kept stream. */
const RESUMABLE = 'x-dragoman-resumable';
const HEADER = 'x-dragoman-on-disconnect';
/** Default patience of a request that asks for a resumable stream. */
const DEFAULT_PATIENCE = 'continue:30s';

const PREFER = 'prefer';
const ASYNC = /(?:^|,)\s*respond-async\s*(?:,|;|$)/i;

export interface StreamSettings {
  readonly keep: 'asked' | 'all';
  /** `abort`, `continue` or `continue:<seconds>s`. */
  readonly onDisconnect: string;
}

export interface Keeping {
  /** False: its events contain numbers. */
  readonly writesIds: boolean;
  readonly patience: Patience;
}

/**
 * How the stream of a request is kept. Null: it is not.
 * @throws GatewayError `invalid_request` for an invalid header
 */
export function keepingOf(
  {
    header,
    json,
    protocol,
    job,
    principal,
    isQueued,
  }: Pick<ApiCall, 'header' | 'json' | 'protocol' | 'job' | 'isQueued' | 'principal'>,
  settings: StreamSettings,
): Keeping | null {
  // A job keeps its stream itself.
  if (job) return null;
  const isAsked = readFlag(header(RESUMABLE));
  const said = header(HEADER);
  const onDisconnect = principal.onDisconnect ?? settings.onDisconnect;
  const patience =
    said === null
      ? patienceOf(isAsked && onDisconnect === 'abort' ? DEFAULT_PATIENCE : onDisconnect)
      : patienceOf(said);
  if (patience === null)
    throw new GatewayError('invalid_request', `${HEADER}: ${ON_DISCONNECT_HINT}`, { param: HEADER });
  // Two kept streams with one id would replace each other.
  if (isQueued === true) return null;
  const { items } = protocol.server;
  const isStored =
    items !== undefined && isJsonObject(json) && json['stream'] === true && json['store'] !== false;
  if (!isAsked && !isStored && settings.keep !== 'all' && patience === 0) return null;
  return { writesIds: items === undefined, patience };
}

function readFlag(text: string | null): boolean {
  if (text === null || text === 'false') return false;
  if (text === 'true') return true;
  throw new GatewayError('invalid_request', `${RESUMABLE}: must be \`true\` or \`false\``, {
    param: RESUMABLE,
  });
}

/** Milliseconds that a run waits for its client to return. Null: invalid text. */
function patienceOf(text: string): Patience | null {
  const [said, seconds] = ON_DISCONNECT.exec(text) ?? [];
  if (said === undefined) return null;
  if (said === 'abort') return 0;
  return seconds === undefined ? Infinity : Number(seconds) * 1000;
}

/** @throws GatewayError `invalid_request` for a stream, which nothing would read */
export function prefersAsync({ header }: Pick<ApiCall, 'header'>): boolean {
  const said = header(PREFER);
  return said !== null && ASYNC.test(said);
}

/** @throws GatewayError `invalid_request` for a stream, which would have no reader */
export function requireWhole({ json, route }: Pick<ApiCall, 'json' | 'route'>): void {
  const isStream = route?.stream === true || (isJsonObject(json) && json['stream'] === true);
  if (isStream)
    throw new GatewayError(
      'invalid_request',
      '`Prefer: respond-async` does not support streams. Omit `stream`. For a stream that survives a lost connection, send `x-dragoman-resumable: true` instead.',
      { param: 'stream' },
    );
}
