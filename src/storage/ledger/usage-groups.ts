// Usage groups: combinations of names that sums are kept by. A group's id is a hash of its names, so that all processes
// and databases agree on it.
import { createHash } from 'node:crypto';
import {
  attemptOutcome,
  type AttemptRecord,
  type GenerationRecord,
  type Outcome,
  placeOf,
} from '../../accounts/ledger/index.ts';
import { USAGE_DIMENSIONS, type UsageDimension } from '../../accounts/ports/index.ts';
import { HOUR_MS, TOTALS_BY } from './usage-tables.ts';

/** Empty: none. */
export type GroupNames = Readonly<Record<UsageDimension, string>>;

export interface Group {
  readonly id: number;
  readonly names: GroupNames;
}

/** Maximum number of cached groups. */
const MOST_GROUPS = 50_000;
/**
 * 48 bits, a safe integer in every database. With a million groups, one in a thousand installations has a collision.
 */
const ID_BYTES = 6;

const NO_NAMES = Object.fromEntries(USAGE_DIMENSIONS.map((name) => [name, ''])) as GroupNames;

const groups = new Map<string, Group>();
/** Cached groups of totals by name, for each entry of `TOTALS_BY`. */
const totals: Map<string, Group>[] = [];

/** The group with these names, after `storable`. */
export function groupOf(names: GroupNames): Group {
  const text = textOf(names);
  const known = groups.get(text);
  if (known) return known;
  if (groups.size >= MOST_GROUPS) groups.clear();
  const own = Object.fromEntries(USAGE_DIMENSIONS.map((name) => [name, storable(names[name])])) as GroupNames;
  const id = createHash('sha256').update(textOf(own)).digest().readUIntBE(0, ID_BYTES);
  const group = { id, names: own };
  groups.set(text, group);
  return group;
}

/** Unique for storable names. Others may collide, but only with names of the same client. */
function textOf(names: GroupNames): string {
  return `${names.project}\0${names.key}\0${names.model}\0${names.provider}\0${names.endpoint}\0${names.protocol}\0${names.requested_model}\0${names.outcome}`;
}

/** Groups of the totals, in the order of `TOTALS_BY`. */
export function totalsOf({ names }: Group): readonly Group[] {
  return TOTALS_BY.map((by, at) => {
    const name = by === undefined ? '' : names[by];
    const known = totals[at]?.get(name);
    if (known) return known;
    const group = groupOf(by === undefined ? NO_NAMES : { ...NO_NAMES, [by]: name });
    const of = (totals[at] ??= new Map());
    if (of.size >= MOST_GROUPS) of.clear();
    of.set(name, group);
    return group;
  });
}

/**
 * Replaces what databases cannot store: lone surrogates, which have no UTF-8, and NUL, which PostgreSQL does not allow.
 */
export function storable(text: string): string {
  return text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/**
 * Maximum number of unknown model names per hour, because clients choose them freely. Tried: a request was sent to an
 * upstream.
 */
const MOST_UNTRIED = 50;
const MOST_TRIED = 500;

/** Names of requests for sums. */
export class RequestNames {
  #hour = -1;
  readonly #untried = new Set<string>();
  readonly #tried = new Set<string>();

  /** @param attempts in order; a failed request counts for the last one */
  of(g: GenerationRecord, attempts: readonly AttemptRecord[], outcome: Outcome): GroupNames {
    const { provider, endpoint } = placeOf(g, attempts);
    const hasRoom = g.model !== null || this.#hasRoom(g, attempts.length > 0);
    return {
      project: g.projectId,
      key: g.keyId,
      model: g.model ?? (hasRoom ? g.requestedModel : ''),
      provider: provider ?? '',
      endpoint: endpoint ?? '',
      protocol: g.protocol,
      requested_model: hasRoom ? g.requestedModel : '',
      outcome,
    };
  }

  #hasRoom({ createdAt, requestedModel }: GenerationRecord, isTried: boolean): boolean {
    const hour = Math.floor(createdAt / HOUR_MS);
    if (hour !== this.#hour) {
      this.#untried.clear();
      this.#tried.clear();
    }
    this.#hour = hour;
    const names = isTried ? this.#tried : this.#untried;
    if (names.has(requestedModel)) return true;
    if (names.size >= (isTried ? MOST_TRIED : MOST_UNTRIED)) return false;
    names.add(requestedModel);
    return true;
  }
}

/** Group of an attempt: its endpoint and outcome. Usually the group of the request. */
export function attemptGroup(request: Group, attempt: AttemptRecord): Group {
  const { provider, endpoint } = attempt;
  const { names } = request;
  const outcome = attemptOutcome(attempt);
  if (provider === names.provider && endpoint === names.endpoint && outcome === names.outcome) return request;
  return groupOf({ ...names, provider, endpoint, outcome });
}
