// Short-lived tokens with which commands on this machine authenticate to a running gateway. Access to the secret in the data
// directory implies the right to manage the gateway. A token is valid for one request to one gateway.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { UnixMs } from '../../base/units.ts';

const PREFIX = 'dm-op-v2-';
/** Lifetime in milliseconds. Commands use their token immediately. */
const LIFETIME_MS = 60_000;
/** Tolerated difference between the clocks of two processes on one machine, in milliseconds. */
const CLOCK_SLACK_MS = 5_000;
const FORM = /^dm-op-v2-([0-9a-z]{1,11})-([\w-]{43})$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The request for which a token is valid. */
export interface OperatorRequest {
  readonly method: string;
  /** Full URL with its query. */
  readonly url: string;
}

/**
 * Creates a token that is valid for one minute and for this request only.
 * @param secret `storage.secret('operator')`
 */
export function operatorToken(request: OperatorRequest, secret: Uint8Array, nowMs: UnixMs): string {
  const until = (nowMs + LIFETIME_MS).toString(36);
  return `${PREFIX}${until}-${signatureOf(until, request, secret)}`;
}

/** True for a text in the format of a token, valid or not. */
export function looksLikeOperatorToken(text: string): boolean {
  return /^dm-op-v\d-/.test(text);
}

/** Verifies signature, lifetime and request of a token. */
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
 * True if a request to `url` can reach the gateway that listens at `own`: same port, and a loopback host. So a token that
 * was sent to another server cannot be replayed here.
 */
export function isForGateway(url: string, own: string): boolean {
  const [asked, listening] = [new URL(url), new URL(own)];
  return (
    asked.protocol === listening.protocol &&
    asked.port === listening.port &&
    (isLoopback(asked.hostname) || asked.hostname === listening.hostname)
  );
}

/** True for a loopback host name, as normalised by `URL`. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

function signatureOf(until: string, { method, url }: OperatorRequest, secret: Uint8Array): string {
  const { origin, pathname, search } = new URL(url);
  return createHmac('sha256', secret)
    .update(`operator ${JSON.stringify([until, method.toUpperCase(), origin, pathname + search])}`)
    .digest('base64url');
}
