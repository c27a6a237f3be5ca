// Shares answers under idempotency keys between processes. The first request with a key in this process claims its answer.
// All publishing and reading goes in one call for all answers, a few times per second. While the store is unreachable, each
// process produces its own answers.
import type {
  AnswerExchange,
  AnswerSource,
  Client,
  FollowedEnd,
  PublicAnswer,
} from '../../../engine/index.ts';
import { Reach } from '../../counters/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { newId } from '../../../base/runtime/ids.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import type { AnswerStore, AnswerRead, Exchanged, AnswerUpdate } from '../answer-store.ts';
import { Following } from './following.ts';
import { Publishing } from './publishing.ts';
import { SealedFrames } from './sealed-frames.ts';
import type { DurationMs } from '../../../base/units.ts';

/** Milliseconds between two calls. */
const LOOK_MS = 100;
/** Timeout of the last call when the process ends, in milliseconds. */
const LAST_CALL_MS = 1000;
/** Maximum characters of frames per call. */
const MOST_CHARS = 2_000_000;

export interface ExchangedAnswersOptions {
  readonly store: AnswerStore;
  /** 32 bytes shared by the processes of the installation. */
  readonly secret: Uint8Array;
  readonly clock: Clock;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  /** Retention of a complete answer in milliseconds, and maximum size of all of them in bytes. */
  readonly limits: () => { readonly ttlMs: DurationMs; readonly maxBytes: number };
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

export class ExchangedAnswers implements AnswerExchange {
  readonly #options: ExchangedAnswersOptions;
  readonly #frames: SealedFrames;
  readonly #reach: Reach;
  readonly #publishings = new Set<Publishing>();
  readonly #followings = new Set<Following>();
  #stopLooking: (() => void) | null = null;
  #exchanging: Promise<void> | null = null;

  constructor(options: ExchangedAnswersOptions) {
    this.#options = options;
    this.#frames = new SealedFrames(options.secret);
    this.#reach = new Reach({
      ...options,
      gone: 'the response store is unreachable: idempotency keys apply to each process separately',
      back: 'the response store is reachable again: idempotency keys apply to all processes',
    });
  }

  async claim(name: string, fingerprint: string): Promise<AnswerSource> {
    const { store, elapsed, limits } = this.#options;
    const run = newId('run_');
    const claim = { name: this.#frames.hide(name), fingerprint: this.#frames.hide(fingerprint), run };
    const claimed = this.#reach.mayTry ? (await this.#reach.ask(() => store.claim(claim)))?.answer : null;
    if (!claimed) return { type: 'own', publication: null };
    if (claimed.type === 'theirs')
      return { type: 'other', follow: (reader) => this.#follow(claim.name, claimed.run, reader) };
    if (claimed.type !== 'mine') return { type: claimed.type };
    const publication = new Publishing({ claim, frames: this.#frames, elapsed, limits, isOnce: false });
    this.#publishings.add(publication);
    this.#look();
    return { type: 'own', publication };
  }

  /** Publishes an answer to the one process that follows this run, until it stops. */
  publishOnce(run: string, answer: PublicAnswer): void {
    const claim = { name: this.#frames.hide(run), fingerprint: '', run };
    const { elapsed, limits } = this.#options;
    const publication = new Publishing({ claim, frames: this.#frames, elapsed, limits, isOnce: true });
    publication.begin(answer);
    this.#publishings.add(publication);
    this.#look();
    void this.#exchange();
  }

  /** Sends a reader what another process publishes with `publishOnce`. */
  followOnce(run: string, reader: Client): Promise<FollowedEnd> {
    return this.#follow(this.#frames.hide(run), run, reader);
  }

  /** Publishes the rest, if that is possible immediately. */
  async stop(): Promise<void> {
    const until = this.#options.elapsed() + LAST_CALL_MS;
    const isLeft = (): boolean => [...this.#publishings].some(({ isOver }) => isOver);
    while (isLeft() && this.#reach.isOpen && this.#options.elapsed() < until) await this.#exchange();
    this.#stopLooking?.();
  }

  #follow(name: string, run: string, reader: Client): Promise<FollowedEnd> {
    const { elapsed } = this.#options;
    const following = new Following({ name, run, reader, frames: this.#frames, elapsed });
    this.#followings.add(following);
    this.#look();
    void this.#exchange();
    return following.ended;
  }

  #look(): void {
    this.#stopLooking ??= this.#options.clock.every(LOOK_MS, () => void this.#exchange());
  }

  #exchange(): Promise<void> {
    return (this.#exchanging ??= this.#publishAndAsk().finally(() => {
      this.#exchanging = null;
      for (const each of this.#publishings) if (each.isDone) this.#publishings.delete(each);
      for (const each of this.#followings) if (each.isOver) this.#followings.delete(each);
      if (this.#publishings.size + this.#followings.size === 0) {
        this.#stopLooking?.();
        this.#stopLooking = null;
      }
    }));
  }

  async #publishAndAsk(): Promise<void> {
    const updates = this.#updates();
    const asked: [Following, AnswerRead][] = [];
    for (const each of this.#followings) {
      const question = each.ask();
      if (question) asked.push([each, question]);
    }
    if (updates.length + asked.length === 0) return;
    const reply = await this.#ask(
      updates.map(([, words]) => words),
      asked.map(([, words]) => words),
    );
    for (const [at, [publishing, words]] of updates.entries()) {
      const receipt = reply?.receipts[at];
      if (receipt) publishing.take(words, receipt);
    }
    for (const [at, [following]] of asked.entries()) {
      const found = reply?.answers[at];
      if (found) following.take(found);
      else following.unanswered();
    }
  }

  #updates(): [Publishing, AnswerUpdate][] {
    const updates: [Publishing, AnswerUpdate][] = [];
    let chars = 0;
    for (const each of this.#publishings) {
      if (chars > MOST_CHARS) break;
      const words = each.takeUpdate();
      if (!words) continue;
      updates.push([each, words]);
      for (const frame of words.frames) chars += frame.length;
    }
    return updates;
  }

  async #ask(updates: readonly AnswerUpdate[], asked: readonly AnswerRead[]): Promise<Exchanged | null> {
    if (!this.#reach.mayTry) return null;
    return (await this.#reach.ask(() => this.#options.store.exchange(updates, asked)))?.answer ?? null;
  }
}
