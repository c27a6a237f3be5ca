// Encodes a batch for Google's clients: a long-running operation whose metadata is the batch.
import { asObject, type JsonObject, type MutableJsonObject } from '../../../base/json/index.ts';
import type { BatchStatus } from '../../../canonical/index.ts';
import type { BatchProblem, ShownBatch } from '../../codec/batch-codec.ts';
import { fileNameOf } from '../files/index.ts';
import { GEMINI_BATCH_METHODS, methodOf } from './methods.ts';
import type { UnixMs } from '../../../base/units.ts';

const TYPES = 'type.googleapis.com/google.ai.generativelanguage.v1main.';

/** States of the REST API. Its libraries convert them to `JOB_STATE_…`. */
const STATES: Readonly<Record<BatchStatus, string>> = {
  validating: 'PENDING',
  in_progress: 'RUNNING',
  finalizing: 'RUNNING',
  cancelling: 'RUNNING',
  completed: 'SUCCEEDED',
  failed: 'FAILED',
  expired: 'EXPIRED',
  cancelled: 'CANCELLED',
};
/** google.rpc.Code of operations that did not succeed. */
const FAILURES: Partial<Readonly<Record<BatchStatus, readonly [code: number, message: string]>>> = {
  failed: [3, 'All requests of the batch failed.'],
  expired: [4, 'The batch has expired.'],
  cancelled: [1, 'The batch was cancelled.'],
};

export function encodeBatch(batch: ShownBatch, isoOf: (ms: UnixMs) => string): JsonObject {
  const { facts, status, counts, total, endedAt, waits, problems } = batch;
  const name = `batches/${batch.id}`;
  const requests = total ?? (typeof facts['requests'] === 'number' ? facts['requests'] : 0);
  const ended = counts.succeeded + counts.failed + counts.expired + counts.cancelled;
  const metadata: MutableJsonObject = {
    '@type': typeOf(batch),
    name,
    model: `models/${String(facts['model'])}`,
    displayName: facts['displayName'] ?? '',
    state: `BATCH_STATE_${STATES[status]}`,
    createTime: isoOf(batch.createdAt),
    updateTime: isoOf(endedAt ?? batch.finalizingAt ?? batch.cancelAt ?? batch.beganAt ?? batch.createdAt),
    // Google's JSON has 64-bit numbers as strings.
    batchStats: {
      requestCount: String(requests),
      successfulRequestCount: String(counts.succeeded),
      failedRequestCount: String(counts.failed + counts.expired + counts.cancelled),
      pendingRequestCount: String(Math.max(0, requests - ended)),
    },
  };
  if (endedAt !== null) metadata['endTime'] = isoOf(endedAt);
  // Extensions of the gateway.
  if (batch.costUsd !== null) metadata['cost'] = batch.costUsd;
  if (waits) metadata['waiting'] = { reason: waits.reason, since: isoOf(waits.sinceMs) };
  const operation: MutableJsonObject = { name, metadata, done: endedAt !== null };
  const failure = FAILURES[status];
  if (failure) {
    const [code, message] = failure;
    const [first] = problems;
    operation['error'] = { code, message: messageOf(message, status === 'failed' ? first : undefined) };
  }
  if (batch.outputFile !== null && facts['isInline'] !== true) {
    const output = { responsesFile: fileNameOf(batch.outputFile) };
    metadata['output'] = output;
    if (!failure) operation['response'] = { '@type': `${typeOf(batch)}Output`, ...output };
  }
  return operation;
}

/** @param problem of one line, or of the whole batch */
function messageOf(message: string, problem: BatchProblem | undefined): string {
  if (!problem) return message;
  return problem.line === null ? problem.message : `${message} ${problem.message}`;
}

function typeOf({ facts }: ShownBatch): string {
  return TYPES + methodOf(facts).type;
}

/** True if the results of a batch are in the batch itself. */
export function isInline({ facts, outputFile }: ShownBatch): boolean {
  return facts['isInline'] === true && outputFile !== null;
}

/**
 * Returns the text of a batch around its results, which can be too large for memory. They are inserted, as list
 * elements, between each piece and the next.
 * @param operation the batch without its results
 */
export function aroundResults({ metadata, response: _, ...operation }: JsonObject): readonly string[] {
  const { '@type': batchType } = asObject(metadata);
  const { results } = GEMINI_BATCH_METHODS.find(({ type }) => TYPES + type === batchType) ?? methodOf({});
  const begin = `"${results}":{"inlinedResponses":[`;
  const first = `${open(operation)},"metadata":${open(metadata ?? {})},"output":{${begin}`;
  if (operation['error'] !== undefined) return [first, ']}}}}'];
  // Google's libraries read the first list; its guide describes the second.
  const type = JSON.stringify(`${String(batchType)}Output`);
  return [first, `]}}},"response":{"@type":${type},${begin}`, ']}}}'];
}

/** Returns the JSON of an object with members, without its end. */
function open(value: JsonObject[string]): string {
  return JSON.stringify(value).slice(0, -1);
}
