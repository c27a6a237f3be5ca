// Sessions of the console: a cookie stands for a credential that is checked again at every request, so a key that is
// revoked ends its sessions. They are kept where every process of the installation finds them: any of them knows a session,
// and one that ended anywhere has ended everywhere. Knows no address and no database.
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/runtime/clock.ts';
import type { UnixMs } from '../../base/units.ts';

/** Idle time after which a session ends. */
const IDLE_MS = 2 * 3_600_000;
/** However busy it is, it ends after a working day. */
const LONGEST_MS = 12 * 3_600_000;
/** A use is noted when the last note is so old: not every request writes. */
const NOTED_MS = 60_000;
/** Sessions that this process has seen; of more, the oldest lose what still runs for them. */
const MOST = 1_000;
/** Sessions in a list, and notes that are read for it: those of ended sessions are among them. */
const MOST_LISTED = 500;
const MOST_NOTES = 5_000;
/** How often it is asked which of them were ended elsewhere, because of what still runs for them. */
const LOOK_MS = 10_000;

/** Keeps texts until a time, unreadable to whoever reads the database, for all processes of the installation. */
export interface SessionStore {
  put(name: string, text: string, expiresAt: UnixMs): Promise<void>;
  /** Sessions that exist, by name. */
  get(names: readonly string[], nowMs: UnixMs): Promise<ReadonlyMap<string, string>>;
  /** Texts that have not expired, by name: at most `limit`, those first that expire last. */
  list(nowMs: UnixMs, limit: number): Promise<ReadonlyMap<string, string>>;
}

/** Browser that signed in. */
export interface SignedInFrom {
  /** Null: unknown. */
  readonly address: string | null;
  /** `User-Agent`, its first 200 characters. Null: it sent none. */
  readonly agent: string | null;
}

/** A session in a list. Times in Unix milliseconds. */
export interface ListedSession extends SignedInFrom {
  /** Hash of its token. */
  readonly id: string;
  /** The key that it stands for; null: the operator of this machine. */
  readonly key: string | null;
  readonly openedAt: UnixMs;
  /** To the minute. */
  readonly usedAt: UnixMs;
  /** When it ends, if nobody uses it any more. */
  readonly endsAt: UnixMs;
}

export interface Session {
  /** Hash of its token. */
  readonly id: string;
  /** Token that requests carry beside the cookie, in a header. */
  readonly csrf: string;
  /** Secret that a page opened later must know to get that token. Cookies reach other ports of a host; this does not. */
  readonly tab: string;
  /** The key that it stands for; null: the operator of this machine. */
  readonly key: string | null;
  readonly endsAt: UnixMs;
  /** Aborted when it ends, for what still runs for it. */
  readonly ended: AbortSignal;
}

/** A session as it is kept. */
interface Kept extends Pick<Session, 'csrf' | 'tab' | 'key' | 'endsAt'> {
  readonly idleAt: UnixMs;
  /** Absent in sessions of earlier versions. */
  readonly from?: SignedInFrom;
}

export class Sessions {
  readonly #store: SessionStore;
  readonly #clock: Pick<Clock, 'wall' | 'every'>;
  /** Ends of work that runs here, by the hash of a session's token. */
  readonly #running = new Map<string, AbortController>();
  #stopLooking: (() => void) | undefined;

  constructor(store: SessionStore, clock: Pick<Clock, 'wall' | 'every'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * @param key what it stands for; null: the operator of this machine
   * @param from who signed in
   * @returns the session, and the token that its cookie has
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

  /** The session of a token, which was used just now; null where it ended or never was. */
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

  /** Ends it in every process. */
  end(token: string): Promise<void> {
    return this.endById(hashOf(token));
  }

  /** Ends it in every process. @param id hash of its token */
  async endById(id: string): Promise<void> {
    this.#abort(id);
    // A note of its own: whoever notes a use in this moment cannot take it back.
    await this.#store.put(endOf(id), 'ended', this.#clock.wall() + LONGEST_MS);
  }

  /** Sessions that have not ended, those used last first. At most 500. */
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

  /** Sessions that ended in another process, or by time, end here. */
  async #look(): Promise<void> {
    const ids = [...this.#running.keys()];
    const now = this.#clock.wall();
    const notes = await this.#store.get([...ids, ...ids.map(endOf)], now).catch(() => null);
    // Out of reach: the next look will tell.
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

/** The session of an id, where it has not ended. */
function openIn(notes: ReadonlyMap<string, string>, id: string, now: UnixMs): Kept | null {
  const text = notes.get(id);
  if (text === undefined || notes.has(endOf(id))) return null;
  const kept = JSON.parse(text) as Kept;
  // Sessions of earlier versions have no `tab`: whoever has one signs in again.
  return typeof kept.tab === 'string' && Math.min(kept.idleAt, kept.endsAt) > now ? kept : null;
}

const ENDED = ' ended';

/** The name of the note that a session was ended. */
function endOf(id: string): string {
  return `${id}${ENDED}`;
}

function isEnd(name: string): boolean {
  return name.endsWith(ENDED);
}

/** So that nobody who reads the database finds a token that is good. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
