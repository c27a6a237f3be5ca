// Dependencies of the engine, given by whoever composes the gateway.
import type { TaskFacts } from '../canonical/index.ts';
import type { Limits } from '../accounts/limits/index.ts';
import type { RoutingState } from './routing/index.ts';
import type { Clock, Ticker } from '../base/runtime/clock.ts';
import type { PromptLibrary } from './state/prompt-library.ts';
import type { Envelope } from './state/envelope.ts';
import type { Vault } from './state/vault.ts';
import type { LedgerStore, RunningStore, Storage } from '../accounts/ports/index.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { AvailableTools } from './tools/available-tools.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { AnswerExchange } from './answer/index.ts';
import type { EndUsers } from './end-users.ts';
import type { MediaSources } from './media/index.ts';
import type { EngineSettings } from './settings.ts';
import type { SettlementObserver } from './settlement.ts';
import type { KeptStreams } from './streams/index.ts';
import type { PayloadRecorders } from './payload-recorder.ts';

export interface GatewayDependencies {
  /** The settings of the current configuration. */
  readonly settings: () => EngineSettings;
  readonly upstream: UpstreamClient;
  readonly routing: RoutingState;
  /** Facts of the tasks besides text. */
  readonly tasks: readonly TaskFacts[];
  /** Limits, and what of them is used. */
  readonly limits: Limits;
  /** Answers under idempotency keys that other processes make, or want; null for a process alone. */
  readonly answers: AnswerExchange | null;
  /** Streams that clients can resume. */
  readonly streams: KeptStreams;
  /** Cost of requests that run, for a start after a crash. */
  readonly running: RunningStore;
  readonly ledger: LedgerStore;
  /** Is told of every request that is over. */
  readonly observer: SettlementObserver;
  /** Recorders of the payloads that each side sends, for those who want them kept. */
  readonly recorders: PayloadRecorders;
  readonly vault: Vault;
  /** State that clients let the gateway keep. */
  readonly state: Pick<Storage, 'responses' | 'conversations'>;
  /** Templates that requests name. */
  readonly prompts: PromptLibrary;
  /** Seals reasoning that travels through clients of other families. */
  readonly reasoning: Envelope;
  /** Seals summaries of conversations. */
  readonly compaction: Envelope;
  /** Sources of the bytes of images and files that requests only point to. */
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
