// Opens a tape for each request whose content is kept, and stores afterwards what it has noted: one after another, off the
// way of all answers. Never fails a request.
import type { ApiCall, Tape, Tapes } from '../engine/index.ts';
import { nextTurn } from '../runtime/clock.ts';
import type { PayloadStore } from '../storage/ports.ts';
import type { Logger } from '../telemetry/log.ts';
import { maskedPayloads } from './masked.ts';
import { fromStored, type Payload, toStored } from './payload.ts';
import { Room } from './room.ts';
import { RequestTape } from './tape.ts';

/** What all tapes hold together, in bytes. */
const ROOM_BYTES = 64 * 1_048_576;

export interface KeeperSettings {
  /** Of whose requests something is kept: of all, or of those that failed. False: as `all`, for keys that ask for it. */
  readonly content: false | 'failures' | 'all';
  /** Of so many requests, one is kept. */
  readonly sample: number;
  /** Of each payload, in bytes. */
  readonly contentBytes: number;
  /** Of all that is kept, compressed, in bytes. */
  readonly contentMaxBytes: number;
}

export interface KeeperOptions {
  readonly store: PayloadStore;
  /** Asked for each request, since a reload may change them. */
  readonly settings: () => KeeperSettings;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
}

export class PayloadKeeper implements Tapes {
  /** Requests whose payloads were stored, and those that there was no room for, or that could not be. */
  kept = 0;
  dropped = 0;
  readonly #options: KeeperOptions;
  readonly #room = new Room(ROOM_BYTES);
  readonly #waiting: RequestTape[] = [];
  #working: Promise<void> | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  open(call: ApiCall): Tape | null {
    const { settings, random, now } = this.#options;
    const { content, sample, contentBytes } = settings();
    if (sample > 1 && random() * sample >= 1) return null;
    return new RequestTape(call, {
      keepsOnly: content === 'failures' ? content : null,
      mostBytes: contentBytes,
      room: this.#room,
      now,
      closed: (tape) => this.#closed(tape),
    });
  }

  /** What was kept of a request, once it is stored; none where nothing is. */
  async find(generationId: string): Promise<readonly Payload[]> {
    await this.#working;
    return Promise.all((await this.#options.store.find(generationId)).map(fromStored));
  }

  /** Resolves when everything is stored that waits now. */
  async stop(): Promise<void> {
    await this.#working;
  }

  #closed(tape: RequestTape): void {
    if (tape.generationId === undefined) return tape.release();
    if (tape.isLost) return void (this.dropped += 1);
    this.#waiting.push(tape);
    this.#working ??= this.#work();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    for (let tape = this.#waiting.shift(); tape; tape = this.#waiting.shift()) {
      await new Promise<void>(nextTurn);
      try {
        await this.#store(tape);
        this.kept += 1;
      } catch (error) {
        this.dropped += 1;
        this.#options.log.warn('what was said in a request could not be kept', {
          id: tape.generationId,
          error,
        });
      }
      tape.release();
    }
    this.#working = undefined;
  }

  async #store(tape: RequestTape): Promise<void> {
    const { store, settings } = this.#options;
    const { contentBytes, contentMaxBytes } = settings();
    const stored = [];
    for (const payload of maskedPayloads(tape, contentBytes)) stored.push(await toStored(payload));
    await store.put(tape.generationId ?? '', stored, contentMaxBytes);
  }
}
