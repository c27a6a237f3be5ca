// The signature of a webhook (Standard Webhooks 1.0, "Signature scheme", 2026-11): HMAC-SHA256 of id, time and body.
import { createHmac } from 'node:crypto';
import type { Secret } from '../../base/telemetry/secret.ts';

/** Before the base64 of a secret. */
export const SECRET_PREFIX = 'whsec_';

export interface SignedMessage {
  /** The same for every try. */
  readonly id: string;
  /** Time of this try, in Unix seconds: receivers refuse old ones. */
  readonly seconds: number;
  readonly body: string;
}

/**
 * Headers that prove who sent it.
 * @param secrets each signs: while a secret is replaced, receivers know either. With their prefix or without.
 */
export function webhookHeaders(
  secrets: readonly Secret[],
  { id, seconds, body }: SignedMessage,
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const text = secret.reveal();
    const bare = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : text;
    const key = Buffer.from(bare, 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  };
}
