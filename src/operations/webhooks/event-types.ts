// Types of events that receivers can ask for: those of projects, and alerts.
import { PROJECT_EVENTS } from '../../accounts/ports/index.ts';
import { ALERT_TYPES } from '../alerts/index.ts';

export const EVENT_TYPES = [...PROJECT_EVENTS, ...ALERT_TYPES] as const;

/** Type of an event that is sent on request. Every receiver gets it. */
export const TEST_EVENT = 'webhook.test';
