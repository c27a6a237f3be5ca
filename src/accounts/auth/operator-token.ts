// Short-lived tokens by which a command of this machine asks a running gateway: whoever can read the secret of the data
// directory may manage what runs on it. A token is good for one request to one gateway. Knows no command.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { UnixMs } from '../../base/units.ts';

const PREFIX = 'dm-op-v2-';
/** Time that a token is good: a command asks at once. */
const LIFETIME_MS = 60_000;
/** Difference that the clocks of two processes of one machine may have. */
const CLOCK_SLACK_MS = 5_000;
const FORM = /^dm-op-v2-([0-9a-z]{1,11})-([\w-]{43})$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The one request that a token is for. */
export interface OperatorRequest {
  readonly method: string;
  /** Whole address, with its query. */
  readonly url: string;
}

/**
 * A token that is good for a minute, and for this request only.
 * @param secret `storage.secret('operator')`
 */
export function operatorToken(request: OperatorRequest, secret: Uint8Array, nowMs: UnixMs): string {
  const until = (nowMs + LIFETIME_MS).toString(36);
  return `${PREFIX}${until}-${signatureOf(until, request, secret)}`;
}

/** True for what has the form of a token, good or not. */
export function looksLikeOperatorToken(text: string): boolean {
  return /^dm-op-v\d-/.test(text);
}

/** True for a token that was made with this secret within its lifetime, for this request. */
export function isOperatorToken(
  text: string,
  request: OperatorRequest,
  secret: Uint8Array,
  nowMs: UnixMs,
): boolean {
  const [, until = '', signature = ''] = FORM.exec(text) ?? [];
  if (until === '') return false;
  const expected = Buffer.from(signatureOf(until, request, secret));
  const isSigned = timingSafeEqual(expected, Buffer.from(signature));
  const left = Number.parseInt(until, 36) - nowMs;
  return isSigned && left > 0 && left <= LIFETIME_MS + CLOCK_SLACK_MS;
}

/**
 * True where a request that says it is for `url` can be for the gateway that listens at `own`: the same port, and a host
 * of this machine. A token that a stranger's server was sent names that server's port.
 */
export function isForGateway(url: string, own: string): boolean {
  const [asked, listening] = [new URL(url), new URL(own)];
  return (
    asked.protocol === listening.protocol &&
    asked.port === listening.port &&
    (isLoopback(asked.hostname) || asked.hostname === listening.hostname)
  );
}

/** True for a host name that no other machine can have, as `URL` writes it. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

function signatureOf(until: string, { method, url }: OperatorRequest, secret: Uint8Array): string {
  const { origin, pathname, search } = new URL(url);
  return createHmac('sha256', secret)
    .update(`operator ${JSON.stringify([until, method.toUpperCase(), origin, pathname + search])}`)
    .digest('base64url');
}
