// All routes of the management API.
import type { Route } from '../route.ts';
import { ALERT_ROUTES } from './alerts.ts';
import { AUDIT_ROUTES } from './audit.ts';
import { BATCH_ROUTES } from './batches.ts';
import { CONFIG_ROUTES } from './config.ts';
import { DIFF_ROUTES } from './diff.ts';
import { DOCTOR_ROUTES } from './doctor.ts';
import { EVENT_ROUTES } from './events.ts';
import { EXPLAIN_ROUTES } from './explain.ts';
import { GENERATION_ROUTES } from './generations.ts';
import { JOB_ROUTES } from './jobs.ts';
import { KEY_ROUTES } from './keys.ts';
import { LIMIT_ROUTES } from './limits.ts';
import { MODEL_ROUTES } from './models.ts';
import { PAYLOAD_ROUTES } from './payloads.ts';
import { PROJECT_ROUTES } from './projects.ts';
import { PROVIDER_ROUTES } from './providers.ts';
import { REPLAY_ROUTES } from './replay.ts';
import { SESSION_ROUTES } from './sessions.ts';
import { USAGE_ROUTES } from './usage.ts';
import { WEBHOOK_ROUTES } from './webhooks.ts';
import { WHAT_IF_ROUTES } from './what-if.ts';

export const ROUTES: readonly Route[] = [
  ...PROJECT_ROUTES,
  ...KEY_ROUTES,
  ...LIMIT_ROUTES,
  ...USAGE_ROUTES,
  ...WHAT_IF_ROUTES,
  ...EXPLAIN_ROUTES,
  ...GENERATION_ROUTES,
  ...PAYLOAD_ROUTES,
  ...DIFF_ROUTES,
  ...REPLAY_ROUTES,
  ...JOB_ROUTES,
  ...BATCH_ROUTES,
  ...WEBHOOK_ROUTES,
  ...EVENT_ROUTES,
  ...ALERT_ROUTES,
  ...MODEL_ROUTES,
  ...PROVIDER_ROUTES,
  ...DOCTOR_ROUTES,
  ...CONFIG_ROUTES,
  ...AUDIT_ROUTES,
  ...SESSION_ROUTES,
];
