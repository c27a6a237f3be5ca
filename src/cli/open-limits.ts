// Brings together what is written of limits: by the configuration, and with the keys.
import type { KeyIndex } from '../auth/index.ts';
import type { Config } from '../config/index.ts';
import { type LimitEntry, Limits, type LimitSource, type Written } from '../limits/index.ts';

interface LimitParts {
  /** The current one. */
  readonly config: () => Config;
  readonly keys: Pick<KeyIndex, 'principals' | 'projects'>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** The limits of the gateway. To be refreshed when the configuration or the keys are others. */
export function openLimits(parts: LimitParts): Limits {
  return new Limits(sourceOf(parts), parts.now);
}

const NONE: readonly LimitEntry[] = [];

function sourceOf({ config, keys }: LimitParts): LimitSource {
  const entriesOf: LimitSource['entriesOf'] = (kind, id) => {
    const { limits, budgets, providers } = config();
    if (kind === 'gateway') return [...limits, ...budgets];
    if (kind === 'provider') return (own(providers, id) || undefined)?.limits ?? NONE;
    return kind === 'project' ? keys.projects.limitsOf(id) : NONE;
  };
  function* all(): Iterable<Written> {
    yield { owner: { kind: 'gateway', id: '', name: '' }, entries: entriesOf('gateway', '') };
    for (const [kind, names] of [
      ['project', keys.projects.names()],
      ['provider', Object.keys(config().providers)],
    ] as const)
      for (const id of names) yield { owner: { kind, id, name: id }, entries: entriesOf(kind, id) };
    for (const { keyId, name, limits } of keys.principals())
      yield { owner: { kind: 'key', id: keyId, name }, entries: limits };
  }
  return {
    entriesOf,
    *all() {
      for (const written of all()) if (written.entries.length > 0) yield written;
    },
  };
}

/** A member of somebody's own words, which may also be the name of a method. */
function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
