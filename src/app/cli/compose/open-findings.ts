// Storage of `doctor` results: the shared database, or a file in the data directory.
import { GatewayError } from '../../../canonical/index.ts';
import type { Config } from '../../config/index.ts';
import {
  capabilityPath,
  forgetDiagnoses,
  formatDiagnosis,
  readCapabilities,
  readDiagnoses,
  storeDiagnoses,
  type Capabilities,
  type Diagnosis,
} from '../../../operations/doctor/index.ts';
import type { FindingStore, Storage } from '../../../accounts/ports/index.ts';
import { inThisShell } from '../program-name.ts';
import { openStorage } from './open-storage.ts';

/** Poll interval of a shared database, in milliseconds. */
const LOOK_MS = 2_000;

/** Results known to a running gateway. */
export class KnownFindings {
  /** Files to watch. */
  readonly paths: readonly string[];
  readonly #dataDir: string;
  readonly #isShared: boolean;
  #store: FindingStore | null = null;
  #mark = '';
  #read: Capabilities = { diagnoses: [], problem: null, isDamaged: false };

  constructor({ dataDir, databaseUrl }: Config) {
    this.#dataDir = dataDir;
    this.#isShared = databaseUrl !== null;
    this.paths = this.#isShared ? [] : [capabilityPath(dataDir)];
  }

  /** The current file, or the last state read from the database. */
  read(): readonly Diagnosis[] {
    if (!this.#isShared) this.#read = readCapabilities(this.#dataDir);
    return this.#read.diagnoses;
  }

  /** Problem of the last read, with advice. Null: none. */
  get problem(): string | null {
    const { problem, isDamaged } = this.#read;
    return isDamaged ? `${problem}; \`${inThisShell('doctor --forget')}\` repairs it` : problem;
  }

  /** Findings of the last reading. */
  get diagnoses(): readonly Diagnosis[] {
    return this.#read.diagnoses;
  }

  /** Reads the database. @returns true when it had results, which earlier snapshots lack */
  async open({ findings }: Pick<Storage, 'findings'>): Promise<boolean> {
    this.#store = findings;
    return this.#refresh();
  }

  /**
   * Follows changes in the database.
   * @param changed called when there are new results
   * @param failed called when reading failed; the last results are kept
   * @returns a function that stops it
   */
  watch(changed: () => void, failed: (error: unknown) => void): () => void {
    if (!this.#isShared) return () => {};
    let running = false;
    const timer = setInterval(() => {
      if (running) return;
      running = true;
      this.#refresh()
        .then((isNew) => isNew && changed())
        .catch(failed)
        .finally(() => (running = false));
    }, LOOK_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  async #refresh(): Promise<boolean> {
    if (!this.#store) return false;
    // Read before the data, so that changes in between are read again.
    const mark = await this.#store.mark();
    if (mark === this.#mark) return false;
    this.#read = await readShared(this.#store);
    this.#mark = mark;
    return true;
  }
}

/** Results for a command to read and write. */
export interface Findings {
  read(): Promise<Capabilities>;
  /** Throws GatewayError `internal`. */
  store(made: readonly Diagnosis[]): Promise<void>;
  /** @returns number of deleted endpoints */
  forget(provider: string | undefined): Promise<number>;
}

/** Runs an action with the configured storage. Throws ConfigError, or GatewayError `internal`. */
export async function withFindings<Result>(
  config: Config,
  action: (findings: Findings) => Promise<Result>,
): Promise<Result> {
  const { dataDir, databaseUrl } = config;
  if (databaseUrl === null)
    return action({
      read: async () => readCapabilities(dataDir),
      store: async (made) => storeDiagnoses(dataDir, made),
      forget: async (provider) => forgetDiagnoses(dataDir, provider),
    });
  const storage = await openStorage(config, (sentence) => void process.stderr.write(`${sentence}\n`));
  try {
    const { findings } = storage;
    if (!findings) throw new GatewayError('internal', 'This database does not store probe results.');
    return await action({
      read: () => readShared(findings),
      store: (made) => storeShared(findings, made),
      forget: (provider) => findings.forget(provider),
    });
  } finally {
    await storage.close();
  }
}

async function readShared(store: FindingStore): Promise<Capabilities> {
  return readDiagnoses(await store.all(), 'the database table doctor_findings');
}

/** Stores results in the database, replacing older ones of the same endpoints. */
export function storeShared(store: FindingStore, made: readonly Diagnosis[]): Promise<void> {
  return store.put(
    made.map((one) => ({
      provider: one.provider,
      protocol: one.protocol,
      model: one.model,
      entry: formatDiagnosis(one),
    })),
  );
}
