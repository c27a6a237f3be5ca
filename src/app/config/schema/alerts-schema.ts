// The `webhooks` and `alerts` sections of the configuration file. `operations/webhooks` delivers events.
import { TEXTS } from '../../../canonical/index.ts';
import { inProgram, orNull, secret } from '../../../catalog/schema/index.ts';
import { z } from 'zod';
import { projectNameSchema } from '../../../accounts/schema/index.ts';
import { ALERT_TYPES } from '../../../operations/alerts/index.ts';
import { EVENT_TYPES, SECRET_PREFIX } from '../../../operations/webhooks/index.ts';

/** 24 to 64 bytes in base64 (Standard Webhooks 1.0, "Signature scheme", 2026-11). */
const SECRET = new RegExp(`^${SECRET_PREFIX}[A-Za-z0-9+/]{32,86}={0,2}$`);

const signingSecret = secret(
  z.string().regex(SECRET, `must be \`${SECRET_PREFIX}\` and 24 to 64 bytes in base64`),
);

const receiver = {
  url: z
    .string()
    .regex(/^https?:\/\/[^\s/]+/, TEXTS.mustBeHttpAddress)
    .describe('URL to which events are sent by POST. May be in your own network.'),
  secret: signingSecret.describe(
    'Signing secret of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64.',
  ),
  previous_secret: orNull(signingSecret).describe(
    'Previous secret, which also signs while receivers change to the new one.',
  ),
};

export const webhooksSchema = z
  .array(
    inProgram(
      z.strictObject({
        ...receiver,
        project: orNull(projectNameSchema).describe(
          'Project whose events it receives. Default: events of all projects, and alerts.',
        ),
        events: orNull(z.array(z.enum(EVENT_TYPES)).min(1)).describe(
          'Types of events that it receives. Default: all.',
        ),
      }),
    ),
  )
  .max(100)
  .prefault([])
  .describe(
    'Receivers of events: finished background responses and batches, and alerts. See docs/webhooks.md.',
  );

export const alertsSchema = z
  .strictObject({
    webhooks: z
      .array(
        inProgram(
          z.strictObject({
            ...receiver,
            events: orNull(z.array(z.enum(ALERT_TYPES)).min(1)).describe(
              'Types of alerts that it receives. Default: all.',
            ),
          }),
        ),
      )
      .max(20)
      .prefault([])
      .describe('Receivers of alerts only. See docs/alerts.md.'),
  })
  .prefault({})
  .describe('Receivers of alerts: spent budgets, failing endpoints and keys, a failing ledger.');
