// Short-lived tokens by which a command of this machine asks a running gateway: whoever can read the secret of the data
// directory may manage what runs on it. Knows no address and no command.
import { createHmac, timingSafeEqual } from 'node:crypto';

const PREFIX = 'dm-op-v1-';
/** How long a token is good: a command asks at once. */
const LIFETIME_MS = 60_000;
/** How far the clocks of two processes of one machine may be apart. */
const CLOCK_SLACK_MS = 5_000;
const FORM = /^dm-op-v1-([0-9a-z]{1,11})-([\w-]{43})$/;

/**
 * A token that is good for a minute.
 * @param secret `storage.secret('operator')`
 * @param nowMs Unix milliseconds
 */
export function operatorToken(secret: Uint8Array, nowMs: number): string {
  const until = (nowMs + LIFETIME_MS).toString(36);
  return `${PREFIX}${until}-${signatureOf(until, secret)}`;
}

/** True for what has the form of a token, good or not. */
export function looksLikeOperatorToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** True for a token that was made with this secret within its lifetime. */
export function isOperatorToken(text: string, secret: Uint8Array, nowMs: number): boolean {
  const [, until = '', signature = ''] = FORM.exec(text) ?? [];
  if (until === '') return false;
  const expected = Buffer.from(signatureOf(until, secret));
  const isSigned = timingSafeEqual(expected, Buffer.from(signature));
  const left = Number.parseInt(until, 36) - nowMs;
  return isSigned && left > 0 && left <= LIFETIME_MS + CLOCK_SLACK_MS;
}

function signatureOf(until: string, secret: Uint8Array): string {
  return createHmac('sha256', secret).update(`operator ${until}`).digest('base64url');
}
