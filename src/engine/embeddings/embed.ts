// One request for embeddings on its way through the engine: decoded, planned, tried, settled, answered. Like a request
// for text, but nothing is streamed, stored or hydrated.
import { type EmbeddingsRequest, GatewayError, type JsonObject, Report } from '../../canonical/index.ts';
import type { DecodedEmbeddings } from '../../protocols/index.ts';
import { allow, planFor, type Planned } from '../admit/index.ts';
import { answerHeaders, refuse } from '../answer/index.ts';
import type { Arrival } from '../arrival.ts';
import type { ApiCall } from '../call.ts';
import type { Cancellation } from '../cancellation.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { tryCandidates } from '../failover/index.ts';
import { settle } from '../settle/index.ts';
import { Trail } from '../trail.ts';
import type { Visit } from '../visit.ts';
import { type EmbeddingAnswer, type EmbeddingInput, EmbeddingTask, inputTokensOf } from './embedding-task.ts';

/**
 * Answers one request for embeddings. Never rejects.
 * @returns true when the client has a complete, good answer; false when it was told of a failure, or has left
 */
export async function answerEmbeddings(
  arrival: Arrival,
  visit: Visit,
  deps: GatewayDependencies,
): Promise<boolean> {
  const { id, call } = arrival;
  const trail = new Trail();
  let decoded: DecodedEmbeddings | undefined;
  let plan: Planned | undefined;
  let answer: EmbeddingAnswer | undefined;
  let failure: GatewayError | undefined;
  let body: JsonObject | undefined;
  visit.begin(deps.ticker);
  try {
    decoded = decodeEmbeddings(call);
    const { request, asked, encode } = decoded;
    plan = planFor(arrival, request, longestInput(asked), deps);
    const asking = allow(plan, () => inputTokensOf(asked), deps);
    if (asking) await asking;
    answer = await tried({ planned: plan, trail, deps, asked }, visit.cancellation);
    body = encode({
      vectors: answer.vectors,
      usage: answer.usage,
      model: answer.by.at(-1)?.endpoint.modelId ?? request.model,
      costUsd: request.gateway.includeUsage === true ? trail.costUsd() : undefined,
    });
  } catch (thrown) {
    failure = GatewayError.from(thrown);
    if (failure.kind === 'internal') deps.log.error('request failed', { id, error: thrown });
  } finally {
    visit.end();
  }
  const turns = answer?.by ?? [];
  const report = answer?.report ?? decoded?.request.report ?? new Report();
  const { left } = visit;
  const outcome = { arrival, trail, request: decoded?.request, route: plan?.route ?? null };
  // A batch in several parts is one request all the same.
  settle({ ...outcome, turns, turnCount: 1, report, failure, cancelled: left, content: null }, false, deps);
  const confirmed = deps.ledger.confirmed();
  if (confirmed) await confirmed;
  if (left) return false;
  if (failure || !body) {
    refuse({ arrival, trail, report }, failure ?? new GatewayError('internal', 'internal error'));
    return false;
  }
  const headers = answerHeaders(arrival, trail.attempts.length, turns.at(-1), report);
  headers['content-type'] = 'application/json';
  call.client.respond(200, headers, JSON.stringify(body), 'text');
  return true;
}

/** The answer of whoever gave one. Throws GatewayError. */
async function tried(input: EmbeddingInput, cancellation: Cancellation): Promise<EmbeddingAnswer> {
  const task = new EmbeddingTask(input);
  const { planned, deps } = input;
  const failure = cancellation.reason ?? (await tryCandidates(task, { planned, deps, cancellation }));
  if (failure) throw failure;
  if (!task.answer) throw new TypeError('an answer that no attempt gave');
  return task.answer;
}

/** A request for embeddings in the client's protocol. Throws GatewayError naming every offending field. */
export function decodeEmbeddings({
  protocol,
  json,
  route,
}: Pick<ApiCall, 'protocol' | 'json' | 'route'>): DecodedEmbeddings {
  const { embeddings } = protocol.server;
  if (!embeddings) throw new TypeError(`clients of ${protocol.name} have no embeddings`);
  return embeddings.decodeRequest(json, route);
}

/** Each input stands for itself: the longest, in characters, is what must fit into a model's context. */
export function longestInput(asked: readonly EmbeddingsRequest[]): number {
  let longest = 0;
  for (const { inputs } of asked) for (const { length } of inputs) longest = Math.max(longest, length);
  return longest;
}
