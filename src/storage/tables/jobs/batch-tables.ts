// Tables of batches, of their finished lines, and of lines that are being processed.
import { sql } from 'kysely';
import type { Batch, BatchOutcome } from '../../../accounts/ports/index.ts';
import type { BatchStatus } from '../../../canonical/index.ts';
import { NEVER } from '../sizes.ts';
import { type RowIn, table } from '../table.ts';

/** All times are Unix milliseconds by the database's clock. */
export const BATCHES = table({
  name: 'batches',
  columns: {
    row: 'row',
    id: 'id',
    project_id: 'id',
    key_id: 'id',
    protocol: 'id',
    input_file: 'id',
    facts: 'text',
    created_at: 'number',
    deadline_at: 'number',
    expires_at: 'number',
    total: 'number?',
    succeeded: 'number',
    failed: 'number',
    expired: 'number',
    cancelled: 'number',
    input_tokens: 'number',
    cached_tokens: 'number',
    output_tokens: 'number',
    reasoning_tokens: 'number',
    usd: 'real',
    unpriced: 'number',
    began_at: 'number?',
    cancel_at: 'number?',
    finalizing_at: 'number?',
    ended_at: 'number?',
    outcome: 'id?',
    output_file: 'id?',
    error_file: 'id?',
    problems: 'text?',
    /** 1: its lines still have to be deleted. */
    has_lines: 'small',
  },
  key: ['row'],
  unique: [['id']],
  indexes: {
    batches_of_project: ['project_id', 'protocol', 'row'],
    batches_by_input: ['input_file'],
    batches_by_expiry: ['expires_at', 'row'],
    batches_with_lines: ['has_lines', 'ended_at'],
  },
  since: 3,
});

export const BATCH_LINES = table({
  name: 'batch_lines',
  columns: { batch_id: 'id', number: 'number', kind: 'id', result: 'bytes' },
  key: ['batch_id', 'number'],
  since: 3,
});

/** Lines whose requests were sent to an upstream. */
export const BATCH_ASKED = table({
  name: 'batch_asked',
  columns: { batch_id: 'id', number: 'number', detail: 'text' },
  key: ['batch_id', 'number'],
  since: 3,
});

/** Failed lines for operators, at most `KEPT_FAILURES` per batch. */
export const BATCH_FAILURES = table({
  name: 'batch_failures',
  columns: {
    batch_id: 'id',
    number: 'number',
    name: 'text?',
    generation: 'id?',
    status: 'small?',
    code: 'id',
    message: 'text',
  },
  key: ['batch_id', 'number'],
  since: 4,
});

/** Status of a batch as clients see it. */
export const BATCH_STATUS = sql<BatchStatus>`case
  when b.outcome is not null then b.outcome
  when b.cancel_at is not null then 'cancelling'
  when b.finalizing_at is not null then 'finalizing'
  when b.began_at is not null then 'in_progress'
  else 'validating' end`;

/** A batch joined with its job. */
export type BatchRow = RowIn<typeof BATCHES> & {
  readonly status: BatchStatus;
  readonly state: string | null;
  readonly waits_for: string | null;
  readonly waits_since: number | null;
};

export function decodeBatch(row: BatchRow): Batch {
  const { waits_for: reason, waits_since: sinceMs } = row;
  // A batch that has not begun still waits while its job looks whether it may begin.
  const isWaiting = row.state === 'waiting' || (row.began_at === null && row.ended_at === null);
  const ended = row.succeeded + row.failed + row.expired + row.cancelled;
  return {
    id: row.id,
    projectId: row.project_id,
    keyId: row.key_id,
    protocol: row.protocol,
    inputFile: row.input_file,
    facts: row.facts,
    createdAt: row.created_at,
    deadlineAt: row.deadline_at,
    expiresAt: row.expires_at === NEVER ? null : row.expires_at,
    // A batch that ended before it began was never counted, so all of its lines have ended.
    total: row.total ?? (row.ended_at === null ? null : ended),
    counts: {
      succeeded: row.succeeded,
      failed: row.failed,
      expired: row.expired,
      cancelled: row.cancelled,
    },
    spend: {
      inputTokens: row.input_tokens,
      cachedTokens: row.cached_tokens,
      outputTokens: row.output_tokens,
      reasoningTokens: row.reasoning_tokens,
      usd: row.usd,
      unpriced: row.unpriced,
    },
    beganAt: row.began_at,
    cancelAt: row.cancel_at,
    finalizingAt: row.finalizing_at,
    endedAt: row.ended_at,
    outcome: row.outcome as BatchOutcome | null,
    status: row.status,
    outputFile: row.output_file,
    errorFile: row.error_file,
    problems: row.problems,
    waits: isWaiting && reason !== null && sinceMs !== null ? { reason, sinceMs } : null,
  };
}
