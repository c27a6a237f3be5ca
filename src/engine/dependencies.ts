// Dependencies of the engine, supplied by the composition root.
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
import type { RequestObserver } from './finished-request.ts';
import type { KeptStreams } from './streams/index.ts';
import type { PayloadRecorders } from './payload-recorder.ts';

export interface GatewayDependencies {
  /** Settings of the current configuration. */
  readonly settings: () => EngineSettings;
  readonly upstream: UpstreamClient;
  readonly routing: RoutingState;
  /** Properties of the tasks other than text. */
  readonly tasks: readonly TaskFacts[];
  /** Limits and their usage. */
  readonly limits: Limits;
  /** Sharing of answers under idempotency keys between processes. Null: there is a single process. */
  readonly answers: AnswerExchange | null;
  /** Streams that clients can resume. */
  readonly streams: KeptStreams;
  /** Cost of running requests, for recovery after a crash. */
  readonly running: RunningStore;
  readonly ledger: LedgerStore;
  /** Notified of every finished request. */
  readonly observer: RequestObserver;
  /** Recorders of payloads, for keys that log them. */
  readonly recorders: PayloadRecorders;
  readonly vault: Vault;
  /** State that clients store in the gateway. */
  readonly state: Pick<Storage, 'responses' | 'conversations'>;
  /** Prompt templates that requests name. */
  readonly prompts: PromptLibrary;
  /** Seals reasoning that passes through clients of other model families. */
  readonly reasoning: Envelope;
  /** Seals conversation summaries. */
  readonly compaction: Envelope;
  /** Loads images and files that requests reference. */
  readonly media: MediaSources;
  /** Tools run by the gateway, in the current configuration. */
  readonly tools: () => AvailableTools;
  /** Hashes end users for records. */
  readonly endUsers: EndUsers;
  readonly clock: Clock;
  readonly ticker: Ticker;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Masks secrets in text that came from an upstream. */
  readonly redact: (text: string) => string;
}
