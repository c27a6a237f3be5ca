// The loss report: whatever a codec or the engine drops, approximates, defaults or clamps is written here
// with its JSON path. It is shown in a header, kept in the record, and a 400 in strict mode.
import { asArray, isJsonObject, type JsonObject, type JsonValue } from '../base/json/index.ts';

export type ReportAction = 'dropped' | 'approximated' | 'defaulted' | 'clamped';

export interface ReportEntry {
  /** JSON path in the client's body, e.g. `messages[0].content[1].cache_control`. */
  readonly path: string;
  readonly action: ReportAction;
  readonly reason: string;
}

/**
 * The path of items that the gateway itself adds to a conversation: what becomes of them is no loss of what a client
 * sent. No path in a body begins so.
 */
export const OWN_PATH = '(gateway)';

const NONE: readonly ReportEntry[] = Object.freeze([]);
/** A hostile body can lose a hundred thousand members with names of a megabyte: records must not grow with it. */
const MOST_ENTRIES = 500;
const LONGEST_PATH = 200;
const LONGEST_REASON = 2000;

export class Report {
  /** Never changed, but replaced: copies of a report share it until one of them learns more. */
  #entries = NONE;
  #client: { readonly names: ClientNames; readonly body: JsonObject } | undefined;

  /** From here on, paths that are added are told in the words of the client who sent `body`. */
  speakAs(names: ClientNames, body: JsonObject): this {
    this.#client = { names, body };
    return this;
  }

  /** A path as the client would write it. */
  nameOf(path: string): string {
    return this.#client ? clientName(path, this.#client.names, this.#client.body) : path;
  }

  /**
   * Adds an entry; the same path and action are kept once. Long paths are cut, and only the first 500 entries are kept.
   * What the gateway added itself (`OWN_PATH`) is left out.
   */
  add(path: string, action: ReportAction, reason: string): void {
    if (path.startsWith(OWN_PATH) || this.#entries.length >= MOST_ENTRIES) return;
    const shown = this.#shown(path);
    if (this.#placeOf(shown, action) < 0) this.#entries = [...this.#entries, { path: shown, action, reason }];
  }

  /** Says more where an entry was made already: what became of it. Else adds it. The reason is cut at 2,000 characters. */
  extend(path: string, action: ReportAction, reason: string): void {
    const at = this.#placeOf(this.#shown(path), action);
    const known = this.#entries[at];
    if (!known) return this.add(path, action, reason);
    const more = `${known.reason}; ${reason}`.slice(0, LONGEST_REASON);
    this.#entries = this.#entries.with(at, { ...known, reason: more });
  }

  /** -1 where there is no such entry. At most 500 are looked at. */
  #placeOf(shown: string, action: ReportAction): number {
    return this.#entries.findIndex((entry) => entry.path === shown && entry.action === action);
  }

  /** The path as it is kept. */
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

  /** Entries by which the answer differs from what was asked: all but defaults. Strict mode refuses these. */
  get losses(): readonly ReportEntry[] {
    return this.#entries.filter((entry) => entry.action !== 'defaulted');
  }

  /** A copy that starts with the same entries: each attempt adds its own to those of the request. */
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

// Names that a client gives the members which codecs and the engine know by their name in Chat Completions. Knows no
// protocol's names itself: each has its own table.

/**
 * A protocol's names by ours. Where a member can be said in several ways, the one in the body counts, else the first.
 * `[]` stands for the place in a list.
 */
export type ClientNames = Readonly<Record<string, readonly string[]>>;

/**
 * A path in the words of a client.
 * @param path as codecs and the engine write it, e.g. `response_format.json_schema.schema`; what already stands in the
 *   client's own words comes back as it is
 * @param body what the client sent: a member that is in it needs no other name
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

/** Begin of the last step of the path that ends at `end`; 0 for a path of one step. */
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
