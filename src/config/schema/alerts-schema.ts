// The `alerts` part of the configuration file: whom to tell. What is told says `alerts/`.
import { z } from 'zod';
import { ALERT_TYPES, SECRET_PREFIX } from '../../alerts/index.ts';
import { orNull, secret } from '../in-program.ts';

/** 24 to 64 bytes in base64 (Standard Webhooks 1.0, "Signature scheme", 2026-11). */
const SECRET = new RegExp(`^${SECRET_PREFIX}[A-Za-z0-9+/]{32,86}={0,2}$`);

const webhookSchema = z.strictObject({
  url: z
    .string()
    .regex(/^https?:\/\/[^\s/]+/, 'must be an http or https address')
    .describe('Where alerts are POSTed to. It may be within your own network.'),
  secret: secret(
    z.string().regex(SECRET, `must be \`${SECRET_PREFIX}\` and 24 to 64 bytes in base64`),
  ).describe('Signs them, as Standard Webhooks says: `whsec_` and 24 to 64 bytes in base64.'),
  events: orNull(z.array(z.enum(ALERT_TYPES)).min(1)).describe('What it is told of. Default: everything.'),
});

export const alertsSchema = z
  .strictObject({
    webhooks: z.array(webhookSchema).max(20).default([]).describe('Receivers of alerts. See docs/alerts.md.'),
  })
  .prefault({})
  .describe('Who is told of spent budgets, failing endpoints and keys, and a failing ledger.');
