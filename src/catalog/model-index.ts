// Finds the model that a client means: listed ids first, then their spellings, then any name of an enabled provider.
// Deterministic for a configuration.
import type { Catalog, Model } from './endpoint.ts';
import { looseName } from './families/index.ts';
import { invalidMember, problemOfModelName } from '../canonical/index.ts';

export interface IndexInput {
  readonly models: readonly Model[];
  /** Models that can be found, but are not listed. */
  readonly unlistedModels: readonly Model[];
  /** Configured aliases and their targets. Targets are looked up like other ids. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Ids of enabled providers. */
  readonly providers: ReadonlySet<string>;
  /** How to enable each known but disabled provider. */
  readonly off: ReadonlyMap<string, string>;
  /** Makes a model for a name of a provider; null if the provider is not enabled or rejects the name. */
  readonly unlisted: (provider: string, name: string) => Model | null;
  /** A dated version (`-20250929`, `-2024-08-06`) of a listed model. Null: not possible. */
  readonly dated: (model: Model, date: string) => Model | null;
  /** A bare name that is not listed, but recognised by a single vendor (`gpt-5.2-codex`). */
  readonly claimed: (name: string) => Model | null;
}

/** Longer ids are rejected before any lookup. */
const LONGEST_ID = 200;
/** Maximum number of cached names that are not listed, because clients choose them freely. */
const REMEMBERED = 1000;

const DATE = /[-@](\d{8}|\d{4}-\d{2}-\d{2})$/;

/** Builds the lookups over a complete list of models. */
export function indexModels(input: IndexInput): Omit<Catalog, 'providers' | 'secrets' | 'credentialOrigins'> {
  const sorted = byId(input.models);
  const known = byId([...input.models, ...input.unlistedModels]);
  const making = new Map<string, readonly Model[]>();
  const listed = new Map(known.map((model) => [model.id, model]));
  const byLooseId = unique(known, (model) => looseName(model.id));
  const byName = unique(known, (model) => bareName(model.id));
  const byLooseName = unique(known, (model) => looseName(bareName(model.id)));
  const remembered = new Map<string, Model | null>();

  function direct(id: string): Model | null {
    const found = listed.get(id) ?? byLooseId.get(looseName(id));
    if (found) return found;
    const slash = id.indexOf('/');
    if (slash > 0 && slash < id.length - 1) {
      const made = input.unlisted(id.slice(0, slash), id.slice(slash + 1));
      if (made) return made;
    }
    const named = byName.get(id) ?? byLooseName.get(looseName(id));
    if (named) return named;
    const date = DATE.exec(id);
    const stem = date ? id.slice(0, date.index) : '';
    const model = date ? (byName.get(stem) ?? byLooseName.get(looseName(stem))) : undefined;
    if (date && model) return input.dated(model, date[0]);
    return slash < 0 ? input.claimed(id) : null;
  }

  function find(id: string): Model | null {
    const target = Object.hasOwn(input.aliases, id) ? (input.aliases[id] ?? id) : id;
    // Follows chains of aliases. Cycles were rejected when the configuration was read.
    if (target !== id) return find(target);
    const found = listed.get(id);
    if (found) return found;
    if (id.length === 0 || id.length > LONGEST_ID) return null;
    const before = remembered.get(id);
    if (before !== undefined) return before;
    const made = direct(id);
    if (remembered.size >= REMEMBERED) {
      const oldest = remembered.keys().next().value;
      if (oldest !== undefined) remembered.delete(oldest);
    }
    remembered.set(id, made);
    return made;
  }

  const ids = [...listed.keys(), ...Object.keys(input.aliases)];
  return Object.freeze({
    find,
    list: () => sorted,
    making(modality: string) {
      let made = making.get(modality);
      if (!made)
        making.set(modality, (made = known.filter((model) => model.outputModalities.includes(modality))));
      return made;
    },
    known: () => known,
    isListed: (id: string) => listed.has(id) || Object.hasOwn(input.aliases, id),
    hasProvider: (id: string) => input.providers.has(id),
    switchesOn: (id: string) => input.off.get(id) ?? null,
    suggest: (id: string) => nearest(id, ids, 3),
  });
}

function byId(models: readonly Model[]): readonly Model[] {
  return Object.freeze([...models].sort((a, b) => (a.id < b.id ? -1 : 1)));
}

/** Id without the provider. */
function bareName(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}

/** Keys that exactly one model has. */
function unique(models: readonly Model[], key: (model: Model) => string): ReadonlyMap<string, Model> {
  const found = new Map<string, Model | null>();
  for (const model of models) found.set(key(model), found.has(key(model)) ? null : model);
  const result = new Map<string, Model>();
  for (const [name, model] of found) if (model) result.set(name, model);
  return result;
}

