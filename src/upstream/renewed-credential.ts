// Expiring credentials: fetched once for all requests, cached, and renewed before they expire.
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

/** Fetches a new credential. Rejects with GatewayError, also when the signal is aborted. */
export type FetchCredential = (signal: AbortSignal) => Promise<FetchedCredential>;

/** Remaining lifetime at which a new one is fetched while the old one is still used. */
const REFRESH_BEFORE_MS = 5 * 60_000;
/** Remaining lifetime at which it may expire in transit and is no longer used. */
const UNUSABLE_BEFORE_MS = 30_000;
/** A fetch that takes longer is cancelled by the next request that needs it. */
const PATIENCE_MS = 10_000;
/** Retry interval while the old one is usable, because some issuers return the same token until its last minutes. */
const PAUSE_MS = 10_000;
/**
 * Time for which the replacement of a refused credential is kept even if it is refused, because another would be
 * refused too.
 */
const REFUSAL_RETRY_MS = 60_000;

interface CachedCredential extends FetchedCredential {
  readonly fetchedAt: UnixMs;
  /** True: the previous one was refused. */
  readonly replacesRefused: boolean;
}

type Fetched = Omit<CachedCredential, 'replacesRefused'>;

interface Fetch {
  readonly startedAt: UnixMs;
  readonly fetched: Promise<Fetched>;
  readonly controller: AbortController;
  /** Fetch that replaced it after a timeout; waiters then get its result. */
  successor: Fetch | undefined;
}

export class RenewedCredential implements Credential {
  readonly #fetchNew: FetchCredential;
  readonly #now: () => UnixMs;
  readonly #wall: () => UnixMs;
  #kept: CachedCredential | undefined;
  /** True when the upstream refused the cached credential, which is then only used to classify answers. */
  #isSpent = false;
  #fetch: Fetch | undefined;
  #triedAt = -PAUSE_MS;

  /** @param clock `wall` is only used to interpret expiry times */
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
      // A failure here is reported to the next request that needs a new one.
      if (left <= REFRESH_BEFORE_MS && now - this.#triedAt >= PAUSE_MS) this.#refresh(now).catch(() => {});
      return kept.credential.headers(request);
    }
    return this.#refresh(now).then(({ credential }) => credential.headers(request));
  }

  refused(answer: SignedAnswer, signedAt: UnixMs): boolean {
    const kept = this.#kept;
    if (!kept?.credential.isRefusal(answer)) return false;
    // Another request was refused too and has already triggered the renewal.
    if (this.#isSpent || kept.fetchedAt > signedAt) return true;
    this.#isSpent = !kept.replacesRefused || this.#now() - kept.fetchedAt >= REFUSAL_RETRY_MS;
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

  /** Never rejects: waiters get the error. */
  async #keep(fetch: Fetch): Promise<void> {
    try {
      const fetched = await fetch.fetched;
      // A cancelled fetch may still finish after its successor.
      if (this.#fetch !== fetch) return;
      this.#kept = { ...fetched, replacesRefused: this.#isSpent };
      this.#isSpent = false;
    } catch {
      // Failures are not cached: the next request tries again.
    }
    if (this.#fetch === fetch) this.#fetch = undefined;
  }
}

/** Outcome of a fetch, or of its successor if it was cancelled. */
async function outcomeOf(fetch: Fetch): Promise<Fetched> {
  try {
    return await fetch.fetched;
  } catch (error) {
    if (!fetch.successor) throw error;
    return outcomeOf(fetch.successor);
  }
}
