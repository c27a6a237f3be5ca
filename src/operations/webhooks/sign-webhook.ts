// Webhook signature: HMAC-SHA256 over id, timestamp and body (Standard Webhooks 1.0, "Signature scheme", 2026-11).
import { createHmac } from 'node:crypto';
import type { Secret } from '../../base/telemetry/secret.ts';

/** Prefix of base64 secrets. */
export const SECRET_PREFIX = 'whsec_';

export interface SignedMessage {
  /** The same for every attempt. */
  readonly id: string;
  /** Unix seconds of this attempt. Receivers reject old timestamps. */
  readonly seconds: number;
  readonly body: string;
}

/**
 * Signature headers.
 * @param secrets each adds a signature, so that receivers can verify with either one during a rotation; with or without
 * prefix
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
