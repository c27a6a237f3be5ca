// Alerts for operators.
export { type Alert, ALERT_TYPES } from './alert.ts';
export { AlertEnds } from './alert-ends.ts';
export { Alerts } from './alerts.ts';
export { Watch } from './watch.ts';
export { TOO_LOW } from './watch-budgets.ts';
