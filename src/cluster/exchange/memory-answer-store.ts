// Answer store in memory, for the supervisor. The port documents its behaviour.
import {
  type AnswerClaim,
  type ClaimResult,
  type AnswerState,
  type AnswerStore,
  type AnswerRead,
  type Exchanged,
  FAILED_MS,
  type AnswerReceipt,
  READER_MS,
  LEASE_MS,
  MOST_FRAMES,
  type AnswerUpdate,
  type AnswerFrames,
} from './answer-store.ts';
import type { UnixMs } from '../../base/units.ts';

interface Entry {
  readonly fingerprint: string;
  readonly run: string;
  edition: number;
  state: AnswerState;
  frames: string[];
  /** Number of characters, once complete. */
  chars: number;
  expiresAt: UnixMs;
  readAt: UnixMs;
}

export class MemoryAnswerStore implements AnswerStore {
  readonly #now: () => UnixMs;
  /** Answers by name. Complete ones are in order of completion. */
  readonly #byName = new Map<string, Entry>();
  /** Failed answers by name and run. Their names are free. */
  readonly #failed = new Map<string, Entry>();
  #chars = 0;

  /** @param now monotonic milliseconds */
  constructor(now: () => UnixMs) {
    this.#now = now;
  }

  async claim({ name, fingerprint, run }: AnswerClaim): Promise<ClaimResult> {
    this.#expire();
    const entry = this.#byName.get(name);
    if (!entry) {
      this.#byName.set(name, this.#entryOf({ fingerprint, run, edition: 0 }));
      return { type: 'mine' };
    }
    if (entry.fingerprint !== fingerprint) return { type: 'conflict' };
    if (entry.state === 'large') return { type: 'large' };
    entry.readAt = this.#now();
    return { type: 'theirs', run: entry.run };
  }

  async exchange(updates: readonly AnswerUpdate[], reads: readonly AnswerRead[]): Promise<Exchanged> {
    this.#expire();
    return {
      receipts: updates.map((one) => this.#publish(one)),
      answers: reads.map((one) => this.#read(one)),
    };
  }

  #publish(update: AnswerUpdate): AnswerReceipt {
    const { name, run, edition, at, frames, state } = update;
    let entry = this.#byName.get(name);
    if (entry && entry.run !== run) return 'lost';
    if (!entry || entry.edition !== edition) {
      if (at > 0) return 'again';
      entry = { ...this.#entryOf(update), readAt: entry?.readAt ?? -Infinity };
      this.#byName.set(name, entry);
    }
    if (entry.frames.length < at) return 'again';
    // Known frames arrive again if the response was lost.
    entry.frames.push(...frames.slice(entry.frames.length - at));
    this.#settle(entry, { ...update, state });
    return this.#now() - entry.readAt < READER_MS ? 'heard' : 'unheard';
  }

  #settle(entry: Entry, { name, run, state, keepsMs, mostChars }: AnswerUpdate): void {
    const now = this.#now();
    const wasComplete = entry.state === 'complete';
    entry.state = state;
    if (state === 'failed') {
      this.#byName.delete(name);
      entry.expiresAt = now + FAILED_MS;
      this.#failed.set(`${name} ${run}`, entry);
    } else if (state === 'complete') {
      if (wasComplete) return;
      entry.expiresAt = now + keepsMs;
      entry.chars = entry.frames.reduce((sum, frame) => sum + frame.length, 0);
      this.#chars += entry.chars;
      // Moves it to the end.
      this.#byName.delete(name);
      this.#byName.set(name, entry);
      this.#makeRoom(mostChars);
    } else entry.expiresAt = now + LEASE_MS;
  }

  #read({ name, run, edition, from }: AnswerRead): AnswerFrames {
    const own = this.#byName.get(name);
    const isOwn = own?.run === run;
    if (isOwn) own.readAt = this.#now();
    const entry = isOwn ? own : this.#failed.get(`${name} ${run}`);
    if (!entry) return { state: 'gone', edition, frames: [], count: 0 };
    const first = entry.edition === edition ? from : 0;
    const frames = entry.frames.slice(first, first + MOST_FRAMES);
    return { state: entry.state, edition: entry.edition, frames, count: entry.frames.length };
  }

  #entryOf({ fingerprint, run, edition }: Pick<AnswerUpdate, 'fingerprint' | 'run' | 'edition'>): Entry {
    const expiresAt = this.#now() + LEASE_MS;
    return {
      fingerprint,
      run,
      edition,
      state: 'running',
      frames: [],
      chars: 0,
      expiresAt,
      readAt: -Infinity,
    };
  }

  #expire(): void {
    const now = this.#now();
    for (const entries of [this.#byName, this.#failed])
      for (const [name, entry] of entries) if (entry.expiresAt <= now) this.#drop(entries, name, entry);
  }

  #makeRoom(mostChars: number): void {
    for (const [name, entry] of this.#byName) {
      if (this.#chars <= mostChars) return;
      if (entry.state === 'complete') this.#drop(this.#byName, name, entry);
    }
  }

  #drop(entries: Map<string, Entry>, name: string, entry: Entry): void {
    entries.delete(name);
    this.#chars -= entry.chars;
  }
}
