// Console sessions. A session refers to a credential that is checked at every request, so that revoking a key ends its
// sessions. They are stored in the database and valid in all processes.
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/runtime/clock.ts';
import type { UnixMs } from '../../base/units.ts';

/** Idle milliseconds after which a session ends. */
const IDLE_MS = 2 * 3_600_000;
/** Maximum duration in milliseconds, even if it is in use. */
const LONGEST_MS = 12 * 3_600_000;
/** Milliseconds between updates of the last use, so that not every request writes. */
const NOTED_MS = 60_000;
/** Maximum number of sessions tracked by this process. Beyond that, running work of the oldest is aborted. */
const MOST = 1_000;
/** Maximum sessions in a list, and entries that are read for it, which include those of ended sessions. */
const MOST_LISTED = 500;
const MOST_NOTES = 5_000;
/** Milliseconds between checks for sessions that ended in other processes. Their running work is aborted. */
const LOOK_MS = 10_000;

/** Stores encrypted texts until they expire, for all processes. */
export interface SessionStore {
  put(name: string, text: string, expiresAt: UnixMs): Promise<void>;
  /** Existing entries, by name. */
  get(names: readonly string[], nowMs: UnixMs): Promise<ReadonlyMap<string, string>>;
  /** Unexpired entries by name: at most `limit`, those that expire last first. */
  list(nowMs: UnixMs, limit: number): Promise<ReadonlyMap<string, string>>;
}

/** Browser that signed in. */
export interface SignedInFrom {
  /** Null: unknown. */
  readonly address: string | null;
  /** `User-Agent`, at most 200 characters. Null: none. */
  readonly agent: string | null;
}

/** A session in a list. Times are Unix milliseconds. */
export interface ListedSession extends SignedInFrom {
  /** Hash of its token. */
  readonly id: string;
  /** Its key; null: the operator of this machine. */
  readonly key: string | null;
  readonly openedAt: UnixMs;
  /** Accurate to a minute. */
  readonly usedAt: UnixMs;
  /** End of the session if it is not used again. */
  readonly endsAt: UnixMs;
}

export interface Session {
  /** Hash of its token. */
  readonly id: string;
  /** CSRF token, which requests send in a header in addition to the cookie. */
  readonly csrf: string;
  /**
   * Secret that a page opened later must present to get the CSRF token. Unlike cookies, it is not sent to other ports
   * of the host.
   */
  readonly tab: string;
  /** Its key; null: the operator of this machine. */
  readonly key: string | null;
  readonly endsAt: UnixMs;
  /** Aborted when the session ends, to stop running work. */
  readonly ended: AbortSignal;
}

/** A stored session. */
interface Kept extends Pick<Session, 'csrf' | 'tab' | 'key' | 'endsAt'> {
  readonly idleAt: UnixMs;
  /** Absent in sessions of earlier versions. */
  readonly from?: SignedInFrom;
}

export class Sessions {
  readonly #store: SessionStore;
  readonly #clock: Pick<Clock, 'wall' | 'every'>;
  /** Aborts running work in this process, by session id. */
  readonly #running = new Map<string, AbortController>();
  #stopLooking: (() => void) | undefined;

  constructor(store: SessionStore, clock: Pick<Clock, 'wall' | 'every'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * @param key its key; null: the operator of this machine
   * @param from browser that signed in
   * @returns the session, and the token for its cookie
   */
  async open(
    key: string | null,
    from: SignedInFrom,
  ): Promise<{ readonly token: string; readonly session: Session }> {
    const now = this.#clock.wall();
    const token = randomBytes(32).toString('base64url');
    const csrf = randomBytes(32).toString('base64url');
    const tab = randomBytes(32).toString('base64url');
    const kept = { csrf, tab, key, endsAt: now + LONGEST_MS, idleAt: now + IDLE_MS, from };
    await this.#keep(hashOf(token), kept);
    return { token, session: this.#seen(hashOf(token), kept) };
  }

  /** Finds and uses the session of a token; null: ended or unknown. */
  async find(token: string): Promise<Session | null> {
    const id = hashOf(token);
    const now = this.#clock.wall();
    const kept = openIn(await this.#store.get([id, endOf(id)], now), id, now);
    if (!kept) {
      this.#abort(id);
      return null;
    }
    const used = { ...kept, idleAt: now + IDLE_MS };
    if (used.idleAt - kept.idleAt >= NOTED_MS) await this.#keep(id, used);
    return this.#seen(id, used);
  }

  /** Ends the session of a token in all processes. */
  end(token: string): Promise<void> {
    return this.endById(hashOf(token));
  }

  /** Ends a session in all processes. @param id hash of its token */
  async endById(id: string): Promise<void> {
    this.#abort(id);
    // A separate entry, so that a concurrent update of the last use cannot undo it.
    await this.#store.put(endOf(id), 'ended', this.#clock.wall() + LONGEST_MS);
  }

  /** Open sessions, last used first. At most 500. */
  async list(): Promise<readonly ListedSession[]> {
    const now = this.#clock.wall();
    const notes = await this.#store.list(now, MOST_NOTES);
    const open = [...notes.keys()].flatMap((id): readonly ListedSession[] => {
      const kept = isEnd(id) ? null : openIn(notes, id, now);
      if (!kept) return [];
      const { key, endsAt, idleAt, from } = kept;
      return [
        {
          id,
          key,
          address: from?.address ?? null,
          agent: from?.agent ?? null,
          openedAt: endsAt - LONGEST_MS,
          usedAt: idleAt - IDLE_MS,
          endsAt: Math.min(endsAt, idleAt),
        },
      ];
    });
    return open.toSorted((a, b) => b.usedAt - a.usedAt).slice(0, MOST_LISTED);
  }

  #keep(id: string, kept: Kept): Promise<void> {
    return this.#store.put(id, JSON.stringify(kept), Math.min(kept.idleAt, kept.endsAt));
  }

  #seen(id: string, { csrf, tab, key, endsAt }: Kept): Session {
    const running = this.#running.get(id) ?? new AbortController();
    for (const oldest of this.#running.keys()) {
      if (this.#running.size < MOST || this.#running.has(id)) break;
      this.#abort(oldest);
    }
    this.#running.set(id, running);
    this.#stopLooking ??= this.#clock.every(LOOK_MS, () => void this.#look());
    return { id, csrf, tab, key, endsAt, ended: running.signal };
  }

  /** Aborts work of sessions that ended in another process or expired. */
  async #look(): Promise<void> {
    const ids = [...this.#running.keys()];
    const now = this.#clock.wall();
    const notes = await this.#store.get([...ids, ...ids.map(endOf)], now).catch(() => null);
    // The database is unavailable. Checked again later.
    if (!notes) return;
    for (const id of ids) if (!openIn(notes, id, now)) this.#abort(id);
    if (this.#running.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  #abort(id: string): void {
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }
}

/** The session with an id, if it has not ended. */
function openIn(notes: ReadonlyMap<string, string>, id: string, now: UnixMs): Kept | null {
  const text = notes.get(id);
  if (text === undefined || notes.has(endOf(id))) return null;
  const kept = JSON.parse(text) as Kept;
  // Sessions of earlier versions have no `tab` and require a new sign-in.
  return typeof kept.tab === 'string' && Math.min(kept.idleAt, kept.endsAt) > now ? kept : null;
}

const ENDED = ' ended';

/** Name of the entry that marks a session as ended. */
function endOf(id: string): string {
  return `${id}${ENDED}`;
}

function isEnd(name: string): boolean {
  return name.endsWith(ENDED);
}

/** Tokens are stored as hashes, so that reading the database does not reveal valid ones. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
