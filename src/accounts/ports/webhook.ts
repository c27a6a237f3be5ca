// Port of webhook receivers created by API, and of the health of all receivers, including those of the configuration file.
import type { UnixMs } from '../../base/units.ts';

export interface StoredWebhook {
  /** `whk_…` */
  readonly id: string;
  /** Project whose events it receives; null: events of all projects, and alerts. */
  readonly projectId: string | null;
  readonly url: string;
  readonly description: string | null;
  /** Types of events that it receives; null: all. */
  readonly events: readonly string[] | null;
  /** Encrypted secrets. */
  readonly secrets: Uint8Array;
  readonly createdAt: UnixMs;
}

export type WebhookChange = {
  readonly [Member in Exclude<keyof StoredWebhook, 'id' | 'projectId' | 'createdAt'>]?:
    | StoredWebhook[Member]
    | undefined;
};

export interface WebhookHealth {
  /** Time since which deliveries fail; null: the last one succeeded. */
  readonly failingSince: UnixMs | null;
  /** Time and reason of its deactivation; null: enabled. */
  readonly disabled: { readonly at: UnixMs; readonly reason: string } | null;
}

export interface WebhookStore {
  /** @returns false if its project, or the gateway, already has `most` receivers */
  insert(webhook: StoredWebhook, most: number): Promise<boolean>;
  find(id: string): Promise<StoredWebhook | null>;
  /** All receivers in order of creation. */
  all(): Promise<readonly StoredWebhook[]>;
  /** Receivers of the events of a project, or of the gateway. */
  receiving(projectId: string | null): Promise<readonly StoredWebhook[]>;
  /** @returns the changed receiver; null if it does not exist */
  update(id: string, change: WebhookChange): Promise<StoredWebhook | null>;
  /** @returns false if it does not exist */
  delete(id: string): Promise<boolean>;
  /** Health of receivers that have failed before; all others are healthy. */
  health(ids: readonly string[]): Promise<ReadonlyMap<string, WebhookHealth>>;
  /** Records a failed delivery. @returns time since which all have failed */
  failed(id: string, nowMs: UnixMs): Promise<UnixMs>;
  /** Marks a receiver as enabled and healthy, after a successful delivery or to try it again. */
  recovered(id: string): Promise<void>;
  /** @returns false if it was already disabled */
  disable(id: string, reason: string, nowMs: UnixMs): Promise<boolean>;
}
