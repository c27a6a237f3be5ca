// The parts of a record that are needed to route its request again. Small, because thousands are held in memory.
import {
  inputTokens,
  outputTokens,
  type ProtocolName,
  type TaskFacts,
  type Usage,
} from '../../canonical/index.ts';
import { taskOf } from '../../engine/index.ts';
import type { ListedGeneration } from '../../accounts/ports/index.ts';
import type { DurationMs } from '../../base/units.ts';

export interface PastRequest {
  readonly protocol: ProtocolName;
  readonly projectId: string;
  /** As the client wrote it. */
  readonly requestedModel: string;
  /** Model and endpoint that answered. */
  readonly model: string;
  readonly provider: string;
  readonly endpoint: string;
  readonly streamed: boolean;
  /** Absent: text. */
  readonly task?: TaskFacts | undefined;
  readonly usage: Usage | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Cost of the request; null: unknown. */
  readonly usd: number | null;
  /** Included cost of tools. */
  readonly toolsUsd: number;
  /** Milliseconds to the first content of a stream; null: not streamed. */
  readonly firstContentMs: DurationMs | null;
  readonly durationMs: DurationMs;
}

/** Null if no endpoint answered: such a request says nothing about cost. */
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
    task: taskOf(g.api).facts,
    usage: g.usage,
    inputTokens: g.usage ? inputTokens(g.usage) : 0,
    outputTokens: g.usage ? outputTokens(g.usage) : 0,
    usd: g.cost ? g.cost.usd : g.usage ? null : 0,
    toolsUsd: g.cost?.items['tools'] ?? 0,
    firstContentMs: g.streamed && g.firstContentAt !== null ? g.firstContentAt - g.createdAt : null,
    durationMs: g.endedAt - g.createdAt,
  };
}
