// Batches of all projects: progress, cost so far, failed lines, and cancellation.
import { z } from 'zod';
import { type BatchStatus, TEXTS, notFound } from '../../../canonical/index.ts';
import type { Batch, BatchOutcome } from '../../../accounts/ports/index.ts';
import type { BatchProblem } from '../../../protocols/index.ts';
import type { BatchAdministration } from '../dependencies.ts';
import { keyNames, namesIn } from '../generation-filters.ts';
import { listOf, PAGE, pageWith } from '../page.ts';
import { type RawCall, route, type Route } from '../route.ts';
import { isoTime } from '../time.ts';

const STATUSES = [
  'validating',
  'in_progress',
  'cancelling',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelled',
] as const satisfies readonly BatchStatus[];

const OUTCOMES = ['completed', 'failed', 'expired', 'cancelled'] as const satisfies readonly BatchOutcome[];

const time = z.iso.datetime();
const word = `(?:${STATUSES.join('|')})`;

const batchSchema = z.object({
  object: z.literal('batch'),
  id: z.string(),
  protocol: z.string().describe('Protocol of the request that created it.'),
  status: z.enum(STATUSES),
  outcome: z.enum(OUTCOMES).nullable().describe('Null: not ended.'),
  project: z.string(),
  key: z.string().describe('Id of the key.'),
  key_name: z.string().nullable().describe(TEXTS.goneKey),
  lines: z
    .object({
      total: z.int().nullable().describe('Null until the file has been read.'),
      done: z.int().describe('Lines that have ended, with any outcome.'),
      succeeded: z.int(),
      failed: z.int(),
      expired: z.int(),
      cancelled: z.int(),
    })
    .describe('Number of lines.'),
  tokens: z.object({
    input: z.int(),
    cached: z.int().describe('Part of `input`.'),
    output: z.int(),
    reasoning: z.int().describe('Part of `output`.'),
  }),
  cost_usd: z.number().describe('Cost in USD so far, of lines with a known price.'),
  unpriced_lines: z.int().describe('Lines with an unknown price.'),
  problems: z
    .array(
      z.object({
        code: z.string(),
        message: z.string(),
        param: z.string().nullable(),
        line: z.int().nullable().describe('Line number in the file, from 1; null: the whole file.'),
      }),
    )
    .describe('The first 100 problems found before any line ran.'),
  input_file: z.string(),
  output_file: z.string().nullable(),
  error_file: z.string().nullable(),
  waits_for: z.string().nullable().describe('Reason for waiting.'),
  waits_since: time.nullable(),
  created_at: time,
  began_at: time.nullable().describe('Time when its first line could run.'),
  deadline_at: time.describe('Time when it expires.'),
  cancel_requested_at: time.nullable(),
  ended_at: time.nullable(),
  expires_at: time.nullable().describe('Time when it is deleted.'),
});

const failureSchema = z.object({
  object: z.literal('batch.failure'),
  line: z.int().describe('Line number in the file, from 1.'),
  custom_id: z.string().nullable(),
  generation: z.string().nullable().describe('Id of its record; null: no upstream was called.'),
  status: z.int().nullable().describe('HTTP status of its response; null: no response.'),
  code: z.string(),
  message: z.string(),
});

const countSchema = z.object({ status: z.enum(STATUSES), batches: z.int() });

