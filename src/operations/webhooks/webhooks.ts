// Delivers events to webhook receivers in the background: queued as jobs, signed, retried for three days, and logged.
import type {
  Announcement,
  Announcer,
  Job,
  JobStep,
  JobStore,
  JobView,
  NewJob,
  WebhookStore,
} from '../../accounts/ports/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { newId } from '../../base/runtime/ids.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { JobOutcome, JobRun } from '../../engine/index.ts';
import type { GuardedFetch } from '../../upstream/fetch-guarded.ts';
import type { Alert } from '../alerts/index.ts';
import {
  decodeDelivery,
  type Delivery,
  DELIVERY_KIND,
  deliveryJob,
  eventBody,
  GONE,
  messageId,
  pauseAfter,
  post,
  WINDOW_MS,
} from './delivery.ts';
import { type Endpoints, wants, type WebhookEndpoint } from './endpoints.ts';
import { TEST_EVENT } from './event-types.ts';
import type { UnixMs } from '../../base/units.ts';

/** Maximum undelivered messages per receiver. Further ones are only written to the gateway's log. */
const MOST_OPEN = 10_000;
/** Maximum messages sent without the queue while the database is unavailable, and attempts for each. */
const MOST_DIRECT = 200;
const MOST_DIRECT_TRIES = 6;

export interface WebhooksOptions {
  readonly endpoints: Endpoints;
  readonly store: Pick<WebhookStore, 'failed' | 'recovered' | 'disable'>;
  readonly jobs: JobStore;
  /** By source of the receiver's URL. */
  readonly fetch: Readonly<Record<WebhookEndpoint['source'], Pick<GuardedFetch, 'fetchWhole'>>>;
  /** Wakes the job runner after deliveries were added. */
  readonly wake: () => void;
  /** Raises an alert for a disabled receiver. */
  readonly raise: (alert: Alert) => void;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** A delivery and its logged steps. */
export interface LoggedDelivery {
  readonly job: Job;
  readonly steps: readonly JobStep[];
}

export class Webhooks implements Announcer {
  readonly #options: WebhooksOptions;
  readonly #stop = new AbortController();
  /** Messages being sent without the queue. */
  #direct = 0;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  async announce(event: Announcement): Promise<void> {
    try {
      await this.#options.jobs.addAll(await this.deliveriesOf(event));
    } catch (error) {
      // Alerts may be about the database itself, so they are sent without the queue. Announcements of project events
      // are retried by their callers.
      if (event.projectId !== null) throw error;
      return this.#sendDirectly(event);
    }
    this.wake();
  }

  async deliveriesOf(event: Announcement): Promise<readonly NewJob[]> {
    const { endpoints, jobs, clock, log } = this.#options;
    const receivers = await endpoints.receiving(event);
    if (receivers.length === 0) return [];
    const nowMs = clock.wall();
    const body = eventBody(event, Math.floor(nowMs / 1000));
    const added: NewJob[] = [];
    for (const endpoint of receivers) {
      const message = messageId(event, endpoint);
      const { type } = event;
      if ((await jobs.openOf(endpoint.id)) >= MOST_OPEN)
        log.error('a webhook message was not queued: too many messages to this webhook are undelivered', {
          type,
          id: message,
          to: hostOf(endpoint),
        });
      else
        added.push(
          deliveryJob(message, { endpoint: endpoint.id, message, type, body, isAsked: false }, nowMs),
        );
    }
    return added;
  }

  wake(): void {
    this.#options.wake();
  }

  /** Stops sending messages that are not in the queue. */
  stop(): void {
    this.#stop.abort();
  }

  /** Makes one attempt. */
  async deliver({ job, store, cancellation }: JobRun): Promise<JobOutcome> {
    const { endpoints, fetch, clock } = this.#options;
    const delivery = decodeDelivery(job.payload);
    const endpoint = await endpoints.find(delivery.endpoint);
    if (!endpoint) return failed('webhook_deleted', 'The webhook has been deleted.');
    const { disabled, failingSince } = await endpoints.healthOf(endpoint.id);
    if (disabled && !delivery.isAsked)
      return failed(
        'webhook_disabled',
        'The webhook has been disabled. Enable it and send this message again.',
      );
    let attempt: Awaited<ReturnType<typeof post>>;
    try {
      attempt = await post(delivery, endpoint, fetch[endpoint.source], clock, cancellation.signal);
    } catch {
      // It is unknown whether the receiver accepted it. The next runner sends it again, with the same id.
      return job.isCancelRequested ? { end: { state: 'cancelled' } } : null;
    }
    const name = `try:${String(job.attempt).padStart(6, '0')}`;
    if (!(await store.step(job.id, job.fence, { name, detail: JSON.stringify(attempt) }))) return null;
    if (attempt.failure === null) {
      this.#note('debug', 'webhook message delivered', delivery, endpoint);
      if (failingSince !== null && !disabled) await this.#options.store.recovered(endpoint.id);
      return { end: { state: 'completed' } };
    }
    return this.#afterFailure(job, delivery, endpoint, attempt.failure, attempt.answer?.status === GONE);
  }

