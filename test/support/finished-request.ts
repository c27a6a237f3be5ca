// Requests that are over, as observers are told of them.
import type { FinishedRequest } from '../../src/engine/index.ts';
import { NO_USAGE } from '../../src/canonical/index.ts';

export interface SettledRequest {
  readonly model?: string;
  readonly keyName?: string;
  readonly usd?: number | null;
}

/** A request that one attempt answered with a stream. */
export function finishedRequest({
  model = 'a/b',
  keyName = 'key',
  usd = 0,
}: SettledRequest = {}): FinishedRequest {
  const id = '0'.repeat(32);
  const usage = { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: 10 } };
  const cost = { usd, items: {}, price: null };
  const times = { firstContentAt: 1_200, endedAt: 2_000 };
  return {
    generation: {
      ...times,
      id,
      keyId: 'key_1',
      projectId: 'project',
      endUser: null,
      api: 'chat.completions',
      protocol: 'openai-chat',
      requestedModel: model,
      model,
      provider: 'a',
      endpoint: 'a',
      lane: 'relay',
      streamed: true,
      createdAt: 1_000,
      status: 200,
      finishReason: 'stop',
      nativeFinishReason: 'stop',
      cancelled: false,
      attempts: 1,
      turns: 1,
      replayOf: null,
      usage,
      cost,
      report: [],
      route: null,
      error: null,
      metadata: null,
      content: null,
    },
    attempts: [
      {
        ...times,
        id: `${id}-0`,
        generationId: id,
        ordinal: 0,
        provider: 'a',
        endpoint: 'a',
        model: 'b',
        protocol: 'openai-chat',
        lane: 'relay',
        startedAt: 1_010,
        outcome: 'completed',
        status: 200,
        upstreamId: 'chatcmpl-1',
        error: null,
        usage,
        cost,
      },
    ],
    models: [model],
    toolRuns: [],
    trace: null,
    principal: {
      keyId: 'key_1',
      projectId: 'project',
      roles: ['models'],
      name: keyName,
      expiresAt: null,
      mayUse: () => true,
      logContent: false,
      strict: null,
      onDisconnect: null,
      limits: [],
      routing: null,
    },
  };
}
