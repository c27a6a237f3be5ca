// Puts what two sides said beside each other: first what is the same, then what belongs to the same thing, then texts that went
// into others. What is left over stands alone. Knows no protocol.
import type { Said } from './said.ts';

export interface Pair {
  readonly client: Said | null;
  readonly upstream: Said | null;
}

/** Texts that are looked for inside of others. */
const MOST_SEARCHED = 50;

/** In the order of the client's, with what only the upstream has at the end. */
export function matched(client: readonly Said[], upstream: readonly Said[]): readonly Pair[] {
  const pairs = new Map<Said, Said>();
  const free = new Set(upstream);
  const pair = (one: Said, other: Said): void => {
    pairs.set(one, other);
    free.delete(other);
  };
  const open = (): readonly Said[] => client.filter((one) => !pairs.has(one));

  // The same of the same kind, in the order in which it was said.
  const waiting = Map.groupBy(upstream, keyOf);
  for (const one of client) {
    const other = waiting.get(keyOf(one))?.shift();
    if (other) pair(one, other);
  }
  // Values that belong to things which are matched already.
  const partners = partnersOf(pairs);
  const owned = Map.groupBy(free, placeOf);
  for (const one of open()) {
    const owner = one.owner === null ? undefined : partners.get(one.owner);
    const other = owner === undefined ? undefined : owned.get(placeOf({ owner, kind: one.kind }))?.shift();
    if (other) pair(one, other);
  }
  // Settings of the same name, and of the same group: an effort here may be a budget there.
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

/** Whether both say the same. */
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

/** Owners of the one side by those of the other, as most of what they hold says. */
function partnersOf(pairs: ReadonlyMap<Said, Said>): ReadonlyMap<string, string> {
  const partners = new Map<string, string>();
  for (const [one, other] of pairs)
    if (one.owner !== null && other.owner !== null && !partners.has(one.owner))
      partners.set(one.owner, other.owner);
  return partners;
}

/** Texts are put together where a protocol has one place for them. */
function containing({ value, kind }: Said, upstream: readonly Said[]): Said | null {
  if (typeof value !== 'string' || value.trim() === '' || !kind.endsWith('text')) return null;
  return upstream.find((other) => typeof other.value === 'string' && other.value.includes(value)) ?? null;
}
