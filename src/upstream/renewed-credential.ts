// Credentials that expire: fetched once for everybody, kept, and replaced before they expire. The one place that knows
// when; where they come from is not its business.
import type { Clock } from '../base/runtime/clock.ts';
import type {
  Credential,
  ReadyCredential,
  SignatureHeaders,
  SignedAnswer,
  UnsignedRequest,
} from './credential.ts';
import type { UnixMs } from '../base/units.ts';

export interface FetchedCredential {
  readonly credential: ReadyCredential;
  readonly expiresAt: UnixMs;
}

/** Fetches a new credential. Rejects with GatewayError, also when the signal says that nobody waits any more. */
export type FetchCredential = (signal: AbortSignal) => Promise<FetchedCredential>;

/** From here on a new one is fetched, while the old one still serves. */
const REFRESH_BEFORE_MS = 5 * 60_000;
/** Nearer to its end, one might expire on its way. */
const UNUSABLE_BEFORE_MS = 30_000;
/** A fetch that takes longer is given up by the next one who needs it. */
const PATIENCE_MS = 10_000;
/** How soon a fetch is repeated while the old one serves: some issuers give the same token until its last minutes. */
const PAUSE_MS = 10_000;
/** How long one that took the place of a refused one stays: what refuses it as well would refuse the next one, too. */
const PATIENCE_WITH_REFUSALS_MS = 60_000;

interface Kept extends FetchedCredential {
  readonly fetchedAt: UnixMs;
  /** True: the one before it was refused. */
  readonly replacesRefused: boolean;
}

type Fetched = Omit<Kept, 'replacesRefused'>;

interface Fetch {
  readonly startedAt: UnixMs;
  readonly fetched: Promise<Fetched>;
  readonly controller: AbortController;
  /** Took its place when it was given up: who waited for the one gets the other. */
  successor: Fetch | undefined;
}

export class RenewedCredential implements Credential {
  readonly #fetchNew: FetchCredential;
  readonly #now: () => UnixMs;
  readonly #wall: () => UnixMs;
  #kept: Kept | undefined;
  /** True when the upstream refused what is kept: only judges answers until there is another one. */
  #isSpent = false;
  #fetch: Fetch | undefined;
  #triedAt = -PAUSE_MS;

  /** @param clock what is fetched says by its `wall` when it expires; nothing else is judged by that */
  constructor(fetchNew: FetchCredential, { now, wall }: Pick<Clock, 'now' | 'wall'>) {
    this.#fetchNew = fetchNew;
    this.#now = now;
    this.#wall = wall;
  }

  headers(request: UnsignedRequest): SignatureHeaders | Promise<SignatureHeaders> {
    const now = this.#now();
    const kept = this.#kept;
    const left = this.#isSpent ? 0 : (kept?.expiresAt ?? 0) - now;
    if (kept && left > UNUSABLE_BEFORE_MS) {
      // A failure here is told by whoever needs the next one.
      if (left <= REFRESH_BEFORE_MS && now - this.#triedAt >= PAUSE_MS) this.#refresh(now).catch(() => {});
      return kept.credential.headers(request);
    }
    return this.#refresh(now).then(({ credential }) => credential.headers(request));
  }

  refused(answer: SignedAnswer, signedAt: UnixMs): boolean {
    const kept = this.#kept;
    if (!kept?.credential.isRefusal(answer)) return false;
    // Another request was refused as well, and has seen to it.
    if (this.#isSpent || kept.fetchedAt > signedAt) return true;
    this.#isSpent = !kept.replacesRefused || this.#now() - kept.fetchedAt >= PATIENCE_WITH_REFUSALS_MS;
    return this.#isSpent;
  }

  #refresh(now: UnixMs): Promise<Fetched> {
    if (this.#fetch && now - this.#fetch.startedAt <= PATIENCE_MS) return outcomeOf(this.#fetch);
    const controller = new AbortController();
    const fetched = this.#fetchNew(controller.signal).then((one) => {
      const fetchedAt = this.#now();
      return { ...one, fetchedAt, expiresAt: fetchedAt + (one.expiresAt - this.#wall()) };
    });
    const fetch: Fetch = { startedAt: now, fetched, controller, successor: undefined };
    const given = this.#fetch;
    this.#triedAt = now;
    this.#fetch = fetch;
    void this.#keep(fetch);
    if (given) {
      given.successor = fetch;
      given.controller.abort();
    }
    return outcomeOf(fetch);
  }

  /** Never rejects: those who wait are told. */
  async #keep(fetch: Fetch): Promise<void> {
    try {
      const fetched = await fetch.fetched;
      // One that was given up may still come, after its successor.
      if (this.#fetch !== fetch) return;
      this.#kept = { ...fetched, replacesRefused: this.#isSpent };
      this.#isSpent = false;
    } catch {
      // A failure is not kept: the next request asks again.
    }
    if (this.#fetch === fetch) this.#fetch = undefined;
  }
}

/** Outcome of a fetch, or of its successor where it was given up. */
async function outcomeOf(fetch: Fetch): Promise<Fetched> {
  try {
    return await fetch.fetched;
  } catch (error) {
    if (!fetch.successor) throw error;
    return outcomeOf(fetch.successor);
  }
}