  async #afterFailure(
    job: JobRun['job'],
    delivery: Delivery,
    endpoint: WebhookEndpoint,
    failure: string,
    isGone: boolean,
  ): Promise<JobOutcome> {
    const { store, clock, random } = this.#options;
    const nowMs = clock.wall();
    const failingSince = await store.failed(endpoint.id, nowMs);
    const pause = isGone ? null : pauseAfter(job.attempt, nowMs - job.createdAt, random());
    if (pause !== null && !delivery.isAsked) {
      this.#note('warn', 'webhook message not delivered; it will be sent again', delivery, endpoint, failure);
      return { wait: { reason: failure, forMs: pause, hasBegun: true } };
    }
    this.#note('error', 'webhook message could not be delivered', delivery, endpoint, failure);
    if (isGone || nowMs - failingSince >= WINDOW_MS) await this.#disable(endpoint, failure, nowMs);
    return failed('not_delivered', failure);
  }

  async #disable(endpoint: WebhookEndpoint, reason: string, nowMs: UnixMs): Promise<void> {
    const { store, raise } = this.#options;
    if (!(await store.disable(endpoint.id, reason, nowMs))) return;
    const to = hostOf(endpoint);
    raise({
      type: 'webhook.disabled',
      id: `webhook ${endpoint.id} ${nowMs}`,
      quietMs: Infinity,
      isNoted: true,
      message: `the webhook to ${to} is disabled: ${reason}`,
      data: { webhook: endpoint.id, project: endpoint.projectId, host: to, reason },
    });
  }

  /** Sends a test event of a type, with an id that refers to nothing. */
  async test(endpoint: WebhookEndpoint, type: string = TEST_EVENT): Promise<JobView> {
    const id = newId('evt_');
    const event = { id, type, projectId: endpoint.projectId, data: { id: 'test' } };
    const body = eventBody(event, Math.floor(this.#options.clock.wall() / 1000));
    const message = messageId(event, endpoint);
    return this.#add(message, { endpoint: endpoint.id, message, type, body, isAsked: true });
  }

  /** Sends a message again with the same `webhook-id`. Null: the receiver has no such delivery. */
  async redeliver(endpoint: WebhookEndpoint, id: string): Promise<JobView | null> {
    const before = await this.delivery(endpoint.id, id);
    if (!before) return null;
    return this.#add(newId('msg_'), { ...decodeDelivery(before.job.payload), isAsked: true });
  }

  async #add(id: string, delivery: Delivery): Promise<JobView> {
    const job = await this.#options.jobs.add(
      deliveryJob(id, delivery, this.#options.clock.wall()),
      MOST_OPEN,
    );
    this.wake();
    return job;
  }

  /** Enables a disabled receiver. */
  enable(endpointId: string): Promise<void> {
    return this.#options.store.recovered(endpointId);
  }

  /** Deliveries to a receiver, newest first. */
  deliveries(
    endpointId: string,
    page: { readonly limit: number; readonly after?: string | undefined },
  ): ReturnType<JobStore['list']> {
    return this.#options.jobs.list({ ...page, kind: DELIVERY_KIND, project: endpointId });
  }

  async delivery(endpointId: string, id: string): Promise<LoggedDelivery | null> {
    const { jobs } = this.#options;
    const job = await jobs.find(endpointId, id);
    return job?.kind === DELIVERY_KIND ? { job, steps: await jobs.steps(id) } : null;
  }

  /** Sends an event to receivers of the configuration file without the queue. Lost if this process ends. */
  #sendDirectly(event: Announcement): void {
    const { endpoints, clock, log } = this.#options;
    const body = eventBody(event, Math.floor(clock.wall() / 1000));
    for (const endpoint of endpoints.configured()) {
      if (!wants(endpoint, event)) continue;
      const message = messageId(event, endpoint);
      const delivery = { endpoint: endpoint.id, message, type: event.type, body, isAsked: false };
      if (this.#direct >= MOST_DIRECT) {
        log.error('webhook message not sent: too many deliveries are running', {
          type: event.type,
          id: message,
        });
        continue;
      }
      this.#direct += 1;
      void this.#tryDirectly(delivery, endpoint, 1).finally(() => (this.#direct -= 1));
    }
  }

  async #tryDirectly(delivery: Delivery, endpoint: WebhookEndpoint, attempt: number): Promise<void> {
    const { fetch, clock, random } = this.#options;
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const tried = await post(delivery, endpoint, fetch.file, clock, signal).catch(() => null);
    if (tried === null || tried.failure === null) return;
    const pause = pauseAfter(attempt, 0, random());
    if (pause === null || attempt >= MOST_DIRECT_TRIES) {
      this.#note('error', 'webhook message could not be delivered', delivery, endpoint, tried.failure);
      return;
    }
    this.#note(
      'warn',
      'webhook message not delivered; it will be sent again',
      delivery,
      endpoint,
      tried.failure,
    );
    await new Promise<void>((resolve) => {
      const callOff = clock.after(pause, resolve);
      const stopped = (): void => {
        callOff();
        resolve();
      };
      signal.addEventListener('abort', stopped, { once: true });
    });
    return this.#tryDirectly(delivery, endpoint, attempt + 1);
  }

  #note(
    level: 'debug' | 'warn' | 'error',
    message: string,
    { type, message: id }: Delivery,
    endpoint: WebhookEndpoint,
    failure?: string,
  ): void {
    const facts = { type, id, to: hostOf(endpoint), ...(failure !== undefined && { failure }) };
    this.#options.log[level](message, facts);
  }
}

function failed(code: string, message: string): JobOutcome {
  return { end: { state: 'failed', error: { code, message } } };
}

/** Host for logs. The rest of a webhook URL is often secret. */
function hostOf({ url }: WebhookEndpoint): string {
  return new URL(url).host;
}
