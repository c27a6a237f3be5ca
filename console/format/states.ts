// Labels and tones of the states of requests, endpoints, providers, keys and others, shared by all pages.

/** Emphasis of a state. `quiet` is plain text without a colour. */
export type Tone = 'quiet' | 'info' | 'warn' | 'bad' | 'idle';

interface StateWord {
  readonly word: string;
  readonly tone: Tone;
}

export const REQUEST_STATES = {
  ok: { word: 'OK', tone: 'quiet' },
  recovered: { word: 'Recovered', tone: 'info' },
  broken_stream: { word: 'Broken stream', tone: 'bad' },
  failed: { word: 'Failed', tone: 'bad' },
  limit_reached: { word: 'Limit reached', tone: 'warn' },
  rejected: { word: 'Rejected', tone: 'warn' },
  cancelled: { word: 'Cancelled', tone: 'idle' },
} as const satisfies Readonly<Record<string, StateWord>>;

/** Ordered from worst to best. */
export const ENDPOINT_STATES = {
  failing: { word: 'Failing', tone: 'bad' },
  degraded: { word: 'Degraded', tone: 'warn' },
  recovering: { word: 'Recovering', tone: 'info' },
  disabled: { word: 'Disabled', tone: 'idle' },
  healthy: { word: 'Healthy', tone: 'quiet' },
  no_traffic: { word: 'No traffic', tone: 'idle' },
} as const satisfies Readonly<Record<string, StateWord>>;

export const KEY_STATES = {
  active: { word: 'Active', tone: 'quiet' },
  expires_soon: { word: 'Expires soon', tone: 'warn' },
  budget_used_up: { word: 'Budget used up', tone: 'bad' },
  budget_too_low: { word: 'Budget too low', tone: 'bad' },
  expired: { word: 'Expired', tone: 'idle' },
  revoked: { word: 'Revoked', tone: 'idle' },
  project_archived: { word: 'Project archived', tone: 'idle' },
} as const satisfies Readonly<Record<string, StateWord>>;

export const JOB_STATES = {
  queued: { word: 'Queued', tone: 'idle' },
  waiting: { word: 'Waiting', tone: 'warn' },
  running: { word: 'Running', tone: 'info' },
  completed: { word: 'Completed', tone: 'quiet' },
  failed: { word: 'Failed', tone: 'bad' },
  cancelled: { word: 'Cancelled', tone: 'idle' },
} as const satisfies Readonly<Record<string, StateWord>>;

/** `waiting`: has not ended and waits for capacity. */
export const BATCH_STATES = {
  validating: { word: 'Validating', tone: 'info' },
  in_progress: { word: 'In progress', tone: 'info' },
  waiting: { word: 'Waiting', tone: 'warn' },
  cancelling: { word: 'Cancelling', tone: 'idle' },
  finalizing: { word: 'Finalizing', tone: 'info' },
  completed: { word: 'Completed', tone: 'quiet' },
  failed: { word: 'Failed', tone: 'bad' },
  expired: { word: 'Expired', tone: 'warn' },
  cancelled: { word: 'Cancelled', tone: 'idle' },
} as const satisfies Readonly<Record<string, StateWord>>;

export const ALERT_STATES = {
  open: { word: 'Open', tone: 'bad' },
  resolved: { word: 'Resolved', tone: 'quiet' },
} as const satisfies Readonly<Record<string, StateWord>>;

export const WEBHOOK_STATES = {
  enabled: { word: 'Enabled', tone: 'quiet' },
  failing: { word: 'Failing', tone: 'bad' },
  disabled: { word: 'Disabled', tone: 'idle' },
} as const satisfies Readonly<Record<string, StateWord>>;

export type RequestState = keyof typeof REQUEST_STATES;
export type EndpointState = keyof typeof ENDPOINT_STATES;
export type KeyState = keyof typeof KEY_STATES;
export type JobState = keyof typeof JOB_STATES;
export type BatchState = keyof typeof BATCH_STATES;
export type AlertState = keyof typeof ALERT_STATES;
export type WebhookState = keyof typeof WEBHOOK_STATES;

const ALERT_KINDS: Readonly<Record<string, string>> = {
  'endpoint.opened': 'Circuit breaker open',
  'provider.key_refused': 'Provider key rejected',
  'ledger.failing': 'Records not written',
  'budget.threshold_reached': 'Budget threshold reached',
};

/** Display text of an alert type. An open circuit breaker means a failing endpoint, or one that is only rate limited. */
export function alertKind(type: string): string {
  return ALERT_KINDS[type] ?? words(type.replaceAll('.', ' '));
}

/** Display text for the origin of a price. @param source as in the API */
export function priceSource(source: string): string {
  return source === 'config' ? 'Set in dragoman.yaml' : words(source);
}

/** Display text of an error kind: `rate_limited` → `Rate limited`. */
export function words(id: string): string {
  const text = id.replaceAll(/[_-]+/g, ' ');
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}
