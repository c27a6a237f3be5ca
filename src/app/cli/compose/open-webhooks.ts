// Opens webhooks: receivers, the queue of messages, and delivery in this process.
import type { Storage } from '../../../accounts/ports/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import { JobRunner } from '../../../engine/index.ts';
import type { Alert } from '../../../operations/alerts/index.ts';
import {
  type ConfiguredWebhook,
  DELIVERY_KIND,
  Endpoints,
  Webhooks,
} from '../../../operations/webhooks/index.ts';
import { ALERT_TYPES } from '../../../operations/alerts/index.ts';
import { PRIORITY } from '../../../accounts/ports/index.ts';
import { GuardedFetch, type GuardedFetchOptions } from '../../../upstream/fetch-guarded.ts';
import { hostAndPort } from '../../../upstream/guard.ts';
import type { Config } from '../../config/index.ts';
import type { Part } from './part.ts';

/** Purpose of the secret that seals the receivers' secrets. */
const SEALING = 'webhooks';
/** Maximum concurrent messages: of one process in total, and to one receiver across processes. */
const MOST_AT_ONCE = 50;
const MOST_OF_ONE = 5;

interface WebhookParts {
  readonly config: () => Config;
  readonly storage: Storage;
  readonly network: Omit<GuardedFetchOptions, 'allow'>;
  /** False once the process is shutting down. */
  readonly takes: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

export interface OpenWebhooks {
  readonly webhooks: Webhooks;
  readonly endpoints: Endpoints;
  /** Checks an address given through the API. @throws GatewayError `invalid_request` */
  readonly checkAddress: (url: string) => Promise<void>;
  /** Sets the function that alerts operators of disabled receivers. */
  readonly alertBy: (raise: (alert: Alert) => Promise<void>) => void;
  readonly part: Part;
}

/** Timeout of resolving a receiver's address, in milliseconds. */
const LOOKUP_MS = 5_000;

/** Receivers of the configuration file. */
export function configuredWebhooks({
  webhooks,
  alerts,
}: Pick<Config, 'webhooks' | 'alerts'>): readonly ConfiguredWebhook[] {
  const ofAlerts = alerts.webhooks.map((each) => ({
    ...each,
    project: null,
    events: each.events ?? ALERT_TYPES,
  }));
  return [...webhooks, ...ofAlerts];
}

export async function openWebhooks(parts: WebhookParts): Promise<OpenWebhooks> {
  const { config, storage, network, takes, clock, random, log } = parts;
  const endpoints = new Endpoints({
    store: storage.webhooks,
    configured: () => configuredWebhooks(config()),
    sealing: [await storage.secret(SEALING), ...(await storage.earlierSecrets(SEALING))],
    now: clock.wall,
  });
  // Addresses in the configuration may be private; those given through the API may not.
  const file = new GuardedFetch({
    ...network,
    allow: () => configuredWebhooks(config()).map(({ url }) => hostAndPort(url)),
  });
  const database = new GuardedFetch({ ...network, allow: () => config().fetch.allow });
  let raise: ((alert: Alert) => Promise<void>) | undefined;
  const webhooks = new Webhooks({
    endpoints,
    store: storage.webhooks,
    jobs: storage.jobs,
    fetch: { file, database },
    wake: () => runner.wake(),
    raise: (alert) => void raise?.(alert),
    clock,
    random,
    log,
  });
  const runner = new JobRunner({
    store: storage.jobs,
    kinds: new Map([[DELIVERY_KIND, (run) => webhooks.deliver(run)]]),
    priority: PRIORITY.interactive,
    limits: () => ({ concurrent: MOST_AT_ONCE, perProject: MOST_OF_ONE }),
    takes,
    clock,
    log,
  });
  return {
    webhooks,
    endpoints,
    checkAddress: (url) => database.check(url, LOOKUP_MS),
    alertBy: (by) => (raise = by),
    part: {
      start: () => runner.start(),
      async stop() {
        webhooks.stop();
        await runner.stop();
      },
    },
  };
}
