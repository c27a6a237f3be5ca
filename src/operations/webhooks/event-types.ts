// Event types that receivers can subscribe to: those of projects, and alerts.
import { PROJECT_EVENTS } from '../../accounts/ports/index.ts';
import { ALERT_TYPES } from '../alerts/index.ts';

export const EVENT_TYPES = [...PROJECT_EVENTS, ...ALERT_TYPES] as const;

/** Type of test events, which every receiver gets on request. */
export const TEST_EVENT = 'webhook.test';
