// States, always shown as an icon, a word and a colour. Successful states have no colour, so that problems stand out.
import type { ReactNode } from 'react';
import {
  ALERT_STATES,
  type AlertState as Alert,
  BATCH_STATES,
  type BatchState as Batch,
  ENDPOINT_STATES,
  type EndpointState as Endpoint,
  JOB_STATES,
  type JobState as Job,
  KEY_STATES,
  type KeyState as Key,
  REQUEST_STATES,
  type RequestState as Request,
  type Tone,
  WEBHOOK_STATES,
  type WebhookState as Webhook,
} from '../format/states.ts';
import { cx } from './cx.ts';
import { Icon, type IconName } from './icon.tsx';

const TONES: Readonly<Record<Tone, string>> = {
  quiet: 'text-soft',
  info: 'bg-info-wash px-1.5 text-info',
  warn: 'bg-warn-wash px-1.5 text-warn',
  bad: 'bg-bad-wash px-1.5 text-bad',
  idle: 'bg-sunk px-1.5 text-soft',
};

interface SignalProps {
  readonly tone: Tone;
  readonly icon?: IconName;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}

/** A word with an icon and a colour. */
export function Signal({ tone, icon, title, children }: SignalProps): ReactNode {
  return (
    <span
      title={title}
      className={cx(
        'figures inline-flex h-5 items-center gap-1 rounded align-middle text-xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {icon && <Icon name={icon} size={12} />}
      {children}
    </span>
  );
}

const REQUEST_ICONS: Readonly<Record<Request, IconName>> = {
  ok: 'good',
  recovered: 'recovered',
  broken_stream: 'broken',
  failed: 'bad',
  limit_reached: 'limit',
  rejected: 'reject',
  cancelled: 'left',
};

interface RequestStatusProps {
  readonly state: Request;
  /** HTTP status that the client received. */
  readonly status: number;
}

/** Outcome of a request, with the HTTP status if it is informative. */
export function RequestStatus({ state, status }: RequestStatusProps): ReactNode {
  const { word, tone } = REQUEST_STATES[state];
  const hasCode = state === 'ok' || state === 'failed' || state === 'rejected' || state === 'limit_reached';
  return (
    <Signal tone={tone} icon={REQUEST_ICONS[state]}>
      {hasCode ? `${word} ${status}` : word}
    </Signal>
  );
}

const ENDPOINT_ICONS: Readonly<Record<Endpoint, IconName>> = {
  failing: 'bad',
  degraded: 'warn',
  recovering: 'recovered',
  disabled: 'disabled',
  healthy: 'good',
  no_traffic: 'idle',
};

/** Health of an endpoint or provider. @param children additional text, like an error code */
export function EndpointStatus({
  state,
  children,
}: {
  readonly state: Endpoint;
  readonly children?: ReactNode;
}): ReactNode {
  const { word, tone } = ENDPOINT_STATES[state];
  if (state === 'healthy')
    return (
      <Signal tone={tone}>
        <span aria-hidden="true" className="mx-0.5 size-1.5 rounded-full bg-ok" />
        {word}
        {children}
      </Signal>
    );
  return (
    <Signal tone={tone} icon={ENDPOINT_ICONS[state]}>
      {word}
      {children}
    </Signal>
  );
}

const JOB_ICONS: Readonly<Record<Job, IconName>> = {
  queued: 'clock',
  waiting: 'wait',
  running: 'pulse',
  completed: 'good',
  failed: 'bad',
  cancelled: 'left',
};

/** State of a job. @param title why it waits or failed */
export function JobStatus({
  state,
  title,
}: {
  readonly state: Job;
  readonly title?: string | undefined;
}): ReactNode {
  const { word, tone } = JOB_STATES[state];
  return (
    <Signal tone={tone} icon={JOB_ICONS[state]} title={title}>
      {word}
    </Signal>
  );
}

const BATCH_ICONS: Readonly<Record<Batch, IconName>> = {
  validating: 'clock',
  in_progress: 'pulse',
  waiting: 'wait',
  cancelling: 'left',
  finalizing: 'pulse',
  completed: 'good',
  failed: 'bad',
  expired: 'clock',
  cancelled: 'left',
};

/** State of a batch. @param title why it waits */
export function BatchStatus({
  state,
  title,
}: {
  readonly state: Batch;
  readonly title?: string | undefined;
}): ReactNode {
  const { word, tone } = BATCH_STATES[state];
  return (
    <Signal tone={tone} icon={BATCH_ICONS[state]} title={title}>
      {word}
    </Signal>
  );
}

const ALERT_ICONS: Readonly<Record<Alert, IconName>> = { open: 'warn', resolved: 'good' };

/** State of an alert: open or resolved. */
export function AlertStatus({ state }: { readonly state: Alert }): ReactNode {
  const { word, tone } = ALERT_STATES[state];
  return (
    <Signal tone={tone} icon={ALERT_ICONS[state]}>
      {word}
    </Signal>
  );
}

const WEBHOOK_ICONS: Readonly<Record<Webhook, IconName>> = {
  enabled: 'good',
  failing: 'bad',
  disabled: 'disabled',
};

/** State of a webhook. */
export function WebhookStatus({ state }: { readonly state: Webhook }): ReactNode {
  const { word, tone } = WEBHOOK_STATES[state];
  return (
    <Signal tone={tone} icon={WEBHOOK_ICONS[state]}>
      {word}
    </Signal>
  );
}

const KEY_ICONS: Readonly<Record<Key, IconName>> = {
  active: 'good',
  expires_soon: 'clock',
  budget_used_up: 'limit',
  budget_too_low: 'limit',
  expired: 'clock',
  revoked: 'reject',
  project_archived: 'disabled',
};

/** State of a key. */
export function KeyStatus({ state }: { readonly state: Key }): ReactNode {
  const { word, tone } = KEY_STATES[state];
  return (
    <Signal tone={tone} icon={KEY_ICONS[state]}>
      {word}
    </Signal>
  );
}
