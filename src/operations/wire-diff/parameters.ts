// Meaning of the members of a body that are neither conversation nor tools: found out by leaving each of them out, and looking
// what of the canonical request is another then. So no table of names is written a second time.
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/index.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';
import { below } from './json-path.ts';
import type { Said } from './said.ts';

/** Members that are left out, one after the other; the rest of an odd body is not looked at. */
const MOST_MEMBERS = 100;
/** How deep settings lie in each other. */
const MOST_DEPTH = 4;
/** Characters of each text of the conversation that are read each time. */
const SLIM_CHARS = 64;
/** A longer body, its texts shortened, is no longer read anew for each member. */
const LONG_CHARS = 200_000;

/** Members that are no setting: they are compared otherwise, or describe the request as a whole. */
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
  /** Members of the body that hold the conversation and the tools. */
  readonly taken: ReadonlySet<string>;
  /** Throws for what is no request. */
  readonly decode: (body: JsonObject) => CanonicalRequest;
}

/** The settings of a request, each with the member that says it, and by its name. */
export function saidInParameters({ body, request, taken, decode }: ReadParameters): readonly Said[] {
  /** Place of each setting, and how many settings change without the member there. */
  const found = new Map<string, { readonly path: string; readonly changes: number }>();
  const all = settingsOf(request);
  const slim = slimBody(body, taken);
  const base = tryDecode(slim, decode) ? slim : body;
  // Slow readings are done once.
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
      // A member that changes one setting says that one; another, such as `stream`, may decide whether it is heeded.
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

/** By their names in the canonical request: `reasoning.effort`. */
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

/** A member without which nothing can be read is known by its value. */
function equalTo(settings: Settings, member: JsonValue | undefined): readonly string[] {
  const wanted = JSON.stringify(member);
  return [...settings].flatMap(([name, value]) => (JSON.stringify(value) === wanted ? [name] : []));
}

/** True for a body that cannot be read a hundred times in a moment. */
function isLong(body: JsonObject): boolean {
  return JSON.stringify(body).length > LONG_CHARS;
}

/** The same body with short texts in the conversation: it is read many times. */
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
