// Sends alerts to the operator's webhooks: signed, tried again for about an hour, never more than a few at a time. Nobody
// waits for it.
import { GatewayError } from '../canonical/index.ts';
import type { Clock } from '../runtime/clock.ts';
import { newId } from '../runtime/ids.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Secret } from '../telemetry/secret.ts';
import type { GuardedFetch } from '../upstream/fetch-guarded.ts';
import type { Alert, AlertType } from './alert.ts';
import { webhookHeaders } from './sign-webhook.ts';
import { toByteString } from '../lib/byte-string.ts';

export interface Webhook {
  readonly url: string;
  readonly secret: Secret;
  /** What it is told of; null: everything. */
  readonly events: readonly AlertType[] | null;
}

export interface WebhooksOptions {
  /** As they are configured now. */
  readonly webhooks: () => readonly Webhook[];
  readonly fetch: Pick<GuardedFetch, 'fetchWhole'>;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** Pauses before the second try and those that follow, in milliseconds. */
const PAUSES_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000] as const;
/** A receiver that does not answer within this time has failed (Standard Webhooks asks for 15 to 30 seconds). */
const TIMEOUT_MS = 15_000;
/** Of an answer; nobody reads it. */
const MOST_BYTES = 64 * 1024;
/** Messages on their way; those beyond are in the log alone. */
const MOST_PENDING = 200;

interface Message {
  readonly webhook: Webhook;
  readonly id: string;
  readonly type: AlertType;
  readonly body: string;
}

export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #stop = new AbortController();
  /** What calls off the next try of each message that waits for one. */
  readonly #waiting = new Set<() => void>();
  #pending = 0;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** Sends an alert to all who want it. Returns at once. */
  send({ type, message, data }: Alert): void {
    const { webhooks, clock, log } = this.#options;
    const timestamp = new Date(clock.now()).toISOString();
    const body = JSON.stringify({ type, timestamp, data: { message, ...data } });
    for (const webhook of webhooks()) {
      if (webhook.events && !webhook.events.includes(type)) continue;
      if (this.#pending >= MOST_PENDING) {
        log.warn('an alert was not sent: too many are on their way', { type, to: hostOf(webhook) });
        continue;
      }
      this.#pending += 1;
      void this.#try({ webhook, id: newId('msg_'), type, body }, 0);
    }
  }

  /** Sends nothing more, not even what is on its way. */
  stop(): void {
    this.#stop.abort();
    for (const callOff of this.#waiting) callOff();
    this.#waiting.clear();
  }

  async #try(message: Message, tries: number): Promise<void> {
    const failure = await this.#post(message);
    const pause = PAUSES_MS[tries];
    if (this.#stop.signal.aborted) return this.#end();
    const { log, clock, random } = this.#options;
    const { type, id, webhook } = message;
    if (failure === null) {
      log.debug('an alert was delivered', { type, id, to: hostOf(webhook) });
      return this.#end();
    }
    const facts = { type, id, to: hostOf(webhook), tries: tries + 1, failure };
    if (pause === undefined || failure === GONE) {
      log.error('an alert could not be delivered', facts);
      return this.#end();
    }
    log.warn('an alert was not delivered, and is sent again', facts);
    // A quarter more or less: what failed together does not come back together.
    const callOff = clock.after(pause * (0.75 + random() / 2), () => {
      this.#waiting.delete(callOff);
      void this.#try(message, tries + 1);
    });
    this.#waiting.add(callOff);
  }

  /** @returns what went wrong; null: it was taken */
  async #post({ webhook, id, body }: Message): Promise<string | null> {
    const { fetch, clock } = this.#options;
    const seconds = Math.floor(clock.now() / 1000);
    const headers = webhookHeaders(webhook.secret, { id, seconds, body });
    try {
      const { status } = await fetch.fetchWhole(
        {
          url: webhook.url,
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: toByteString(body),
          redirects: 'none',
          maxBytes: MOST_BYTES,
          timeoutMs: TIMEOUT_MS,
        },
        this.#stop.signal,
      );
      if (status >= 200 && status < 300) return null;
      return status === 410 ? GONE : `status ${status}`;
    } catch (error) {
      return GatewayError.from(error).message;
    }
  }

  #end(): void {
    this.#pending -= 1;
  }
}

/** A receiver that says so wants nothing more (Standard Webhooks, "Responding to webhooks"). */
const GONE = 'status 410';

/** Where it goes, for the log: paths of webhooks are often secrets. */
function hostOf({ url }: Webhook): string {
  return new URL(url).host;
}
