// Adds up records in memory: by hour and by what they are of, and by end user. What was added up can be had in parts, of which
// each is the same again when the same records are added up anew: a group's part is decided by its keys alone.
import {
  countFacts,
  countNumbers,
  noUsageCounts,
  noUsageSums,
  type UsageCounts,
  type UsageSums,
} from '../../../usage/index.ts';
import { HOUR_MS } from '../../usage/hours.ts';
import type { CountedRecord } from './counted-record.ts';

/** Sums of an hour, or of a day. */
export interface PeriodSums {
  /** In the order of `USAGE_KEYS`. */
  readonly keys: readonly number[];
  readonly sums: UsageSums;
}

/** What an end user came to in an hour, with a key and a model. */
export interface EndUserSums {
  readonly period: number;
  readonly project: number;
  /** In hexadecimal digits, as records have it. */
  readonly endUser: string;
  readonly key: number;
  readonly model: number;
  readonly counts: UsageCounts;
}

export interface SumsPart {
  readonly hours: PeriodSums[];
  readonly endUsers: EndUserSums[];
}

/** Groups of the same hash are a chain. */
interface Linked<T> {
  readonly group: T;
  readonly next: Linked<T> | undefined;
}

export class CountedSums {
  readonly #hours = new Map<number, Linked<PeriodSums>>();
  readonly #endUsers = new Map<number, Linked<EndUserSums>>();
  #size = 0;

  /** How many rows it would be. */
  get size(): number {
    return this.#size;
  }

  add(records: readonly CountedRecord[]): void {
    for (const record of records) {
      const period = Math.floor(record.createdAt / HOUR_MS);
      countFacts(this.#hour(period, record).sums, record.facts);
      const { endUser } = record.facts;
      if (endUser !== null) countNumbers(this.#endUser(period, endUser, record).counts, record.facts);
    }
  }

  /** All of it, each group in one of so many parts. */
  parts(count: number): readonly SumsPart[] {
    const parts = Array.from({ length: count }, (): SumsPart => ({ hours: [], endUsers: [] }));
    for (const [hash, first] of this.#hours)
      for (let at: Linked<PeriodSums> | undefined = first; at; at = at.next)
        parts[hash % count]?.hours.push(at.group);
    for (const [hash, first] of this.#endUsers)
      for (let at: Linked<EndUserSums> | undefined = first; at; at = at.next)
        parts[hash % count]?.endUsers.push(at.group);
    return parts;
  }

  #hour(period: number, record: CountedRecord): PeriodSums {
    const { project, key, model, provider, endpoint, protocol } = record;
    const keys = [period, project, key, model, provider, endpoint, protocol];
    const hash = mixed(hashed(keys));
    const first = this.#hours.get(hash);
    for (let at = first; at; at = at.next) {
      const known = at.group.keys;
      if (
        known[0] === period &&
        known[1] === project &&
        known[2] === key &&
        known[3] === model &&
        known[4] === provider &&
        known[5] === endpoint &&
        known[6] === protocol
      )
        return at.group;
    }
    const group = { keys, sums: noUsageSums() };
    this.#hours.set(hash, { group, next: first });
    this.#size += 1;
    return group;
  }

  #endUser(period: number, endUser: string, { project, key, model }: CountedRecord): EndUserSums {
    let hash = hashed([period, project, key, model]);
    for (let at = 0; at < endUser.length; at += 1) hash = Math.imul(hash ^ endUser.charCodeAt(at), PRIME);
    hash = mixed(hash);
    const first = this.#endUsers.get(hash);
    for (let at = first; at; at = at.next) {
      const { group } = at;
      if (
        group.endUser === endUser &&
        group.key === key &&
        group.model === model &&
        group.project === project &&
        group.period === period
      )
        return group;
    }
    const group = { period, project, endUser, key, model, counts: noUsageCounts() };
    this.#endUsers.set(hash, { group, next: first });
    this.#size += 1;
    return group;
  }
}

/** FNV-1a (Fowler, Noll and Vo), a number at a time. Stored progress depends on it: it stays. */
const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

function hashed(numbers: readonly number[]): number {
  let hash = SEED;
  for (const number of numbers) hash = Math.imul(hash ^ number, PRIME);
  return hash;
}

function mixed(hash: number): number {
  return (hash ^ (hash >>> 15)) >>> 0;
}
