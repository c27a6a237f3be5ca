// A record as sums take it: its names as numbers.
import type { SqliteNames } from '../names.ts';
import type { RecordFacts } from '../../usage/record-facts.ts';

/** A record whose names are numbers, or texts where they had none. */
export interface NamedRecord {
  readonly id: Uint8Array | string;
  readonly createdAt: number;
  readonly key: number | string;
  readonly model: number | string | null;
  readonly provider: number | string | null;
  readonly facts: RecordFacts;
}

/** Numbers of `names`; 0 where a record has none. */
export interface CountedRecord {
  readonly id: Uint8Array | string;
  readonly createdAt: number;
  readonly project: number;
  readonly key: number;
  readonly model: number;
  readonly provider: number;
  readonly endpoint: number;
  readonly protocol: number;
  readonly facts: RecordFacts;
}

/** Inside a transaction: texts without a number are given one. */
export function countedRecord(record: NamedRecord, names: SqliteNames): CountedRecord {
  const { facts } = record;
  const key = numberOf(record.key, names);
  return {
    id: record.id,
    createdAt: record.createdAt,
    project: facts.project === null ? key : numberOf(facts.project, names),
    key,
    model: numberOf(record.model, names),
    provider: numberOf(record.provider, names),
    endpoint: numberOf(facts.endpoint, names),
    protocol: numberOf(facts.protocol, names),
    facts,
  };
}

function numberOf(name: number | string | null, names: SqliteNames): number {
  if (typeof name === 'number') return name;
  return name === null ? 0 : names.numberFor(name);
}
