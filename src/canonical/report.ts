// The loss report: whatever a codec or the engine drops, approximates, defaults or clamps is written here
// with its JSON path. It is shown in a header, kept in the record, and a 400 in strict mode.
import { clientName, type ClientNames } from './client-names.ts';
import type { JsonObject } from './json.ts';

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
  /** Made with the first entry: most requests lose nothing. */
  #entries: Map<string, ReportEntry> | undefined;
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
    if (path.startsWith(OWN_PATH)) return;
    const entries = (this.#entries ??= new Map());
    if (entries.size >= MOST_ENTRIES) return;
    const shown = this.#shown(path);
    const key = `${shown}:${action}`;
    if (!entries.has(key)) entries.set(key, { path: shown, action, reason });
  }

  /** Says more where an entry was made already: what became of it. Else adds it. The reason is cut at 2,000 characters. */
  extend(path: string, action: ReportAction, reason: string): void {
    const key = `${this.#shown(path)}:${action}`;
    const known = this.#entries?.get(key);
    if (!known) return this.add(path, action, reason);
    this.#entries?.set(key, { ...known, reason: `${known.reason}; ${reason}`.slice(0, LONGEST_REASON) });
  }

  /** The path as it is kept. */
  #shown(path: string): string {
    const named = this.nameOf(path);
    return named.length > LONGEST_PATH ? `${named.slice(0, LONGEST_PATH)}…` : named;
  }

  get entries(): readonly ReportEntry[] {
    return this.#entries ? [...this.#entries.values()] : NONE;
  }

  get size(): number {
    return this.#entries?.size ?? 0;
  }

  /** What would make the answer differ from what was asked: everything but defaults. Strict mode refuses these. */
  get losses(): readonly ReportEntry[] {
    return this.entries.filter((entry) => entry.action !== 'defaulted');
  }

  /** A copy that starts with the same entries: each attempt adds its own to those of the request. */
  fork(): Report {
    const copy = new Report();
    copy.#client = this.#client;
    if (this.#entries) copy.#entries = new Map(this.#entries);
    return copy;
  }

  /** `path:action, path:action`, as the `x-dragoman-report` header carries it. */
  header(): string {
    return this.entries.map((entry) => `${entry.path}:${entry.action}`).join(', ');
  }
}
