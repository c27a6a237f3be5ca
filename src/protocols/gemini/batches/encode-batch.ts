// A batch as Google's clients read it: a long-running operation whose metadata is the batch.
import { asObject, type JsonObject, type MutableJsonObject } from '../../../base/json/index.ts';
import type { BatchStatus } from '../../../canonical/index.ts';
import type { ShownBatch } from '../../codec/batch-codec.ts';
import { fileNameOf } from '../files/index.ts';
import { GEMINI_BATCH_METHODS, methodOf } from './methods.ts';
import type { UnixMs } from '../../../base/units.ts';

const TYPES = 'type.googleapis.com/google.ai.generativelanguage.v1main.';

/** Words of the REST interface; its libraries make `JOB_STATE_…` of them. */
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
/** google.rpc.Code for operations without a good end. */
const FAILURES: Partial<Readonly<Record<BatchStatus, readonly [code: number, message: string]>>> = {
  failed: [3, 'None of its requests could be run.'],
  expired: [4, 'The time of the batch is over.'],
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
    // Numbers of 64 bits are strings in Google's JSON.
    batchStats: {
      requestCount: String(requests),
      successfulRequestCount: String(counts.succeeded),
      failedRequestCount: String(counts.failed + counts.expired + counts.cancelled),
      pendingRequestCount: String(Math.max(0, requests - ended)),
    },
  };
  if (endedAt !== null) metadata['endTime'] = isoOf(endedAt);
  // Members of the gateway's own.
  if (batch.costUsd !== null) metadata['cost'] = batch.costUsd;
  if (waits) metadata['waiting'] = { reason: waits.reason, since: isoOf(waits.sinceMs) };
  const operation: MutableJsonObject = { name, metadata, done: endedAt !== null };
  const failure = FAILURES[status];
  if (failure) {
    const [code, message] = failure;
    const [first] = problems;
    operation['error'] = {
      code,
      message: status === 'failed' && first ? `${message} ${first.message}` : message,
    };
  }
  if (batch.outputFile !== null && facts['isInline'] !== true) {
    const output = { responsesFile: fileNameOf(batch.outputFile) };
    metadata['output'] = output;
    if (!failure) operation['response'] = { '@type': `${typeOf(batch)}Output`, ...output };
  }
  return operation;
}

function typeOf({ facts }: ShownBatch): string {
  return TYPES + methodOf(facts).type;
}

/** Whether the results of a batch stand in the batch itself. */
export function isInline({ facts, outputFile }: ShownBatch): boolean {
  return facts['isInline'] === true && outputFile !== null;
}

/**
 * The text of a batch around its results, which may be more than memory should hold: the results stand, as elements of a list, between
 * each piece and the next.
 * @param operation the batch as it is shown without them
 */
export function aroundResults({ metadata, response: _, ...operation }: JsonObject): readonly string[] {
  const { '@type': batchType } = asObject(metadata);
  const { results } = GEMINI_BATCH_METHODS.find(({ type }) => TYPES + type === batchType) ?? methodOf({});
  const begin = `"${results}":{"inlinedResponses":[`;
  const first = `${open(operation)},"metadata":${open(metadata ?? {})},"output":{${begin}`;
  if (operation['error'] !== undefined) return [first, ']}}}}'];
  // Google's libraries read the first list, people who follow its guide the second.
  const type = JSON.stringify(`${String(batchType)}Output`);
  return [first, `]}}},"response":{"@type":${type},${begin}`, ']}}}'];
}

/** The JSON of an object that has members, without its end. */
function open(value: JsonObject[string]): string {
  return JSON.stringify(value).slice(0, -1);
}
