// Tables of records. Columns exist for what lists filter and sort by and what limits count; the record itself is one
// encoded value. In PostgreSQL each day is a partition, which is dropped as a whole.
import type { SchemaChange } from '../tables/schema.ts';
import { table } from '../tables/table.ts';

/**
 * How a record's id relates to its time. `late`: deferred usage, which arrived after the record of its request and does
 * not count as a request. Stored.
 */
export const APART = { none: 0, late: 1, foreignId: 2 } as const;

/**
 * All columns that lists filter and sort by. The index is a tenth of the table's size: scanning a million records takes
 * about 100 ms.
 */
const FACTS =
  'id, grp, apart, state, status, created_at, tokens, nano_usd, duration_ms, first_content_ms, attempts, error_kind, tried';

export const RECORDS = table({
  name: 'records',
  columns: {
    /** In the form of `record-ids.ts`, so that rows are in order of time. */
    id: 'bytes',
    /** Unix milliseconds. */
    created_at: 'real',
    /** Usage group. */
    grp: 'number',
    end_user: 'id?',
    status: 'small',
    apart: 'small',
    /** As counted by limits. */
    requests: 'small',
    tokens: 'number',
    /** Null: the price is unknown, or nothing was charged. */
    nano_usd: 'number?',
    /** Milliseconds. */
    duration_ms: 'number',
    first_content_ms: 'number?',
    attempts: 'small',
    error_kind: 'id?',
    /** Index in `REQUEST_STATES`. */
    state: 'small',
    /** Providers of all attempts as `|a|b|`. Null: only the request's own, or none. */
    tried: 'id?',
    /** In the form of `record-codec.ts`. */
    record: 'bytes',
  },
  key: ['id'],
  // Group ids are too large for sums.
  renumbered: ['grp'],
  clustered: true,
  ending: { postgres: 'partition by range (id)' },
  extras: {
    sqlite: indexes(),
    postgres: [...indexes(), withoutDay('records')],
  },
});

/** Prompts and answers as JSON. Separate, because they are large and are deleted earlier. */
export const RECORD_CONTENTS = table({
  name: 'record_contents',
  columns: { id: 'bytes', request: 'text', answer: 'text' },
  key: ['id'],
  ending: { postgres: 'partition by range (id)' },
  extras: { postgres: [withoutDay('record_contents')] },
});

export const DAY_TABLES = ['records', 'record_contents'] as const;
export type DayTable = (typeof DAY_TABLES)[number];

/** Indexes for facts and for rare records. Hours with other records are found through the sums. */
function indexes(): readonly string[] {
  return [
    `create index records_facts on records (${FACTS})`,
    'create index records_apart on records (created_at) where apart <> 0',
    'create index records_by_end_user on records (end_user, id) where end_user is not null',
  ];
}

/**
 * Facts of records that are not plain `ok`: about a tenth, and what most filters select. Records that are `ok` cost
 * nothing here. A schema change, so that existing databases get it.
 */
const OTHERS = `create index records_others on records (${FACTS}) where state <> 0`;
export const RECORD_CHANGES: readonly SchemaChange[] = [
  { version: 5, up: { sqlite: [OTHERS], postgres: [OTHERS] } },
];

/** Partition for ids that contain no time. */
function withoutDay(name: DayTable): string {
  return `create table ${name}_without_day partition of ${name} for values from ('\\xff') to (maxvalue)`;
}
