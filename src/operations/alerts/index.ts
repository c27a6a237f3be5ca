// Alerts for operators.
export { type Alert, ALERT_TYPES } from './alert.ts';
export { AlertEnds } from './alert-ends.ts';
export { Alerts } from './alerts.ts';
export { Watch } from './watch.ts';
