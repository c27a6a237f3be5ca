// Opens the state of both databases: journal, counters and stores, and the files of running requests.
import { EntryKinds } from './journal/entries.ts';
import { type EntryTarget, Indexer, type Later, soon } from './journal/indexer.ts';
import { Journal, type JournalOptions } from './journal/journal.ts';
import type { JournalFolder } from './journal/journal-folder.ts';
import { NO_RUNNING_STORE, RunningFile } from './running/running-file.ts';
import { NO_MARKS, SentMarks } from './running/sent-marks.ts';
import type { Driver, StateDatabase } from './tables/database.ts';
import { UsageCounter } from './tables/state/state-usage.ts';
import { type RemoteTurns, Turns } from './tables/state/turns.ts';
import { openStores, type OpenStores, type Stores } from './tables/stores.ts';
import type { Storage } from '../accounts/ports/index.ts';
import { errorText } from '../base/lib/errors.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';
import { GatewayError } from '../canonical/index.ts';

export interface OpenOptions {
  /** Master secrets, newest first; the same in all processes of a database. */
  readonly secrets?: readonly Uint8Array[] | undefined;
  /** Unix milliseconds. For schema versions, and for how long damaged journals are kept. */
  readonly now?: (() => UnixMs) | undefined;
  /** Version of the program; its own by default. */
  readonly program?: string | undefined;
  /** Maximum bytes of responses, conversations, prompts and files per project; read at every write. */
  readonly maxBytesPerKey?: (() => number) | undefined;
  /** Milliseconds that an answer may wait for the database; null: it does not wait. */
  readonly confirmMs?: DurationMs | null | undefined;
  /** Timer for writing the journal to the database; two seconds by default. */
  readonly later?: Later | undefined;
  /** Receives sentences for the operator, such as corrected file permissions or unreadable entries. */
  readonly notice?: ((sentence: string) => void) | undefined;
}

/** Default bytes per project: 1024 MB. */
const MAX_BYTES_PER_KEY = 1024 * 1_000_000;
/** Default maximum bytes waiting for the database, in memory and in the journal: several hundred thousand records. */
const MAX_JOURNAL_BYTES = 128_000_000;

/** Parts that differ between the databases. @typeParam Own members of the database that only its own stores use */
interface StateParts<Own> {
  readonly driver: Driver;
  readonly own: Own;
  /** Folder of journals. Null: entries wait in memory only. */
  readonly folder: JournalFolder | null;
  /** Maximum bytes in the journal; read at every write. */
  readonly maxBytes?: (() => number) | undefined;
  readonly journal?: Pick<JournalOptions, 'keepsUnwritten' | 'origin'>;
  readonly target: (entries: EntryKinds) => EntryTarget;
  readonly remote: (usage: UsageCounter) => RemoteTurns | null;
  /** Folder for the spend and the marks of running requests. Null: not recorded. */
  readonly running: string | null;
}

export interface OpenState<S extends Stores<never>> {
  readonly stores: OpenStores<S> & Pick<Storage, 'running' | 'marks'>;
  /** Writes what is left of the journal to the database. What it does not take now is left in files for the next start. */
  readonly finish: () => Promise<void>;
  readonly closeFiles: () => void;
}

/** Reason given by the server or the system. Neither contains a password. */
export function reasonOf(error: unknown): string {
  return errorText(GatewayError.is(error) ? (error.cause ?? error) : error);
}

/** Opens the stores of a database, once their tables exist, and writes what journals of crashed processes contain. */
export async function openState<Own, S extends Stores<StateDatabase & Own>>(
  kinds: S,
  {
    now = Date.now,
    maxBytesPerKey = () => MAX_BYTES_PER_KEY,
    later = soon,
    notice = () => {},
    confirmMs,
  }: OpenOptions,
  {
    driver,
    own,
    folder,
    maxBytes = () => MAX_JOURNAL_BYTES,
    journal,
    target,
    remote,
    running,
  }: StateParts<Own>,
): Promise<OpenState<S>> {
  const files = folder?.own();
  const entries = new EntryKinds(notice);
  const next = files ? () => files.next() : null;
  const indexer = new Indexer({
    journal: new Journal({ next, maxBytes, ...journal }),
    folder,
    target: target(entries),
    later,
    confirmMs,
    notice,
  });
  const database = { ...driver, indexer, onEntries: entries.register };
  const usage = new UsageCounter(database, maxBytesPerKey);
  const turns = new Turns(database, usage, remote(usage));
  const stores = openStores(kinds, { ...database, usage, turns, ...own });
  await indexer.recover(now());
  const requests = running === null ? null : new RunningFile(running);
  const marks = running === null ? null : new SentMarks(running);
  return {
    stores: { ...stores, running: requests ?? NO_RUNNING_STORE, marks: marks ?? NO_MARKS },
    finish: () =>
      indexer
        .finish()
        .catch((error: unknown) => notice(`records are queued for the next start: ${reasonOf(error)}`)),
    closeFiles() {
      files?.close();
      requests?.close();
      marks?.close();
    },
  };
}