/** The candidates most similar to a word, best first, without dissimilar ones. @param count maximum number */
export function nearest(word: string, candidates: readonly string[], count: number): readonly string[] {
  if (word.length === 0 || word.length > 100) return [];
  const wanted = looseName(word);
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  const scored: { readonly text: string; readonly distance: number }[] = [];
  for (const text of candidates) {
    const loose = looseName(text);
    // Bare names are compared with bare names, so that the provider prefix does not count.
    const compared = wanted.includes('/') ? loose : bareName(loose);
    const distance = compared.startsWith(wanted) ? 1 : editDistance(wanted, compared, limit);
    if (distance <= limit) scored.push({ text, distance });
  }
  scored.sort((a, b) => a.distance - b.distance || (a.text < b.text ? -1 : 1));
  return scored.slice(0, count).map((entry) => entry.text);
}

/** Levenshtein distance, or `limit + 1` if it is greater. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const value = Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1);
      current.push(value);
      if (value < best) best = value;
    }
    if (best > limit) return limit + 1;
    previous = current;
  }
  return previous[b.length] ?? 0;
}

// Automatic choice of the model: a list entry that stands for no particular model.

const AUTO_ID = 'dragoman/auto';

/** Ids that leave the choice of the model to the gateway. */
export const AUTO_MODELS: ReadonlySet<string> = new Set([AUTO_ID, 'auto', 'zenmux/auto']);

/** True if an id leaves the choice to the gateway, and the operator has no model, alias or provider of that name. */
export function isAuto(id: string, catalog: Catalog): boolean {
  if (!AUTO_MODELS.has(id) || catalog.isListed(id)) return false;
  const slash = id.indexOf('/');
  return slash < 0 || !catalog.hasProvider(id.slice(0, slash));
}

/**
 * List entry for the automatic choice, with the combined capabilities of the models. It has no price, because each
 * model has its own.
 * @param models models to choose among
 * @returns null if there are none
 */
export function autoEntry(models: readonly Model[]): Model | null {
  const candidates = autoCandidates(models);
  if (candidates.length === 0) return null;
  return {
    id: AUTO_ID,
    displayName: 'Auto',
    created: Math.max(...candidates.map((model) => model.created)),
    ownedBy: 'dragoman',
    inputModalities: [...new Set(candidates.flatMap((model) => model.inputModalities))],
    outputModalities: ['text'],
    reasoningStyle: candidates.some((model) => model.reasoningStyle !== 'none') ? 'both' : 'none',
    contextLength: largest(candidates.map((model) => model.contextLength)),
    maxOutputTokens: largest(candidates.map((model) => model.maxOutputTokens)),
    quality: null,
    builtIn: false,
    endpoints: [],
  };
}

/** Models for the automatic choice: text models. Simulated ones only if there are no others. */
export function autoCandidates(models: readonly Model[]): readonly Model[] {
  const writers = models.filter((model) => model.outputModalities.includes('text'));
  const real = writers.filter((model) => !model.builtIn);
  return real.length > 0 ? real : writers;
}

function largest(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((most, number) => (number !== null && number > (most ?? 0) ? number : most), null);
}

// Ids as written by clients, which may name a provider behind a colon.

export interface ResolvedModel {
  readonly model: Model;
  /** Provider or endpoint slug in the id; null: none. */
  readonly pinned: string | null;
}

/** Maximum length of an id with an endpoint's slug. */
const LONGEST_NAMED_ID = 2 * LONGEST_ID;

/**
 * Resolves an id: `model`, or `model:provider` / `model:provider/endpoint`. A listed id or alias takes precedence, and
 * the suffix must name an enabled provider, because model names may contain colons (`qwen3:0.6b`, `…:free`).
 * @param param name of the parameter, for the error
 * @returns null if there is no such model
 * @throws GatewayError `invalid_request` for invisible characters, unless the id is listed with them
 */
export function resolveModelId(id: string, catalog: Catalog, param = 'model'): ResolvedModel | null {
  const problem = catalog.isListed(id) ? null : problemOfModelName(id);
  if (problem !== null) throw invalidMember(param, problem);
  if (id.length <= LONGEST_NAMED_ID && !catalog.isListed(id)) {
    // From left to right, because endpoint slugs may contain colons too.
    for (let colon = id.indexOf(':', 1); colon > 0; colon = id.indexOf(':', colon + 1)) {
      const slug = id.slice(colon + 1);
      const slash = slug.indexOf('/');
      if (!catalog.hasProvider(slash < 0 ? slug : slug.slice(0, slash))) continue;
      const model = catalog.find(id.slice(0, colon));
      if (model) return { model, pinned: slug };
    }
  }
  const model = catalog.find(id);
  return model && { model, pinned: null };
}
