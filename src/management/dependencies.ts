// What the management API is given by whoever composes the gateway.
import type { Principal, Tenants } from '../auth/index.ts';
import type { JsonObject, RoutingDefaults } from '../canonical/index.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Diagnosis } from '../doctor/index.ts';
import type { EventHub } from '../events/index.ts';
import type { Limits } from '../limits/index.ts';
import type { PayloadKeeper } from '../payloads/index.ts';
import type { RoutingSettings, RoutingState } from '../routing/index.ts';
import type { Clock } from '../runtime/clock.ts';
import type { BodyReader } from '../server/body/body-reader.ts';
import type { ReplayedAnswer, ReplayedRequest } from '../server/replay.ts';
import type { ReplyDependencies } from '../server/reply.ts';
import type { AuditStore, LedgerStore, UsageStore } from '../storage/ports.ts';

/** The configuration that is in force. */
export interface ConfigurationInForce {
  /** The file it was read from; null: there is none. */
  readonly path: string | null;
  /** Counts up with every configuration that was accepted, from 1. */
  readonly revision: number;
  /** All of it, secrets masked. */
  show(): JsonObject;
}

export interface ManagementDependencies extends Omit<ReplyDependencies, 'authenticate'> {
  /** Who manages. Throws GatewayError `authentication` or `permission`. */
  readonly authenticateAdmin: (header: (name: string) => string | null) => Principal;
  readonly bodies: BodyReader;
  readonly configuration: () => ConfigurationInForce;
  /**
   * What is wrong with the text of a configuration file, each problem with its path in front; none when it could be in
   * force.
   */
  readonly checkDraft: (text: string) => readonly string[];
  readonly catalog: () => Catalog;
  /** What `dragoman doctor` found, of endpoints that are there or were. */
  readonly findings: () => readonly Diagnosis[];
  readonly routing: RoutingState;
  /** What holds when requests say nothing about routing. */
  readonly routingSettings: () => RoutingSettings;
  readonly events: EventHub;
  readonly clock: Clock;
  readonly audit: AuditStore;
  readonly ledger: LedgerStore;
  readonly usage: UsageStore;
  /** What each side of a request sent. */
  readonly payloads: Pick<PayloadKeeper, 'find'>;
  readonly limits: Limits;
  /** Sends a request again. @see replayRequest */
  readonly replay: (request: ReplayedRequest, signal: AbortSignal) => Promise<ReplayedAnswer>;
  /** Throws GatewayError `conflict` for a key that is not good any more. */
  readonly keyById: (keyId: string) => Principal;
  readonly tenants: Omit<Tenants, 'entryOf'>;
  /** Puts changes of keys and projects in force in this process, at once; others see them within two seconds. */
  readonly tenantsChanged: () => Promise<void>;
  /** Throws GatewayError `invalid_request` for routing that names what is not there. */
  readonly checkRouting: (routing: RoutingDefaults) => void;
}
