// Who is signed in to the console: a cookie stands for a credential that is checked again at every request, so a key that is
// revoked ends its sessions. In memory alone: a restart signs everybody out. Knows no address.
import { createHash, randomBytes } from 'node:crypto';

/** Without a request for so long, a session ends. */
const IDLE_MS = 2 * 3_600_000;
/** However busy it is, it ends after a working day. */
const LONGEST_MS = 12 * 3_600_000;
/** Sessions at once; the oldest go first. */
const MOST = 1_000;

export interface Session {
  /** What a change must carry beside the cookie, in a header. */
  readonly csrf: string;
  /** What it stands for: a key, or a token of this machine made anew each time. */
  readonly credential: () => string;
  /** Unix milliseconds. */
  readonly endsAt: number;
  /** Ends what still runs for it. */
  readonly ended: AbortController;
}

interface Kept extends Session {
  readonly idleAt: number;
}

export class Sessions {
  readonly #now: () => number;
  /** By the hash of their tokens, in the order of their making. */
  readonly #sessions = new Map<string, Kept>();

  /** @param now Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns the session, and the token that its cookie has */
  open(credential: () => string): { readonly token: string; readonly session: Session } {
    const now = this.#now();
    for (const [id, { idleAt, endsAt }] of this.#sessions)
      if (Math.min(idleAt, endsAt) <= now || this.#sessions.size >= MOST) this.#end(id);
    const token = randomBytes(32).toString('base64url');
    const session: Kept = {
      csrf: randomBytes(32).toString('base64url'),
      credential,
      endsAt: now + LONGEST_MS,
      idleAt: now + IDLE_MS,
      ended: new AbortController(),
    };
    this.#sessions.set(hashOf(token), session);
    return { token, session };
  }

  /** The session of a token, which was used just now; null where it ended or never was. */
  find(token: string): Session | null {
    const id = hashOf(token);
    const session = this.#sessions.get(id);
    const now = this.#now();
    if (!session) return null;
    if (Math.min(session.idleAt, session.endsAt) <= now) {
      this.#end(id);
      return null;
    }
    this.#sessions.set(id, { ...session, idleAt: now + IDLE_MS });
    return session;
  }

  end(token: string): void {
    this.#end(hashOf(token));
  }

  #end(id: string): void {
    this.#sessions.get(id)?.ended.abort();
    this.#sessions.delete(id);
  }
}

/** So that nobody who reads the memory of a crash finds a token that is good. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
