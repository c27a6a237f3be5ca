// Receivers of webhooks that are managed by API, and how receivers fare, those of the configuration file included.
import type { UnixMs } from '../../base/units.ts';

export interface StoredWebhook {
  /** `whk_…` */
  readonly id: string;
  /** Project whose events it gets; null: events of all projects, and alerts. */
  readonly projectId: string | null;
  readonly url: string;
  readonly description: string | null;
  /** Types of events that it gets; null: all. */
  readonly events: readonly string[] | null;
  /** Its secrets, sealed. */
  readonly secrets: Uint8Array;
  readonly createdAt: UnixMs;
}

export type WebhookChange = {
  readonly [Member in Exclude<keyof StoredWebhook, 'id' | 'projectId' | 'createdAt'>]?:
    | StoredWebhook[Member]
    | undefined;
};

export interface WebhookHealth {
  /** Time since which deliveries fail; null: the last one did not. */
  readonly failingSince: UnixMs | null;
  /** Time since which it is sent nothing, and the reason; null: it is enabled. */
  readonly disabled: { readonly at: UnixMs; readonly reason: string } | null;
}

export interface WebhookStore {
  /** False where its project, or the gateway, has `most` already. */
  insert(webhook: StoredWebhook, most: number): Promise<boolean>;
  find(id: string): Promise<StoredWebhook | null>;
  /** In the order of their making. */
  all(): Promise<readonly StoredWebhook[]>;
  /** Receivers that get events of a project, or of the gateway. */
  receiving(projectId: string | null): Promise<readonly StoredWebhook[]>;
  /** As it is now; null where there is none. */
  update(id: string, change: WebhookChange): Promise<StoredWebhook | null>;
  /** False where there is none. */
  delete(id: string): Promise<boolean>;
  /** Health of receivers that ever failed; others are healthy. */
  health(ids: readonly string[]): Promise<ReadonlyMap<string, WebhookHealth>>;
  /** A delivery failed. @returns since when all have */
  failed(id: string, nowMs: UnixMs): Promise<UnixMs>;
  /** A delivery succeeded, or it is to be tried anew: it is enabled, and not failing. */
  recovered(id: string): Promise<void>;
  /** False where it was disabled before. */
  disable(id: string, reason: string, nowMs: UnixMs): Promise<boolean>;
}
