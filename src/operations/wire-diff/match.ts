// Matches the values of both sides: first equal values, then values of matched owners, then texts that were merged into
// others. The rest stays unmatched.
import type { Said } from './said.ts';

export interface Pair {
  readonly client: Said | null;
  readonly upstream: Said | null;
}

/** Maximum number of texts to search for within others. */
const MOST_SEARCHED = 50;

/** Pairs in the client's order, followed by values of the upstream only. */
export function matched(client: readonly Said[], upstream: readonly Said[]): readonly Pair[] {
  const pairs = new Map<Said, Said>();
  const free = new Set(upstream);
  const pair = (one: Said, other: Said): void => {
    pairs.set(one, other);
    free.delete(other);
  };
  const open = (): readonly Said[] => client.filter((one) => !pairs.has(one));

  // Equal values of the same kind, in order.
  const waiting = Map.groupBy(upstream, keyOf);
  for (const one of client) {
    const other = waiting.get(keyOf(one))?.shift();
    if (other) pair(one, other);
  }
  // Values whose owners have been matched.
  const partners = partnersOf(pairs);
  const owned = Map.groupBy(free, placeOf);
  for (const one of open()) {
    const owner = one.owner === null ? undefined : partners.get(one.owner);
    const other = owner === undefined ? undefined : owned.get(placeOf({ owner, kind: one.kind }))?.shift();
    if (other) pair(one, other);
  }
  // Settings with the same name, then of the same group: for example, an effort may become a budget.
  for (const sameAs of [(one: Said) => one.kind, groupOf]) {
    const settings = Map.groupBy(
      [...free].filter(({ owner }) => owner === null),
      sameAs,
    );
    for (const one of open()) {
      const other = one.owner === null ? settings.get(sameAs(one))?.shift() : undefined;
      if (other) pair(one, other);
    }
  }
  const lonely = new Map(
    open()
      .slice(0, MOST_SEARCHED)
      .map((one) => [one, containing(one, upstream)] as const),
  );
  return [
    ...client.map((one): Pair => {
      const other = pairs.get(one);
      return { client: one, upstream: other ?? lonely.get(one) ?? null };
    }),
    ...[...free].map((other): Pair => ({ client: null, upstream: other })),
  ];
}

/** True if both sides have the same value. */
export function isSame({ client, upstream }: Pair): boolean {
  return client !== null && upstream !== null && keyOf(client) === keyOf(upstream);
}

function keyOf({ kind, value }: Said): string {
  return `${kind}\n${JSON.stringify(value)}`;
}

function placeOf({ owner, kind }: Pick<Said, 'owner' | 'kind'>): string {
  return `${owner}\n${kind}`;
}

function groupOf({ kind }: Said): string {
  return kind.split('.')[0] ?? kind;
}

/** Owners of the client's values, with those of the upstream, by the first matched value of each. */
function partnersOf(pairs: ReadonlyMap<Said, Said>): ReadonlyMap<string, string> {
  const partners = new Map<string, string>();
  for (const [one, other] of pairs)
    if (one.owner !== null && other.owner !== null && !partners.has(one.owner))
      partners.set(one.owner, other.owner);
  return partners;
}

/** Finds the text that contains a text, because some protocols merge several into one. */
function containing({ value, kind }: Said, upstream: readonly Said[]): Said | null {
  if (typeof value !== 'string' || value.trim() === '' || !kind.endsWith('text')) return null;
  return upstream.find((other) => typeof other.value === 'string' && other.value.includes(value)) ?? null;
}
