// Finds which member of a body sets which parameter: leaves out one member at a time, decodes the rest, and compares
// the canonical requests. So no table of names is needed.
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/index.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';
import { below } from './json-path.ts';
import type { ComparedValue } from './compared-values.ts';

/** Maximum number of members to leave out. */
const MOST_MEMBERS = 100;
/** Maximum nesting depth of settings. */
const MOST_DEPTH = 4;
/** Characters that are kept of each text of the conversation. */
const SLIM_CHARS = 64;
/** Length from which a body is not decoded again for each member. */
const LONG_CHARS = 200_000;

/** Members of a canonical request that are not settings: they are compared elsewhere, or describe the whole request. */
const NO_SETTINGS: ReadonlySet<string> = new Set([
  'protocol',
  'task',
  'hybrid',
  'raw',
  'items',
  'tools',
  'lossesElsewhere',
  'report',
  'prefill',
]);

type Settings = ReadonlyMap<string, JsonValue>;

export interface ReadParameters {
  readonly body: JsonObject;
  readonly request: CanonicalRequest;
  /** Members with the conversation and the tools. */
  readonly taken: ReadonlySet<string>;
  /** Throws for an invalid request. */
  readonly decode: (body: JsonObject) => CanonicalRequest;
}

/** Settings of a request by name, with the path of the member that sets each. */
export function saidInParameters({ body, request, taken, decode }: ReadParameters): readonly ComparedValue[] {
  /** Path by setting, and how many settings change if that member is left out. */
  const found = new Map<string, { readonly path: string; readonly changes: number }>();
  const all = settingsOf(request);
  const slim = slimBody(body, taken);
  const base = tryDecode(slim, decode) ? slim : body;
  // Long bodies are not decoded repeatedly.
  const reference = isLong(base) ? null : tryDecode(base, decode);
  let left = MOST_MEMBERS;
  const look = (
    value: JsonObject,
    path: string,
    depth: number,
    put: (changed: JsonObject) => JsonObject,
  ): void => {
    for (const name of Object.keys(value)) {
      if ((depth === 0 && taken.has(name)) || left-- <= 0) continue;
      const { [name]: member, ...rest } = value;
      const at = below(path, name);
      if (isJsonObject(member) && depth < MOST_DEPTH)
        look(member, at, depth + 1, (changed) => put({ ...value, [name]: changed }));
      const without = tryDecode(put(rest), decode);
      const changed = without && reference ? differing(reference, without) : equalTo(all, member);
      // Prefers the member that changes the fewest settings. Others, such as `stream`, may only affect whether a
      // setting is used.
      for (const setting of changed)
        if (changed.length < (found.get(setting)?.changes ?? Infinity))
          found.set(setting, { path: at, changes: changed.length });
    }
  };
  look(base, '', 0, (changed) => changed);
  return [...all].map(([name, value]) => {
    const path = found.get(name)?.path ?? null;
    return { what: path ?? name, kind: `setting ${name}`, owner: null, value, path };
  });
}

/** Settings by their names in the canonical request: `reasoning.effort`. */
function settingsOf(request: CanonicalRequest): Settings {
  const settings = new Map<string, JsonValue>();
  const add = (name: string, value: unknown, depth: number): void => {
    if (value === undefined) return;
    if (isJsonObject(value) && depth < 2 && name !== 'metadata' && name !== 'logitBias')
      for (const [member, each] of Object.entries(value)) add(below(name, member), each, depth + 1);
    else settings.set(name, value as JsonValue);
  };
  for (const [name, value] of Object.entries(request)) if (!NO_SETTINGS.has(name)) add(name, value, 0);
  return settings;
}

function tryDecode(body: JsonObject, decode: ReadParameters['decode']): Settings | null {
  try {
    return settingsOf(decode(body));
  } catch {
    return null;
  }
}

function differing(one: Settings, other: Settings): readonly string[] {
  return [...one].flatMap(([name, value]) =>
    JSON.stringify(value) === JSON.stringify(other.get(name)) ? [] : [name],
  );
}

/** Fallback for a required member: settings with the same value. */
function equalTo(settings: Settings, member: JsonValue | undefined): readonly string[] {
  const wanted = JSON.stringify(member);
  return [...settings].flatMap(([name, value]) => (JSON.stringify(value) === wanted ? [name] : []));
}

/** True if a body takes too long to decode a hundred times. */
function isLong(body: JsonObject): boolean {
  return JSON.stringify(body).length > LONG_CHARS;
}

/** The body with its conversation's texts shortened, because it is decoded many times. */
function slimBody(body: JsonObject, taken: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, taken.has(name) ? slimmed(value) : value]),
  );
}

function slimmed(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'string') return value.slice(0, SLIM_CHARS);
  if (isJsonArray(value)) return value.map((each) => slimmed(each) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, slimmed(each)]));
}