export const BATCH_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/batches',
    tag: 'Batches',
    summary: 'Lists batches of all projects and protocols, newest first.',
    query: z.strictObject({
      limit: PAGE.limit,
      after: PAGE.after,
      status: z
        .string()
        .regex(new RegExp(`^${word}(?:,${word})*$`), {
          error: TEXTS.mustBeSomeOf(STATUSES),
        })
        .optional()
        .describe('Only batches with these statuses, separated by commas.'),
      protocol: z.string().max(64).optional().describe('Only batches of this protocol.'),
      project: z.string().max(256).optional().describe('Only batches of this project.'),
    }),
    answer: listOf(batchSchema),
    run: async ({ deps, keys, query: { status, ...query } }) => {
      const statuses = namesIn(status) as readonly BatchStatus[] | undefined;
      const { batches, hasMore } = await deps.batches.store.search({ ...query, statuses });
      const names = await namesOf(batches, keys);
      return pageWith(
        batches.map((batch) => shown(batch, names)),
        ({ id }) => id,
        hasMore,
      );
    },
  }),
  route({
    method: 'get',
    path: '/batches/counts',
    tag: 'Batches',
    summary: 'Counts batches by status.',
    answer: z.object({ object: z.literal('list'), data: z.array(countSchema) }),
    run: async ({ deps }) => ({ object: 'list' as const, data: [...(await deps.batches.store.counts())] }),
  }),
  route({
    method: 'get',
    path: '/batches/{id}',
    tag: 'Batches',
    summary: 'Returns one batch.',
    answer: batchSchema,
    refusals: [404],
    run: async ({ deps, keys, param }) => {
      const batch = await batchOf(deps.batches, param('id'));
      return shown(batch, await namesOf([batch], keys));
    },
  }),
  route({
    method: 'get',
    path: '/batches/{id}/failures',
    tag: 'Batches',
    summary: 'Lists failed lines of a batch, in file order.',
    description:
      'The first 1,000 failed lines are kept as long as the batch. The error file contains all of them.',
    query: z.strictObject({
      limit: PAGE.limit,
      after: z
        .string()
        .regex(/^\d{1,9}$/, { error: 'must be a line number' })
        .optional()
        .describe('Return the page after this line: the `last_id` of a page.'),
    }),
    answer: listOf(failureSchema),
    refusals: [404],
    run: async ({ deps, param, query: { limit, after = '0' } }) => {
      const { store } = deps.batches;
      const { id } = await batchOf(deps.batches, param('id'));
      const found = await store.failures(id, Number(after), limit + 1);
      return pageWith(
        found.slice(0, limit).map(({ number, name, ...failure }) => ({
          object: 'batch.failure' as const,
          line: number,
          custom_id: name,
          ...failure,
        })),
        ({ line }) => String(line),
        found.length > limit,
      );
    },
  }),
  route({
    method: 'post',
    path: '/batches/{id}/cancel',
    tag: 'Batches',
    summary: 'Cancels a batch. A batch that has ended does not change.',
    description: 'Running lines have 30 seconds to finish. Finished lines are in the output file.',
    answer: batchSchema,
    refusals: [404],
    run: async ({ deps, keys, param, record }) => {
      const before = await batchOf(deps.batches, param('id'));
      await deps.batches.cancel(before);
      const after = await batchOf(deps.batches, before.id);
      const statusOf = ({ status }: Batch) => ({ status });
      if (before.outcome === null)
        await record({
          action: 'batch.cancel',
          target: before.id,
          before: statusOf(before),
          after: statusOf(after),
        });
      return shown(after, await namesOf([after], keys));
    },
  }),
];

async function batchOf({ store }: BatchAdministration, id: string): Promise<Batch> {
  const batch = await store.get(id);
  if (batch) return batch;
  throw notFound('Batch', id, 'id');
}

function namesOf(batches: readonly Batch[], keys: RawCall['keys']): Promise<ReadonlyMap<string, string>> {
  return keyNames(
    batches.map(({ keyId }) => keyId),
    keys,
  );
}

function shown(batch: Batch, names: ReadonlyMap<string, string>): z.input<typeof batchSchema> {
  const { counts, spend, waits, problems } = batch;
  return {
    object: 'batch',
    id: batch.id,
    protocol: batch.protocol,
    status: batch.status,
    outcome: batch.outcome,
    project: batch.projectId,
    key: batch.keyId,
    key_name: names.get(batch.keyId) ?? null,
    lines: {
      total: batch.total,
      done: counts.succeeded + counts.failed + counts.expired + counts.cancelled,
      ...counts,
    },
    tokens: {
      input: spend.inputTokens,
      cached: spend.cachedTokens,
      output: spend.outputTokens,
      reasoning: spend.reasoningTokens,
    },
    cost_usd: spend.usd,
    unpriced_lines: spend.unpriced,
    problems: problems === null ? [] : [...(JSON.parse(problems) as readonly BatchProblem[])],
    input_file: batch.inputFile,
    output_file: batch.outputFile,
    error_file: batch.errorFile,
    waits_for: waits?.reason ?? null,
    waits_since: isoTime(waits?.sinceMs ?? null),
    created_at: iso(batch.createdAt),
    began_at: isoTime(batch.beganAt),
    deadline_at: iso(batch.deadlineAt),
    cancel_requested_at: isoTime(batch.cancelAt),
    ended_at: isoTime(batch.endedAt),
    expires_at: isoTime(batch.expiresAt),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
