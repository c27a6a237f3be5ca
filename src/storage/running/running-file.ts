// Running requests of a process, each in a slot of a memory-mapped file, so that their spend survives when the process
// is killed. The file is deleted on a normal stop.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onLeftBehind } from '../journal/journal-file.ts';
import { PlaceFile } from './place-file.ts';
import type { RunningEntry, RunningRecord, RunningSpent, RunningStore } from '../../accounts/ports/index.ts';

const SUFFIX = '.running';
/** Bytes per slot, and number of slots. */
const PLACE = 2048;
const PLACES = 2048;
/** Offsets within a slot. The length of the record is written last; 0: none. */
const LENGTH = 0;
/**
 * Added to the length until the request was sent to an upstream. The length is then too large to be valid, so readers
 * skip the slot.
 */
const UNSENT = 0x8000_0000;
const REQUESTS = 4;
const NANO_USD = 8;
const TOKENS = 16;
const AT = 24;
const RECORD = 32;

/** Store for a database that does not outlive its process. */
export const NO_RUNNING_STORE: RunningStore = { open: () => null, recover: () => Promise.resolve() };

export class RunningFile implements RunningStore {
  readonly #folder: string;
  readonly #file: PlaceFile;
  readonly #encoder = new TextEncoder();

  constructor(folder: string) {
    this.#folder = folder;
    this.#file = new PlaceFile({ folder, suffix: SUFFIX, bytes: PLACE, places: PLACES });
  }

  open(record: RunningRecord): RunningEntry | null {
    const place = this.#file.take();
    if (!place) return null;
    const { view, start } = place;
    const text = JSON.stringify(record);
    const room = new Uint8Array(view.buffer, view.byteOffset + start + RECORD, PLACE - RECORD);
    const { read, written } = this.#encoder.encodeInto(text, room);
    if (read < text.length) {
      this.#file.release(place);
      return null;
    }
    view.setUint32(start + REQUESTS, 1);
    view.setFloat64(start + NANO_USD, 0);
    view.setFloat64(start + TOKENS, 0);
    view.setFloat64(start + AT, record.generation.createdAt);
    view.setUint32(start + LENGTH, UNSENT + written);
    return {
      sent: () => view.setUint32(start + LENGTH, written),
      note({ requests, nanoUsd, tokens, atMs }) {
        view.setUint32(start + REQUESTS, requests);
        view.setFloat64(start + NANO_USD, nanoUsd);
        view.setFloat64(start + TOKENS, tokens);
        view.setFloat64(start + AT, atMs);
      },
      close: () => {
        view.setUint32(start + LENGTH, 0);
        this.#file.release(place);
      },
    };
  }

  async recover(take: (record: RunningRecord, spent: RunningSpent) => Promise<void>): Promise<void> {
    if (!existsSync(this.#folder)) return;
    const left = readdirSync(this.#folder).filter((name) => name.endsWith(SUFFIX));
    for (const path of left.map((name) => join(this.#folder, name)))
      await onLeftBehind(path, async () => {
        for (const { record, spent } of placesOf(readFileSync(path))) await take(record, spent);
        rmSync(path, { force: true });
      });
  }

  close(): void {
    this.#file.close(false);
  }
}

function* placesOf(file: Buffer): Iterable<{ readonly record: RunningRecord; readonly spent: RunningSpent }> {
  for (let start = 0; start + PLACE <= file.length; start += PLACE) {
    const length = file.readUInt32BE(start + LENGTH);
    if (length === 0 || length > PLACE - RECORD) continue;
    const text = file.toString('utf8', start + RECORD, start + RECORD + length);
    const spent = {
      // Versions that did not count turns left it at 0.
      requests: Math.max(1, file.readUInt32BE(start + REQUESTS)),
      nanoUsd: file.readDoubleBE(start + NANO_USD),
      tokens: file.readDoubleBE(start + TOKENS),
      atMs: file.readDoubleBE(start + AT),
    };
    // The record is complete, because its length is written last.
    yield { record: JSON.parse(text) as RunningRecord, spent };
  }
}
