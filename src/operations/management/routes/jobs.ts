// The job queue: queued, running and failed jobs; cancelling and retrying them.
import { z } from 'zod';
import { GatewayError, TEXTS, notFound } from '../../../canonical/index.ts';
import type { JobState, JobView } from '../../../accounts/ports/index.ts';
import { recordOfJob } from '../../../engine/index.ts';
import type { JobAdministration } from '../dependencies.ts';
import { keyNames, namesIn } from '../generation-filters.ts';
import { listOf, PAGE, pageWith } from '../page.ts';
import { type RawCall, route, type Route } from '../route.ts';

const STATES = [
  'queued',
  'waiting',
  'running',
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly JobState[];

const time = z.iso.datetime();
const jobSchema = z.object({
  object: z.literal('job'),
  id: z.string(),
  kind: z.string().describe('`response`: a background response.'),
  state: z.enum(STATES).describe('`waiting`: for a limit or budget.'),
  project: z.string(),
  key: z.string().describe('Id of the key.'),
  key_name: z.string().nullable().describe(TEXTS.goneKey),
  model: z.string().nullable().describe('Requested model; null: none or several.'),
  event_type: z
    .string()
    .nullable()
    .describe('Type of the event that a webhook delivery carries; null: no delivery.'),
  generation: z.string().nullable().describe('Id of the record of its last attempt; null: none yet.'),
  priority: z.int().describe('Lower values start first.'),
  attempt: z.int().describe('Number of starts.'),
  cancel_requested: z.boolean(),
  waits_for: z.string().nullable().describe('Reason for waiting.'),
  waits_since: time.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  created_at: time,
  started_at: time.nullable(),
  ended_at: time.nullable(),
  expires_at: time.nullable().describe('Time when it is deleted.'),
});

const countSchema = z.object({
  kind: z.string(),
  state: z.enum(STATES),
  jobs: z.int(),
  oldest_at: time.describe('Time when the oldest job was added.'),
});

export const JOB_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/jobs',
    tag: 'Jobs',
    summary: 'Lists background jobs, newest first.',
    query: z.strictObject({
      limit: PAGE.limit,
      after: PAGE.after,
      state: z
        .string()
        .regex(new RegExp(`^(?:${STATES.join('|')})(?:,(?:${STATES.join('|')}))*$`), {
          error: TEXTS.mustBeSomeOf(STATES),
        })
        .optional()
        .describe('Only jobs in these states, separated by commas.'),
      kind: z.string().max(64).optional().describe('Only jobs of this kind.'),
      project: z.string().max(256).optional().describe('Only jobs of this project.'),
    }),
    answer: listOf(jobSchema),
    run: async ({ deps, keys, query: { state, ...query } }) => {
      const states = namesIn(state) as readonly JobState[] | undefined;
      const { jobs, hasMore } = await deps.jobs.store.list({ ...query, states });
      const names = await namesOf(jobs, keys);
      return pageWith(
        jobs.map((job) => shown(job, names)),
        ({ id }) => id,
        hasMore,
      );
    },
  }),
  route({
    method: 'get',
    path: '/jobs/counts',
    tag: 'Jobs',
    summary: 'Counts jobs by kind and state.',
    answer: z.object({ object: z.literal('list'), data: z.array(countSchema) }),
    run: async ({ deps }) => {
      const counts = await deps.jobs.store.counts();
      const data = counts.map(({ oldestAt, ...count }) => ({ ...count, oldest_at: iso(oldestAt) }));
      return { object: 'list' as const, data };
    },
  }),
  route({
    method: 'get',
    path: '/jobs/{id}',
    tag: 'Jobs',
    summary: 'Returns one job.',
    answer: jobSchema,
    refusals: [404],
    run: async ({ deps, keys, param }) => {
      const job = await jobOf(deps.jobs, param('id'));
      return shown(job, await namesOf([job], keys));
    },
  }),
  route({
    method: 'post',
    path: '/jobs/{id}/cancel',
    tag: 'Jobs',
    summary: 'Cancels a job. A job that has ended does not change.',
    answer: jobSchema,
    refusals: [404],
    run: (call) => changed(call, 'job.cancel', (job) => call.deps.jobs.cancel(job)),
  }),
  route({
    method: 'post',
    path: '/jobs/{id}/retry',
    tag: 'Jobs',
    summary: 'Queues a failed or cancelled job again.',
    description: 'Responds with 409 for a job in another state.',
    answer: jobSchema,
    refusals: [404, 409],
    run: (call) =>
      changed(call, 'job.retry', async ({ id, state }) => {
        if (await call.deps.jobs.retry(id)) return;
        throw new GatewayError(
          'conflict',
          `The job '${id}' is ${state}. Only failed and cancelled jobs can be retried.`,
        );
      }),
  }),
];

/** Changes a job and adds the change to the audit log. */
async function changed(
  { deps, keys, param, record }: RawCall,
  action: string,
  change: (job: JobView) => Promise<unknown>,
): Promise<z.input<typeof jobSchema>> {
  const before = await jobOf(deps.jobs, param('id'));
  await change(before);
  const after = await jobOf(deps.jobs, before.id);
  const stateOf = ({ state, isCancelRequested }: JobView) => ({ state, cancel_requested: isCancelRequested });
  await record({ action, target: before.id, before: stateOf(before), after: stateOf(after) });
  return shown(after, await namesOf([after], keys));
}

async function jobOf({ store }: JobAdministration, id: string): Promise<JobView> {
  const job = await store.get(id);
  if (job) return job;
  throw notFound('Job', id, 'id');
}

function namesOf(jobs: readonly JobView[], keys: RawCall['keys']): Promise<ReadonlyMap<string, string>> {
  return keyNames(
    jobs.map(({ keyId }) => keyId),
    keys,
  );
}

function shown(job: JobView, names: ReadonlyMap<string, string>): z.input<typeof jobSchema> {
  return {
    object: 'job',
    id: job.id,
    kind: job.kind,
    state: job.state,
    project: job.projectId,
    key: job.keyId,
    key_name: names.get(job.keyId) ?? null,
    model: job.model,
    event_type: job.eventType,
    generation: job.endedAt === null ? null : recordOfJob(job),
    priority: job.priority,
    attempt: job.attempt,
    cancel_requested: job.isCancelRequested,
    waits_for: job.waits?.reason ?? null,
    waits_since: job.waits && iso(job.waits.sinceMs),
    error: job.error,
    created_at: iso(job.createdAt),
    started_at: job.startedAt === null ? null : iso(job.startedAt),
    ended_at: job.endedAt === null ? null : iso(job.endedAt),
    expires_at: job.expiresAt === null ? null : iso(job.expiresAt),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
