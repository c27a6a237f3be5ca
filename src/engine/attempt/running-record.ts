// The record of a request as it would be if the process died with it now: kept while it runs, where a budget counts it.
import { GatewayError } from '../../canonical/index.ts';
import type { RunningRecord } from '../../accounts/ports/index.ts';
import { attemptRecord } from './attempt-record.ts';
import type { AttemptInput } from './attempt-input.ts';
import { summariseError } from './error-summary.ts';

/** Longest model name that is kept of it, in characters. */
const MAX_MODEL_CHARS = 256;

/**
 * @param endUser hash of whom it names
 * @param nowMs Unix milliseconds
 */
export function runningRecord(input: AttemptInput, endUser: string | null, nowMs: number): RunningRecord {
  const { requester, prepared } = input;
  const { recordId: id, call, createdAt } = requester.arrival;
  const { endpoint, request, lane } = prepared;
  const error = new GatewayError('internal', 'the gateway was killed while it answered');
  const times = { startedAt: nowMs, endedAt: nowMs, sentAt: null, answeredAt: null, status: null };
  const nothing = { meter: { firstContentAt: null, upstreamId: null }, charge: { usage: null, cost: null } };
  return {
    generation: {
      id,
      keyId: call.principal.keyId,
      projectId: call.principal.projectId,
      endUser,
      api: call.api,
      protocol: call.protocol.name,
      requestedModel: request.model.slice(0, MAX_MODEL_CHARS),
      model: endpoint.modelId,
      provider: endpoint.provider,
      endpoint: endpoint.slug,
      lane,
      streamed: request.stream,
      createdAt,
      firstContentAt: null,
      endedAt: nowMs,
      status: 500,
      finishReason: null,
      nativeFinishReason: null,
      cancelled: false,
      attempts: 1,
      turns: 1,
      replayOf: null,
      usage: null,
      cost: null,
      report: [],
      route: null,
      error: summariseError(error),
      metadata: null,
      content: null,
    },
    attempt: attemptRecord(input, { ordinal: 0 }, { ...times, error, ...nothing }),
    inputTokens: prepared.estimateInput(),
  };
}
