// What the engine is given by whoever composes the gateway.
import type { Limits } from '../limits/index.ts';
import type { RoutingState } from '../routing/index.ts';
import type { Clock, Ticker } from '../runtime/clock.ts';
import type { PromptLibrary } from '../state/prompt-library.ts';
import type { Envelope } from '../state/envelope.ts';
import type { Vault } from '../state/vault.ts';
import type { LedgerStore, RunningStore, Storage } from '../storage/ports.ts';
import type { Logger } from '../telemetry/log.ts';
import type { AvailableTools } from '../tools/available-tools.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { AnswerExchange } from './answer/index.ts';
import type { EndUsers } from './end-users.ts';
import type { MediaSources } from './media/index.ts';
import type { EngineSettings } from './settings.ts';
import type { SettlementObserver } from './settlement.ts';
import type { Tapes } from './tape.ts';

export interface GatewayDependencies {
  /** The settings of the current configuration. */
  readonly settings: () => EngineSettings;
  readonly upstream: UpstreamClient;
  readonly routing: RoutingState;
  /** What may be used, and what of it is. */
  readonly limits: Limits;
  /** Answers under idempotency keys that other processes make, or want; null for a process alone. */
  readonly answers: AnswerExchange | null;
  /** What requests have cost that run, for whoever starts after a crash. */
  readonly running: RunningStore;
  readonly ledger: LedgerStore;
  /** Is told of every request that is over. */
  readonly observer: SettlementObserver;
  /** Where what each side sends is noted, for those who want it kept. */
  readonly tapes: Tapes;
  readonly vault: Vault;
  /** What clients let the gateway keep. */
  readonly state: Pick<Storage, 'responses' | 'conversations'>;
  /** Templates that requests name. */
  readonly prompts: PromptLibrary;
  /** Seals reasoning that travels through clients of other families. */
  readonly reasoning: Envelope;
  /** Seals summaries of conversations. */
  readonly compaction: Envelope;
  /** Where the bytes of images and files come from that requests only point to. */
  readonly media: MediaSources;
  /** Tools that the gateway runs itself, as the current configuration has them. */
  readonly tools: () => AvailableTools;
  /** How end users stand in records. */
  readonly endUsers: EndUsers;
  readonly clock: Clock;
  readonly ticker: Ticker;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Masks secrets in text that came from an upstream. */
  readonly redact: (text: string) => string;
}
