// Sample records for the tests of storage and ledger.
import type { JsonObject } from '../../../src/base/json/index.ts';
import { NO_USAGE, type Usage } from '../../../src/canonical/index.ts';
import type { AttemptRecord, Cost, GenerationRecord } from '../../../src/accounts/ledger/record.ts';
import type { StoredResponse } from '../../../src/accounts/ports/index.ts';

export const USAGE: Usage = {
  ...NO_USAGE,
  input: { ...NO_USAGE.input, uncached: 1_000, cacheRead: 200 },
  output: { ...NO_USAGE.output, text: 50, reasoning: 30 },
  tools: { web_search: 2 },
  raw: { prompt_tokens: 1_200, completion_tokens: 80 },
};
export const COST: Cost = {
  usd: 0.002,
  items: { input: 0.0015, output: 0.0005 },
  price: { input: 1.25, output: 10, source: 'test' },
};

export function generation(id: string, over: Partial<GenerationRecord> = {}): GenerationRecord {
  return {
    id,
    keyId: 'key_a',
    projectId: 'key_a',
    endUser: null,
    api: 'chat.completions',
    protocol: 'openai-chat',
    requestedModel: 'gpt-5',
    model: 'openai/gpt-5',
    provider: 'openai',
    endpoint: 'openai',
    lane: 'translate',
    streamed: true,
    createdAt: 1_700_000_000_000,
    firstContentAt: 1_700_000_000_300,
    endedAt: 1_700_000_001_000,
    status: 200,
    finishReason: 'stop',
    nativeFinishReason: 'end_turn',
    cancelled: false,
    attempts: 1,
    turns: 1,
    replayOf: null,
    usage: USAGE,
    cost: COST,
    report: [{ path: 'seed', action: 'dropped', reason: 'the endpoint has no seed' }],
    route: null,
    error: null,
    metadata: { team: 'red' },
    content: null,
    ...over,
  };
}

export function attempt(id: string, generationId: string, over: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    id,
    generationId,
    ordinal: 0,
    provider: 'openai',
    endpoint: 'openai',
    model: 'gpt-5-2025',
    protocol: 'openai-responses',
    lane: 'translate',
    startedAt: 1_700_000_000_010,
    firstContentAt: 1_700_000_000_300,
    endedAt: 1_700_000_001_000,
    outcome: 'completed',
    status: 200,
    upstreamId: 'resp_1',
    error: null,
    usage: USAGE,
    cost: COST,
    ...over,
  };
}

/** A stored response with one input and one output message, whose ids are made from its own. */
export function storedResponse(id: string, over: Partial<StoredResponse> = {}): StoredResponse {
  const tail = id.slice(id.indexOf('_') + 1);
  return {
    id,
    projectId: 'key_a',
    createdAt: 1_000,
    expiresAt: 2_000,
    previousId: null,
    conversationId: null,
    response: { id, object: 'response', output: [message(`msg_${tail}_1`, 'ho')] },
    input: [message(`msg_${tail}_0`, 'hi')],
    ...over,
  };
}

export function message(id: string, text: string): JsonObject {
  return { id, type: 'message', content: [{ type: 'input_text', text }] };
}
