// Matches the values of both sides: first equal values, then values of matched owners, then texts that were merged into
// others. The rest stays unmatched.
import type { ComparedValue } from './compared-values.ts';

export interface Pair {
  readonly client: ComparedValue | null;
  readonly upstream: ComparedValue | null;
}

/** Maximum number of texts to search for within others. */
const MOST_SEARCHED = 50;

/** Pairs in the client's order, followed by values of the upstream only. */
export function matched(
  client: readonly ComparedValue[],
  upstream: readonly ComparedValue[],
): readonly Pair[] {
  const pairs = new Map<ComparedValue, ComparedValue>();
  const free = new Set(upstream);
  const pair = (one: ComparedValue, other: ComparedValue): void => {
    pairs.set(one, other);
    free.delete(other);
  };
  const open = (): readonly ComparedValue[] => client.filter((one) => !pairs.has(one));

  // Equal values of the same kind, in order.
  const waiting = Map.groupBy(upstream, keyOf);
  for (const one of client) {
    const other = waiting.get(keyOf(one))?.shift();
    if (other) pair(one, other);
  }
  // Values whose owners have been matched.
  const matchOf = matchesByOwner(pairs);
  const owned = Map.groupBy(free, placeOf);
  for (const one of open()) {
    const owner = one.owner === null ? undefined : matchOf.get(one.owner);
    const other = owner === undefined ? undefined : owned.get(placeOf({ owner, kind: one.kind }))?.shift();
    if (other) pair(one, other);
  }
  // Settings with the same name, then of the same group: for example, an effort may become a budget.
  for (const sameAs of [(one: ComparedValue) => one.kind, groupOf]) {
    const settings = Map.groupBy(
      [...free].filter(({ owner }) => owner === null),
      sameAs,
    );
    for (const one of open()) {
      const other = one.owner === null ? settings.get(sameAs(one))?.shift() : undefined;
      if (other) pair(one, other);
    }
  }
  const unmatched = new Map(
    open()
      .slice(0, MOST_SEARCHED)
      .map((one) => [one, containing(one, upstream)] as const),
  );
  return [
    ...client.map((one): Pair => {
      const other = pairs.get(one);
      return { client: one, upstream: other ?? unmatched.get(one) ?? null };
    }),
    ...[...free].map((other): Pair => ({ client: null, upstream: other })),
  ];
}

/** True if both sides have the same value. */
export function isSame({ client, upstream }: Pair): boolean {
  return client !== null && upstream !== null && keyOf(client) === keyOf(upstream);
}

function keyOf({ kind, value }: ComparedValue): string {
  return `${kind}\n${JSON.stringify(value)}`;
}

function placeOf({ owner, kind }: Pick<ComparedValue, 'owner' | 'kind'>): string {
  return `${owner}\n${kind}`;
}

function groupOf({ kind }: ComparedValue): string {
  return kind.split('.')[0] ?? kind;
}

/** Owners of the client's values, with those of the upstream, by the first matched value of each. */
function matchesByOwner(pairs: ReadonlyMap<ComparedValue, ComparedValue>): ReadonlyMap<string, string> {
  const matchOf = new Map<string, string>();
  for (const [one, other] of pairs)
    if (one.owner !== null && other.owner !== null && !matchOf.has(one.owner))
      matchOf.set(one.owner, other.owner);
  return matchOf;
}

/** Finds the text that contains a text, because some protocols merge several into one. */
function containing(
  { value, kind }: ComparedValue,
  upstream: readonly ComparedValue[],
): ComparedValue | null {
  if (typeof value !== 'string' || value.trim() === '' || !kind.endsWith('text')) return null;
  return upstream.find((other) => typeof other.value === 'string' && other.value.includes(value)) ?? null;
}
