// Webhook receivers from the configuration file and from the API. Secrets are stored sealed, and shown only once.
import { createHash, randomBytes } from 'node:crypto';
import type {
  Announcement,
  StoredWebhook,
  WebhookChange,
  WebhookHealth,
  WebhookStore,
} from '../../accounts/ports/index.ts';
import { newId } from '../../base/runtime/ids.ts';
import { Secret } from '../../base/telemetry/secret.ts';
import { GatewayError } from '../../canonical/index.ts';
import { openWithAny, seal } from '../../engine/state/seal.ts';
import { SECRET_PREFIX } from './sign-webhook.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Maximum number of receivers per project, and of the operator. */
const MOST_ENDPOINTS = 20;
const SECRET_BYTES = 32;

/** A receiver in the configuration file. */
export interface ConfiguredWebhook {
  readonly url: string;
  readonly project: string | null;
  readonly events: readonly string[] | null;
  readonly secret: Secret;
  readonly previousSecret: Secret | null;
}

export interface WebhookEndpoint {
  readonly id: string;
  readonly source: 'file' | 'database';
  /** Project whose events it receives; null: events of all projects, and alerts. */
  readonly projectId: string | null;
  readonly url: string;
  readonly description: string | null;
  /** Event types that it receives; null: all. */
  readonly events: readonly string[] | null;
  /** Active signing secrets, newest first. */
  readonly secrets: readonly Secret[];
  /** Unix milliseconds; null: unknown. */
  readonly createdAt: UnixMs | null;
}

export interface EndpointsOptions {
  readonly store: WebhookStore;
  /** Current receivers of the configuration file. */
  readonly configured: () => readonly ConfiguredWebhook[];
  /** 32-byte keys that seal the secrets, newest first. */
  readonly sealing: readonly Uint8Array[];
  readonly now: () => UnixMs;
}

/** A secret before it is sealed. @property until Unix milliseconds; null: until it is replaced */
interface KeptSecret {
  readonly secret: string;
  readonly until: UnixMs | null;
}

export type NewEndpoint = Pick<StoredWebhook, 'projectId' | 'url' | 'description' | 'events'>;

/** An endpoint and its newest secret, which is shown once. */
export interface Issued {
  readonly endpoint: WebhookEndpoint;
  readonly secret: Secret;
}

export class Endpoints {
  readonly #options: EndpointsOptions;

  constructor(options: EndpointsOptions) {
    this.#options = options;
  }

  configured(): readonly WebhookEndpoint[] {
    return this.#options.configured().map(({ url, project, events, secret, previousSecret }) => ({
      id: `whk_${createHash('sha256')
        .update(JSON.stringify([project, url]))
        .digest('hex')
        .slice(0, 24)}`,
      source: 'file',
      projectId: project,
      url,
      description: null,
      events,
      secrets: previousSecret ? [secret, previousSecret] : [secret],
      createdAt: null,
    }));
  }

  async find(id: string): Promise<WebhookEndpoint | null> {
    const configured = this.configured().find((each) => each.id === id);
    if (configured) return configured;
    const stored = await this.#options.store.find(id);
    return stored && this.#decode(stored);
  }

  /** Receivers of the file first, then stored ones in order of creation. */
  async all(): Promise<readonly WebhookEndpoint[]> {
    return [...this.configured(), ...(await this.#options.store.all()).map((each) => this.#decode(each))];
  }

  async healthOf(id: string): Promise<WebhookHealth> {
    return (await this.#options.store.health([id])).get(id) ?? HEALTHY;
  }

  /** Enabled receivers of an event. */
  async receiving(event: Announcement): Promise<readonly WebhookEndpoint[]> {
    const { store } = this.#options;
    const stored = (await store.receiving(event.projectId)).map((each) => this.#decode(each));
    const asked = [...this.configured(), ...stored].filter((each) => wants(each, event));
    const health = await store.health(asked.map(({ id }) => id));
    return asked.filter(({ id }) => !health.get(id)?.disabled);
  }

  /** @throws GatewayError `conflict` if the maximum number is reached */
  async create(made: NewEndpoint): Promise<Issued> {
    const { store, now } = this.#options;
    const secret = newSecret();
    const id = newId('whk_');
    const stored = { ...made, id, secrets: this.#seal(id, [{ secret, until: null }]), createdAt: now() };
    if (!(await store.insert(stored, MOST_ENDPOINTS)))
      throw new GatewayError(
        'conflict',
        `${made.projectId === null ? 'The gateway' : `The project "${made.projectId}"`} already has ${MOST_ENDPOINTS} webhooks, the maximum. Delete one first.`,
      );
    return { endpoint: this.#decode(stored), secret: new Secret(secret) };
  }

  /** Null: no such receiver is stored. */
  async change(id: string, change: Omit<WebhookChange, 'secrets'>): Promise<WebhookEndpoint | null> {
    const stored = await this.#options.store.update(id, change);
    return stored && this.#decode(stored);
  }

  /** Creates a new secret. The previous one keeps signing for `keepMs`; earlier ones stop immediately. */
  async rotate(id: string, keepMs: DurationMs): Promise<Issued | null> {
    const { store, now } = this.#options;
    const before = await store.find(id);
    if (!before) return null;
    const secret = newSecret();
    const [last] = this.#open(before);
    const earlier = last && keepMs > 0 ? [{ secret: last.secret, until: now() + keepMs }] : [];
    const secrets = this.#seal(id, [{ secret, until: null }, ...earlier]);
    const stored = await store.update(id, { secrets });
    return stored && { endpoint: this.#decode(stored), secret: new Secret(secret) };
  }

  delete(id: string): Promise<boolean> {
    return this.#options.store.delete(id);
  }

  #seal(id: string, secrets: readonly KeptSecret[]): Uint8Array {
    const [key = new Uint8Array(32)] = this.#options.sealing;
    return seal(key, Buffer.from(JSON.stringify(secrets)), id);
  }

  #open({ id, secrets }: StoredWebhook): readonly KeptSecret[] {
    const plain = openWithAny(this.#options.sealing, secrets, id);
    return plain ? (JSON.parse(Buffer.from(plain).toString()) as readonly KeptSecret[]) : [];
  }

  #decode(stored: StoredWebhook): WebhookEndpoint {
    const { id, projectId, url, description, events, createdAt } = stored;
    const now = this.#options.now();
    const valid = this.#open(stored).filter(({ until }) => until === null || until > now);
    const secrets = valid.map(({ secret }) => new Secret(secret));
    return { id, source: 'database', projectId, url, description, events, secrets, createdAt };
  }
}

const HEALTHY: WebhookHealth = { failingSince: null, disabled: null };

/** True if an endpoint subscribed to an event and has access to it. */
export function wants(
  { projectId, events }: Pick<WebhookEndpoint, 'projectId' | 'events'>,
  event: Pick<Announcement, 'projectId' | 'type'>,
): boolean {
  return (
    (projectId === null || projectId === event.projectId) && (events === null || events.includes(event.type))
  );
}

function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}
