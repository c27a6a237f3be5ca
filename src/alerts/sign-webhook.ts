// The signature of a webhook (Standard Webhooks 1.0, "Signature scheme", 2026-11): HMAC-SHA256 of id, time and body.
import { createHmac } from 'node:crypto';
import type { Secret } from '../telemetry/secret.ts';

/** Before the base64 of a secret. */
export const SECRET_PREFIX = 'whsec_';

export interface SignedMessage {
  /** The same for every try. */
  readonly id: string;
  /** Of this try, in Unix seconds: receivers refuse what is old. */
  readonly seconds: number;
  readonly body: string;
}

/** The headers that prove who sent it. @param secret with its prefix or without */
export function webhookHeaders(secret: Secret, { id, seconds, body }: SignedMessage): Record<string, string> {
  const text = secret.reveal();
  const key = Buffer.from(text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : text, 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}
