// The body of `GET /generation?id=`.
import { expect, test } from 'bun:test';
import { generationView } from '../../../src/accounts/ledger/generation-view.ts';
import { attempt, COST, generation } from '../../support/storage/storage-records.ts';

test('a record is shown completely, in both spellings', () => {
  const failed = attempt('att-1', 'gen-1', {
    outcome: 'failed',
    status: 529,
    upstreamId: null,
    firstContentAt: null,
    usage: null,
    cost: null,
    error: { kind: 'upstream_unavailable', message: 'overloaded', upstreamStatus: 529 },
  });
  const view = generationView(generation('gen-1', { attempts: 2 }), [
    failed,
    attempt('att-2', 'gen-1', { ordinal: 1 }),
  ]);
  const tokens = {
    prompt_tokens: 1_200,
    completion_tokens: 80,
    total_tokens: 1_280,
    prompt_tokens_details: {
      cached_tokens: 200,
      cache_write_tokens: 0,
      cache_write_5m_tokens: 0,
      cache_write_1h_tokens: 0,
      audio_tokens: 0,
      image_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: 30,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
    tool_calls: { web_search: 2 },
  };
  expect(view).toEqual({
    id: 'gen-1',
    generationId: 'gen-1',
    generation_id: 'gen-1',
    key_id: 'key_a',
    project_id: 'key_a',
    end_user: null,
    api: 'chat.completions',
    model: 'openai/gpt-5',
    createAt: '2023-11-14T22:13:20.000Z',
    created_at: '2023-11-14T22:13:20.000Z',
    generationTime: 700,
    generation_time: 700,
    latency: 300,
    state: 'recovered',
    duration_ms: 1_000,
    first_content_ms: 300,
    tokens: { input: 1_200, output: 80 },
    cost_usd: 0.002,
    unpriced: false,
    attempted: ['openai'],
    nativeTokens: tokens,
    native_tokens: tokens,
    streamed: true,
    finishReason: 'stop',
    finish_reason: 'stop',
    usage: 0.002,
    ratingResponses: {
      billAmount: 0.002,
      discountAmount: 0,
      originAmount: 0.002,
      priceVersion: 'test',
      ratingDetails: [
        { feeItemCode: 'input', rate: 1.25, billAmount: 0.0015, discountAmount: 0, originAmount: 0.0015 },
        { feeItemCode: 'output', rate: 10, billAmount: 0.0005, discountAmount: 0, originAmount: 0.0005 },
      ],
    },
    requestRetryTimes: 1,
    finalRetry: true,
    requested_model: 'gpt-5',
    protocol: 'openai-chat',
    provider: 'openai',
    endpoint: 'openai',
    lane: 'translate',
    turns: 1,
    status: 200,
    native_finish_reason: 'end_turn',
    cancelled: false,
    estimated: false,
    cost: { usd: 0.002, items: COST.items, price: COST.price },
    report: [{ path: 'seed', action: 'dropped', reason: 'the endpoint has no seed' }],
    error: null,
    outcome: 'ok',
    route: null,
    metadata: { team: 'red' },
    attempts: [
      {
        id: 'att-1',
        provider: 'openai',
        endpoint: 'openai',
        model: 'gpt-5-2025',
        protocol: 'openai-responses',
        lane: 'translate',
        outcome: 'failed',
        status: 529,
        upstream_id: null,
        queued_ms: null,
        connect_ms: null,
        headers_ms: null,
        started_at: '2023-11-14T22:13:20.010Z',
        first_content_at: null,
        ended_at: '2023-11-14T22:13:21.000Z',
        started_ms: 10,
        first_content_ms: null,
        generation_ms: null,
        latency: null,
        duration: 990,
        tokens: null,
        cost: null,
        error: { kind: 'upstream_unavailable', message: 'overloaded', upstream_status: 529 },
      },
      {
        id: 'att-2',
        provider: 'openai',
        endpoint: 'openai',
        model: 'gpt-5-2025',
        protocol: 'openai-responses',
        lane: 'translate',
        outcome: 'completed',
        status: 200,
        upstream_id: 'resp_1',
        queued_ms: null,
        connect_ms: null,
        headers_ms: null,
        started_at: '2023-11-14T22:13:20.010Z',
        first_content_at: '2023-11-14T22:13:20.300Z',
        ended_at: '2023-11-14T22:13:21.000Z',
        started_ms: 10,
        first_content_ms: 290,
        generation_ms: 700,
        latency: 290,
        duration: 990,
        tokens,
        cost: { ...COST },
        error: null,
      },
    ],
  });
});

test('unknown cost and tokens are null, and a failure has no latency', () => {
  const error = { kind: 'timeout', message: 'too slow', upstreamStatus: null } as const;
  const view = generationView(
    generation('gen-1', {
      model: null,
      usage: null,
      cost: { usd: null, items: {}, price: null },
      firstContentAt: null,
      error,
      attempts: 0,
    }),
    [],
  );
  expect(view).toMatchObject({
    model: 'gpt-5',
    usage: null,
    ratingResponses: null,
    nativeTokens: null,
    latency: null,
    generation_time: null,
    requestRetryTimes: 0,
    cost: { usd: null },
  });
});

test('the first content of a whole response is its end', () => {
  expect(generationView(generation('gen-1', { firstContentAt: null }), [])).toMatchObject({
    latency: 1_000,
    generationTime: 0,
  });
});

test('content is shown only if it was stored', () => {
  expect('content' in generationView(generation('gen-1'), [])).toBe(false);
  expect(
    generationView(generation('gen-1', { content: { request: { a: 1 }, answer: 'b' } }), [])['content'],
  ).toEqual({ request: { a: 1 }, answer: 'b' });
});
