// The loss report lists what a codec or the engine drops, approximates, defaults or clamps, with JSON paths. It is sent in
// a response header and stored in the record. In strict mode, losses are a 400.
import { asArray, isJsonObject, type JsonObject, type JsonValue } from '../base/json/index.ts';

export type ReportAction = 'dropped' | 'approximated' | 'defaulted' | 'clamped';

export interface ReportEntry {
  /** JSON path in the client's body, e.g. `messages[0].content[1].cache_control`. */
  readonly path: string;
  readonly action: ReportAction;
  readonly reason: string;
}

/**
 * Path of items that the gateway itself adds to a conversation. Changes to them are not losses of the client's request.
 * No path in a body begins with it.
 */
export const OWN_PATH = '(gateway)';

const NONE: readonly ReportEntry[] = Object.freeze([]);
/** Bounds the report, because a hostile body can contain 100,000 unknown members with names of a megabyte. */
const MOST_ENTRIES = 500;
const LONGEST_PATH = 200;
const LONGEST_REASON = 2000;

export class Report {
  /** Replaced instead of changed, because copies of a report share it. */
  #entries = NONE;
  #client: { readonly names: ClientNames; readonly body: JsonObject } | undefined;

  /** Translates paths that are added from now on to the names of the client's protocol. */
  speakAs(names: ClientNames, body: JsonObject): this {
    this.#client = { names, body };
    return this;
  }

  /** A path in the names of the client's protocol. */
  nameOf(path: string): string {
    return this.#client ? clientName(path, this.#client.names, this.#client.body) : path;
  }

  /**
   * Adds an entry, once per path and action. Long paths are truncated, and only the first 500 entries are kept. Items that
   * the gateway added itself (`OWN_PATH`) are ignored.
   */
  add(path: string, action: ReportAction, reason: string): void {
    if (path.startsWith(OWN_PATH) || this.#entries.length >= MOST_ENTRIES) return;
    const shown = this.#shown(path);
    if (this.#placeOf(shown, action) < 0) this.#entries = [...this.#entries, { path: shown, action, reason }];
  }

  /** Extends the reason of an existing entry, or adds one. The reason is truncated at 2,000 characters. */
  extend(path: string, action: ReportAction, reason: string): void {
    const at = this.#placeOf(this.#shown(path), action);
    const known = this.#entries[at];
    if (!known) return this.add(path, action, reason);
    const more = `${known.reason}; ${reason}`.slice(0, LONGEST_REASON);
    this.#entries = this.#entries.with(at, { ...known, reason: more });
  }

  /** Index of an entry; -1 if there is none. Searches at most 500. */
  #placeOf(shown: string, action: ReportAction): number {
    return this.#entries.findIndex((entry) => entry.path === shown && entry.action === action);
  }

  /** The path as it is stored in an entry. */
  #shown(path: string): string {
    const named = this.nameOf(path);
    return named.length > LONGEST_PATH ? `${named.slice(0, LONGEST_PATH)}…` : named;
  }

  get entries(): readonly ReportEntry[] {
    return this.#entries;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Entries by which the answer differs from the request: all but defaults. Strict mode refuses them. */
  get losses(): readonly ReportEntry[] {
    return this.#entries.filter((entry) => entry.action !== 'defaulted');
  }

  /** A copy to which an attempt adds its own entries. */
  fork(): Report {
    const copy = new Report();
    copy.#client = this.#client;
    copy.#entries = this.#entries;
    return copy;
  }

  /** `path:action, path:action`, as the `x-dragoman-report` header carries it. */
  header(): string {
    return this.#entries.map((entry) => `${entry.path}:${entry.action}`).join(', ');
  }
}

// Codecs and the engine name members as Chat Completions does. Each protocol has a table with its own names.

/**
 * A protocol's names by canonical name. If a member has several names, the one in the body is used, else the first. `[]`
 * is a placeholder for a list index.
 */
export type ClientNames = Readonly<Record<string, readonly string[]>>;

/**
 * Translates a path to the names of the client's protocol.
 * @param path canonical path, e.g. `response_format.json_schema.schema`; a path that is already translated is returned
 *   unchanged
 * @param body body of the request; members that exist in it keep their names
 */
function clientName(path: string, names: ClientNames, body: JsonObject): string {
  const place = /^\w+\[(\d+)\]/.exec(path)?.[1];
  const plain = place === undefined ? path : path.replace(`[${place}]`, '[]');
  for (let end = plain.length; end > 0; end = lastStep(plain, end)) {
    const beginning = plain.slice(0, end);
    const candidates = Object.hasOwn(names, beginning) ? names[beginning] : undefined;
    if (!candidates) continue;
    const inPlace = candidates.map((name) => (place === undefined ? name : name.replace('[]', `[${place}]`)));
    const said = inPlace.find((name) => isIn(body, name));
    if (said === undefined && isIn(body, rootOf(path))) return path;
    return (said ?? inPlace[0] ?? path) + plain.slice(end);
  }
  return path;
}

/** Start of the last segment of the path that ends at `end`; 0 for a path with one segment. */
function lastStep(path: string, end: number): number {
  return Math.max(0, path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1));
}

function rootOf(path: string): string {
  return /^\w*/.exec(path)?.[0] ?? '';
}

function isIn(body: JsonObject, path: string): boolean {
  let value: JsonValue | undefined = body;
  for (const step of path.split(/[.[\]]+/)) {
    if (step === '') continue;
    if (isJsonObject(value)) value = Object.hasOwn(value, step) ? value[step] : undefined;
    else value = asArray(value)[Number(step)];
    if (value === undefined || value === null) return false;
  }
  return true;
}
