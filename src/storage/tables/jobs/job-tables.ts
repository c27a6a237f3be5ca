// Tables of jobs, of their steps, and of their streams.
import { sql } from 'kysely';
import type { HeldJob, Job, JobState, JobView, NewJob } from '../../../accounts/ports/index.ts';
import { parseJson } from '../../../base/json/index.ts';
import { NEVER } from '../sizes.ts';
import { type RowIn, table } from '../table.ts';

/** Milliseconds for which a job waits for its own process after that has become silent. */
export const OWN_PROCESS_MS = 10_000;

/** All times are Unix milliseconds by the database's clock. */
export const JOBS = table({
  name: 'jobs',
  columns: {
    row: 'row',
    id: 'id',
    kind: 'id',
    project_id: 'id',
    key_id: 'id',
    state: 'id',
    priority: 'small',
    /** Position among jobs of the same priority: virtual time of a fair queue over projects. */
    turn: 'real',
    lane: 'id?',
    home: 'id?',
    /** Time from which it may be claimed: end of the lease of a running job, next attempt of a waiting one. */
    run_after: 'number',
    attempt: 'small',
    /** Number of expired leases. Null: none. */
    deaths: 'small?',
    lease_owner: 'id?',
    fence: 'number',
    /** 1: cancellation is requested. */
    cancel: 'small',
    waits_for: 'text?',
    waits_since: 'number?',
    error_code: 'text?',
    error_message: 'text?',
    created_at: 'number',
    started_at: 'number?',
    ended_at: 'number?',
    expires_at: 'number',
    payload: 'text',
  },
  key: ['row'],
  unique: [['id']],
  indexes: {
    jobs_in_turn: ['state', 'priority', 'turn', 'row'],
    jobs_due: ['state', 'run_after'],
    jobs_of_project: ['project_id', 'state', 'priority', 'turn'],
    jobs_of_lane: ['lane', 'row'],
    jobs_by_expiry: ['expires_at', 'row'],
  },
  since: 2,
  added: { deaths: 6 },
});

export const JOB_STEPS = table({
  name: 'job_steps',
  columns: { job_id: 'id', name: 'id', at: 'number', detail: 'text' },
  key: ['job_id', 'name'],
  clustered: true,
  since: 2,
});

/** Compressed streams of jobs. */
export const JOB_STREAMS = table({
  name: 'job_streams',
  columns: { job_id: 'id', bytes: 'bytes' },
  key: ['job_id'],
  since: 2,
});

type Row = Omit<RowIn<typeof JOBS>, 'row'>;
export type ViewRow = Omit<
  Row,
  'payload' | 'turn' | 'home' | 'run_after' | 'deaths' | 'lease_owner' | 'fence'
> & {
  readonly start: string;
};
export type JobRow = ViewRow & Pick<Row, 'payload' | 'deaths' | 'fence'>;

/** Characters of a payload that lists read, to find the model or event type at its start. */
const START = 600;
/** A JSON string. */
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
const MODEL = leadingText('model');
const EVENT_TYPE = leadingText('type');

/** Pattern of a text member of a JSON object. All members before it are texts too. */
function leadingText(name: string): RegExp {
  return new RegExp(String.raw`^\{(?:"\w+":${TEXT},)*?"${name}":(${TEXT})`);
}

export const VIEW_COLUMNS = [
  'id',
  'kind',
  'project_id',
  'key_id',
  'state',
  'priority',
  'lane',
  'attempt',
  'cancel',
  'waits_for',
  'waits_since',
  'error_code',
  'error_message',
  'created_at',
  'started_at',
  'ended_at',
  'expires_at',
  sql<string>`substr(payload, 1, ${sql.lit(START)})`.as('start'),
] as const;

export const JOB_COLUMNS = [...VIEW_COLUMNS, 'payload', 'deaths', 'fence'] as const;

/** Row of a new job. */
export function newRow(job: NewJob) {
  return {
    id: job.id,
    kind: job.kind,
    project_id: job.projectId,
    key_id: job.keyId,
    state: 'queued',
    priority: job.priority,
    lane: job.lane,
    home: job.home,
    attempt: 0,
    fence: 0,
    cancel: 0,
    expires_at: job.expiresAt ?? NEVER,
    payload: job.payload,
  };
}

export function decodeView(row: ViewRow): JobView {
  const { waits_for: reason, waits_since: sinceMs, error_code: code, error_message: message } = row;
  return {
    id: row.id,
    kind: row.kind,
    projectId: row.project_id,
    keyId: row.key_id,
    model: memberIn(row.start, MODEL),
    eventType: memberIn(row.start, EVENT_TYPE),
    state: row.state as JobState,
    priority: row.priority,
    lane: row.lane,
    attempt: row.attempt,
    isCancelRequested: row.cancel === 1,
    waits: reason !== null && sinceMs !== null ? { reason, sinceMs } : null,
    error: code !== null && message !== null ? { code, message } : null,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    expiresAt: row.expires_at === NEVER ? null : row.expires_at,
  };
}

/** Value of a member at the start of a payload; null: there is none. */
function memberIn(start: string, pattern: RegExp): string | null {
  const [, text] = pattern.exec(start) ?? [];
  return text === undefined ? null : String(parseJson(text));
}

export function decodeJob(row: JobRow): Job {
  return { ...decodeView(row), payload: row.payload };
}

export function decodeHeld(row: JobRow): HeldJob {
  return { ...decodeJob(row), deaths: row.deaths ?? 0, fence: row.fence };
}
