// What a record says of a request that matters to another decision about it. Small: thousands are held at once.
import { inputTokens, outputTokens, type ProtocolName, type Usage } from '../canonical/index.ts';
import type { ListedGeneration } from '../storage/ports.ts';

export interface PastRequest {
  readonly protocol: ProtocolName;
  readonly projectId: string;
  /** As the client wrote it. */
  readonly requestedModel: string;
  /** The model and the endpoint that answered. */
  readonly model: string;
  readonly provider: string;
  readonly endpoint: string;
  readonly streamed: boolean;
  readonly isEmbedding: boolean;
  readonly usage: Usage | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What it cost; null: unknown. */
  readonly usd: number | null;
  /** What tools cost in it. */
  readonly toolsUsd: number;
  /** Milliseconds to the first content of a stream; null where there is none. */
  readonly firstContentMs: number | null;
  readonly durationMs: number;
}

/** Null for one that nobody answered: where it would have gone says nothing. */
export function pastRequest({ generation: g }: ListedGeneration): PastRequest | null {
  if (g.model === null || g.provider === null || g.endpoint === null || g.error) return null;
  return {
    protocol: g.protocol,
    projectId: g.projectId,
    requestedModel: g.requestedModel,
    model: g.model,
    provider: g.provider,
    endpoint: g.endpoint,
    streamed: g.streamed,
    isEmbedding: g.api === 'embeddings',
    usage: g.usage,
    inputTokens: g.usage ? inputTokens(g.usage) : 0,
    outputTokens: g.usage ? outputTokens(g.usage) : 0,
    usd: g.cost ? g.cost.usd : g.usage ? null : 0,
    toolsUsd: g.cost?.items['tools'] ?? 0,
    firstContentMs: g.streamed && g.firstContentAt !== null ? g.firstContentAt - g.createdAt : null,
    durationMs: g.endedAt - g.createdAt,
  };
}
