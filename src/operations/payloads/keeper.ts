// Creates a recorder for each request to record, and afterwards stores its payloads in the background, one request
// after another. Never fails a request.
import type { ApiCall, PayloadRecorder, PayloadRecorders } from '../../engine/index.ts';
import { nextTurn } from '../../base/runtime/clock.ts';
import type { PayloadStore } from '../../accounts/ports/index.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { maskedPayloads } from './masked.ts';
import { fromStored, type Payload, toStored } from './payload.ts';
import { Room } from './room.ts';
import { RequestRecorder } from './request-recorder.ts';
import type { UnixMs } from '../../base/units.ts';

/** Maximum bytes held by all recorders together. */
const ROOM_BYTES = 64 * 1_048_576;

export interface KeeperSettings {
  /** Requests to record. False: all, for keys that enable it. */
  readonly content: false | 'failures' | 'all';
  /** One of this many requests is recorded. */
  readonly sample: number;
  /** Maximum bytes of each payload. */
  readonly contentBytes: number;
  /** Maximum compressed bytes of all stored payloads. */
  readonly contentMaxBytes: number;
}

export interface KeeperOptions {
  readonly store: PayloadStore;
  /** Read for each request, because a reload may change them. */
  readonly settings: () => KeeperSettings;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly now: () => UnixMs;
  readonly log: Logger;
}

export class PayloadKeeper implements PayloadRecorders {
  /**
   * Number of requests whose payloads were stored, and whose payloads were dropped: no memory was available, or storing
   * failed.
   */
  kept = 0;
  dropped = 0;
  readonly #options: KeeperOptions;
  readonly #room = new Room(ROOM_BYTES);
  readonly #waiting: RequestRecorder[] = [];
  #working: Promise<void> | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  open(call: ApiCall): PayloadRecorder | null {
    const { settings, random, now } = this.#options;
    const { content, sample, contentBytes } = settings();
    if (sample > 1 && random() * sample >= 1) return null;
    return new RequestRecorder(call, {
      keepsOnly: content === 'failures' ? content : null,
      mostBytes: contentBytes,
      room: this.#room,
      now,
      closed: (recorder) => this.#closed(recorder),
    });
  }

  /** Payloads of a request, after pending ones have been stored. Empty: none. */
  async find(generationId: string): Promise<readonly Payload[]> {
    await this.#working;
    return Promise.all((await this.#options.store.find(generationId)).map(fromStored));
  }

  /** Resolves when all pending payloads are stored. */
  async stop(): Promise<void> {
    await this.#working;
  }

  #closed(recorder: RequestRecorder): void {
    if (recorder.generationId === undefined) return recorder.release();
    if (recorder.isLost) return void (this.dropped += 1);
    this.#waiting.push(recorder);
    this.#working ??= this.#work();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    for (let recorder = this.#waiting.shift(); recorder; recorder = this.#waiting.shift()) {
      await new Promise<void>(nextTurn);
      try {
        await this.#store(recorder);
        this.kept += 1;
      } catch (error) {
        this.dropped += 1;
        this.#options.log.warn('payloads of a request could not be stored', {
          id: recorder.generationId,
          error,
        });
      }
      recorder.release();
    }
    this.#working = undefined;
  }

  async #store(recorder: RequestRecorder): Promise<void> {
    const { store, settings } = this.#options;
    const { contentBytes, contentMaxBytes } = settings();
    const stored = [];
    for (const payload of maskedPayloads(recorder, contentBytes)) stored.push(await toStored(payload));
    await store.put(recorder.generationId ?? '', stored, contentMaxBytes);
  }
}
