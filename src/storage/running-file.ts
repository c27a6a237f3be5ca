// The requests of a process that run, each in a place of a file that is mapped into memory: a note costs a few stores,
// and is there when the process is killed. The file is gone after a normal stop.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onLeftBehind } from './journal/journal-file.ts';
import { PlaceFile } from './place-file.ts';
import type { RunningEntry, RunningRecord, RunningSpent, RunningStore } from '../accounts/ports/index.ts';

const SUFFIX = '.running';
/** Bytes of a place, and how many there are. */
const PLACE = 2048;
const PLACES = 2048;
/** Places of values within a record; the length of the record is written last, and is 0 where there is none. */
const LENGTH = 0;
/** Stands in the length while no upstream was sent the request: no record is so long, so that it is passed over. */
const UNSENT = 0x8000_0000;
const REQUESTS = 4;
const NANO_USD = 8;
const TOKENS = 16;
const AT = 24;
const RECORD = 32;

/** Spend of a database that dies with its process. */
export const NOTHING_RUNS: RunningStore = { open: () => null, recover: () => Promise.resolve() };

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
      this.#file.giveBack(place);
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
        this.#file.giveBack(place);
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

  /** Gives the file up. */
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
      // Programs that counted no turns have left it as it was made.
      requests: Math.max(1, file.readUInt32BE(start + REQUESTS)),
      nanoUsd: file.readDoubleBE(start + NANO_USD),
      tokens: file.readDoubleBE(start + TOKENS),
      atMs: file.readDoubleBE(start + AT),
    };
    // A record that this program wrote, and whole: its length came last.
    yield { record: JSON.parse(text) as RunningRecord, spent };
  }
}
