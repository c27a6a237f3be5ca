// Records like those of a busy gateway, for benchmarks of ledgers. The n-th record is always the same except for id
// and time.
import { NO_USAGE } from '../src/canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../src/accounts/ledger/index.ts';
import { newGenerationId } from '../src/base/runtime/ids.ts';
import type { StoredResponse } from '../src/accounts/ports/index.ts';

const KEYS = 40;
const MODELS = [
  'openai/gpt-5',
  'anthropic/claude-opus',
  'google/gemini',
  'mistral/large',
  'openai/mini',
  'meta/llama',
];
const TEXT = 'The caravan left at dawn; its interpreter knew every language spoken on the way. '.repeat(20);
const PRICE = { input: 1.25, output: 10, cache_read: 0.125, source: 'bench' };

/** @param number index of the record */
export function sampleRecord(
  id: string,
  createdAt: number,
  number: number,
): { generation: GenerationRecord; attempts: readonly AttemptRecord[] } {
  const model = MODELS[Math.floor(number / KEYS) % MODELS.length] ?? '';
  const provider = model.slice(0, model.indexOf('/'));
  const uncached = 500 + (number % 997);
  const cacheRead = number % 3 === 0 ? 1024 : 0;
  const text = 50 + (number % 307);
  const usage = {
    ...NO_USAGE,
    input: { ...NO_USAGE.input, uncached, cacheRead },
    output: { ...NO_USAGE.output, text },
    raw: {
      prompt_tokens: uncached + cacheRead,
      completion_tokens: text,
      total_tokens: uncached + cacheRead + text,
    },
  };
  const items = {
    input: (uncached * 1.25) / 1e6,
    ...(cacheRead > 0 && { cache_read: (cacheRead * 0.125) / 1e6 }),
    output: (text * 10) / 1e6,
  };
  const usd = Math.round(Object.values(items).reduce((sum, item) => sum + item, 0) * 1e12) / 1e12;
  const cost = { usd, items, price: PRICE };
  const isFailed = number % 50 === 0;
  const key = `key_${number % KEYS}`;
  const generation: GenerationRecord = {
    id,
    keyId: key,
    projectId: number % 2 === 0 ? key : 'search',
    endUser: null,
    api: 'chat.completions',
    protocol: 'openai-chat',
    requestedModel: model,
    model,
    provider,
    endpoint: provider,
    lane: 'relay',
    streamed: true,
    createdAt,
    firstContentAt: createdAt + 200 + (number % 100),
    endedAt: createdAt + 900 + (number % 2_000),
    status: isFailed ? 502 : 200,
    finishReason: isFailed ? null : 'stop',
    nativeFinishReason: isFailed ? null : 'stop',
    cancelled: false,
    attempts: 1,
    turns: 1,
    replayOf: null,
    usage,
    cost,
    report: [],
    route: null,
    error: isFailed ? { kind: 'upstream_unavailable', message: 'no response', upstreamStatus: 502 } : null,
    metadata: null,
    content: null,
  };
  const attempt: AttemptRecord = {
    id: `${id}-0`,
    generationId: id,
    ordinal: 0,
    provider,
    endpoint: provider,
    model: model.slice(provider.length + 1),
    protocol: 'openai-chat',
    lane: 'relay',
    startedAt: createdAt + 1,
    firstContentAt: generation.firstContentAt,
    endedAt: generation.endedAt,
    outcome: isFailed ? 'failed' : 'completed',
    status: 200,
    upstreamId: `chatcmpl-${number}`,
    error: generation.error,
    usage,
    cost,
  };
  return { generation, attempts: [attempt] };
}

/** A stored response, always of the same project. @param createdAt Unix milliseconds */
export function sampleResponse(createdAt: number): StoredResponse {
  const id = newGenerationId(createdAt);
  return {
    id: `resp_${id}`,
    projectId: 'bench',
    createdAt,
    expiresAt: null,
    previousId: null,
    conversationId: null,
    response: {
      id: `resp_${id}`,
      object: 'response',
      model: 'bench',
      output: [{ id: `out_${id}`, type: 'message', role: 'assistant', content: TEXT }],
    },
    input: [{ id: `msg_${id}`, type: 'message', role: 'user', content: TEXT }],
  };
}
