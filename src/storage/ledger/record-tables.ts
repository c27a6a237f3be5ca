// The tables of records. Columns exist for what lists filter and order by, and what limits count; the record itself is one
// value. In PostgreSQL a day is a partition, which goes as a whole.
import type { SchemaChange } from '../tables/schema.ts';
import { table } from '../tables/table.ts';

/** Place of a record. `late`: counts that came after the record of their request; they are no request. Stored. */
export const APART = { none: 0, late: 1, foreignId: 2 } as const;

/** All that lists filter and order by: a tenth of the rows, so that a look at a million records takes a tenth of a second. */
const FACTS =
  'id, grp, apart, state, status, created_at, tokens, nano_usd, duration_ms, first_content_ms, attempts, error_kind, tried';

export const RECORDS = table({
  name: 'records',
  columns: {
    /** In the form of `record-ids.ts`: rows lie in the order of their requests. */
    id: 'bytes',
    /** Unix milliseconds. */
    created_at: 'real',
    /** The group of its names. */
    grp: 'number',
    end_user: 'id?',
    status: 'small',
    apart: 'small',
    /** As limits count them. */
    requests: 'small',
    tokens: 'number',
    /** Null: the price is unknown, or nothing was charged. */
    nano_usd: 'number?',
    /** Milliseconds. */
    duration_ms: 'number',
    first_content_ms: 'number?',
    attempts: 'small',
    error_kind: 'id?',
    /** Number of its state in `REQUEST_STATES`. */
    state: 'small',
    /** Providers of all its attempts, `|a|b|`. Null: its own alone, or none. */
    tried: 'id?',
    /** In the form of `record-codec.ts`. */
    record: 'bytes',
  },
  key: ['id'],
  // The numbers are too large to be added up.
  renumbered: ['grp'],
  clustered: true,
  ending: { postgres: 'partition by range (id)' },
  extras: {
    sqlite: indexes(),
    postgres: [...indexes(), withoutDay('records')],
  },
});

/** Prompts and answers, as JSON: apart, because they are large and go sooner. */
export const RECORD_CONTENTS = table({
  name: 'record_contents',
  columns: { id: 'bytes', request: 'text', answer: 'text' },
  key: ['id'],
  ending: { postgres: 'partition by range (id)' },
  extras: { postgres: [withoutDay('record_contents')] },
});

/** Tables that are partitioned. */
export const DAY_TABLES = ['records', 'record_contents'] as const;
export type DayTable = (typeof DAY_TABLES)[number];

/** Besides the facts rare records alone: sums say in which hours to look for others. */
function indexes(): readonly string[] {
  return [
    `create index records_facts on records (${FACTS})`,
    'create index records_apart on records (created_at) where apart <> 0',
    'create index records_by_end_user on records (end_user, id) where end_user is not null',
  ];
}

/**
 * Facts of records that are not plain `ok`: a tenth of all, which most filters ask for. It costs a record that is `ok` nothing.
 * A change of its own, so that databases of earlier versions get it.
 */
const OTHERS = `create index records_others on records (${FACTS}) where state <> 0`;
export const RECORD_CHANGES: readonly SchemaChange[] = [
  { version: 5, up: { sqlite: [OTHERS], postgres: [OTHERS] } },
];

/** Ids that are none of the gateway's own have no day. */
function withoutDay(name: DayTable): string {
  return `create table ${name}_without_day partition of ${name} for values from ('\\xff') to (maxvalue)`;
}
