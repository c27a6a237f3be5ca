// What the engine is given by whoever composes the gateway.
import type { RoutingState } from '../routing/index.ts';
import type { Clock, Ticker } from '../runtime/clock.ts';
import type { Vault } from '../state/vault.ts';
import type { LedgerStore } from '../storage/ports.ts';
import type { Logger } from '../telemetry/log.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { EngineSettings } from './settings.ts';

export interface GatewayDependencies {
  /** The settings of the current configuration. */
  readonly settings: () => EngineSettings;
  readonly upstream: UpstreamClient;
  readonly routing: RoutingState;
  readonly ledger: LedgerStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ticker: Ticker;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Masks secrets in text that came from an upstream. */
  readonly redact: (text: string) => string;
}
