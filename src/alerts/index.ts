// Alerts: what operators are told without asking.
export { type Alert, ALERT_TYPES } from './alert.ts';
export { Alerts } from './alerts.ts';
export { SECRET_PREFIX } from './sign-webhook.ts';
export { Watch } from './watch.ts';
export { Webhooks } from './webhooks.ts';
