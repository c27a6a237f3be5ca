// A gateway as a process that may die between any two of its steps: the real engine, limits, journal and database, on a
// clock that is moved by hand, in front of an upstream that says what it is told to. What a dead one leaves behind is its
// data directory as it was at that moment. Nothing of it waits for a socket: a seed says all that happens.
import { jsonBytes } from '../../src/base/json/index.ts';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Principal } from '../../src/accounts/auth/index.ts';
import { openTools } from '../../src/app/cli/compose/open-tools.ts';
import { recoverRunning } from '../../src/app/cli/compose/recover-running.ts';
import { buildSnapshot, loadConfig, type Snapshot } from '../../src/app/config/index.ts';
import { EndUsers, Gateway, KeptStreams } from '../../src/engine/index.ts';
import {
  Limits,
  type LimitEntry,
  type LimitSource,
  RestoredLimits,
} from '../../src/accounts/limits/index.ts';
import { findProtocol } from '../../src/protocols/index.ts';
import { presets } from '../../src/catalog/providers/index.ts';
import { MemoryRoutingState } from '../../src/engine/routing/index.ts';
import { Ticker } from '../../src/base/runtime/clock.ts';
import { Envelope } from '../../src/engine/state/envelope.ts';
import { Files } from '../../src/engine/state/files.ts';
import { Vault } from '../../src/engine/state/vault.ts';
import { BlobFolder } from '../../src/storage/blobs/blob-folder.ts';
import type { LedgerStore, RunningStore, Storage } from '../../src/accounts/ports/index.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';
import { createLogger } from '../../src/base/telemetry/log.ts';
import { GuardedFetch } from '../../src/upstream/fetch-guarded.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { MemoryClient, ScriptedSender } from './limits-machine-ends.ts';

const SECRET = new Uint8Array(32).fill(7);
const ORIGIN = 'http://127.0.0.1:9';
const HOUR = 3_600_000;

/** Nano-dollars of a token of an answer. Prompts are free: nobody but an upstream knows how long they are. */
export const TOKEN_NANO = 4_000;
/** Nano-dollars of a search. */
export const SEARCH_NANO = 50_000;

const CONFIG = {
  data_dir: '/nowhere',
  routing: { retries: 0, breaker: { failures: 1e6 } },
  providers: { up: { api_key: 'sk-up', protocols: { 'openai-chat': { base_url: `${ORIGIN}/v1` } } } },
  tools: {
    web_search: { backend: 'searxng', url: ORIGIN, price_usd_per_search: SEARCH_NANO / 1e9, pages: false },
  },
  models: ['one', 'two'].map((id) => ({
    id,
    max_output_tokens: 4000,
    endpoints: [
      { provider: 'up', model: id, protocol: 'openai-chat', price: { input: 0, output: TOKEN_NANO / 1e3 } },
    ],
  })),
};

let shared: Snapshot | undefined;

/** One for all of them: it never changes, and takes longer to make than all else of a start. */
function snapshot(): Snapshot {
  if (shared) return shared;
  const readFile = (): string => JSON.stringify(CONFIG);
  const { config } = loadConfig({ environment: {}, flags: { config: 'test.json' }, readFile });
  return (shared = buildSnapshot({ config, presets, sim: null, environment: {}, revision: 1 }));
}

/** Limits of each owner, until they are others. */
export interface Tenants {
  readonly gateway: readonly LimitEntry[];
  readonly project: readonly LimitEntry[];
  /** Limits of each of two keys in one project. */
  readonly keys: readonly (readonly LimitEntry[])[];
}

export const PROJECT = 'search';

interface MachineOptions {
  readonly folder: string;
  readonly clock: ManualClock;
  readonly tenants: Tenants;
}

export class Machine {
  readonly sender: ScriptedSender;
  readonly storage: Storage;
  readonly limits: Limits;
  /** Steps after which it dies; null: it does not. */
  diesAfter: number | null = null;
  /** Data that it left behind; null while it lives. */
  left: string | null = null;
  readonly clients: MemoryClient[] = [];
  readonly #options: MachineOptions;
  readonly #later: (() => void)[];
  readonly #restored: RestoredLimits;
  readonly #gateway: Gateway;
  readonly #running = new Set<Promise<unknown>>();
  #tenants: Tenants;
  #principals: readonly Principal[];

  private constructor(options: MachineOptions, storage: Storage, later: (() => void)[]) {
    const { clock, tenants, folder } = options;
    this.#options = options;
    this.#later = later;
    this.#tenants = tenants;
    this.#principals = principalsOf(tenants);
    this.storage = storage;
    this.sender = new ScriptedSender(clock.now);
    this.limits = new Limits(this.#source(), clock.now);
    this.#restored = new RestoredLimits({ limits: this.limits, ledger: storage.usage, now: clock.now });
    const settings = snapshot();
    const network = { client: this.sender, clock, resolve: async () => ['127.0.0.1'] };
    const fetch = new GuardedFetch({ ...network, allow: () => ['127.0.0.1:9'] });
    const files = new Files({
      store: storage.files,
      uploads: storage.uploads,
      blobs: new BlobFolder(join(folder, 'files')),
      maxBytes: () => 1e6,
      now: clock.now,
    });
    this.#gateway = new Gateway({
      settings: () => settings,
      upstream: this.sender,
      routing: new MemoryRoutingState({ now: clock.now, breaker: () => settings.config.routing.breaker }),
      limits: this.limits,
      tasks: [],
      answers: null,
      streams: new KeptStreams(() => ({ keepMs: 0, maxBytes: 0 }), clock),
      running: this.#stepwiseRunning(storage.running),
      ledger: this.#stepwiseLedger(storage.ledger),
      observer: { finished: () => {} },
      recorders: { open: () => null },
      vault: new Vault(storage.vault, SECRET, { ttlMs: HOUR, now: clock.now }),
      state: storage,
      prompts: { store: storage.prompts, files: () => settings.prompts },
      reasoning: new Envelope(SECRET, 'reasoning'),
      compaction: new Envelope(SECRET, 'compaction'),
      endUsers: new EndUsers(SECRET),
      media: { files, fetch },
      tools: openTools({ ...network, fetch, config: () => settings.config }),
      clock,
      ticker: new Ticker(clock, 100),
      random: () => 0,
      log: createLogger({
        level: 'error',
        write: () => {},
        now: clock.now,
        pretty: false,
        redact: (text) => text,
      }),
      redact: (text) => text,
    });
  }

  /** Starts on what is in a folder: knows what was spent when it resolves. */
  static async start(options: MachineOptions): Promise<Machine> {
    mkdirSync(options.folder, { recursive: true });
    const later: (() => void)[] = [];
    const storage = await openSqliteStorage({
      path: join(options.folder, 'dragoman.db'),
      later: (task) => void later.push(task),
      now: options.clock.now,
    });
    await recoverRunning(storage);
    const machine = new Machine(options, storage, later);
    await machine.#restored.catchUp();
    return machine;
  }

  /** A client asks. @param body in the words of its protocol */
  ask(
    key: number,
    protocol: 'openai-chat' | 'openai-responses',
    body: Readonly<Record<string, unknown>>,
  ): MemoryClient {
    const { server, ...rest } = findProtocol(protocol) ?? {};
    const principal = this.#principals[key];
    if (!server || !principal) throw new TypeError('no such protocol, or key');
    const client = new MemoryClient(() => this.left === null);
    this.clients.push(client);
    const text = JSON.stringify(body);
    const answered = this.#gateway.serve({
      protocol: { ...(rest as NonNullable<ReturnType<typeof findProtocol>>), server },
      api: protocol,
      principal,
      request: { method: 'POST', url: 'http://gateway/v1' },
      body: jsonBytes(Buffer.from(text)),
      json: JSON.parse(text),
      header: () => null,
      headers: [],
      client,
      account: { add: () => {} },
    });
    this.#running.add(answered);
    void answered.finally(() => this.#running.delete(answered));
    return client;
  }

  /** Changes whose limits hold from now on. */
  async reload(tenants: Tenants): Promise<void> {
    this.#tenants = tenants;
    this.#principals = principalsOf(tenants);
    this.limits.refresh();
    await this.#restored.catchUp();
  }

  /** Brings what is in the journal alone into the database. */
  index(): void {
    for (const task of this.#later.splice(0)) task();
  }

  /** Dies, here and now. What it does from here on nobody sees. */
  kill(): void {
    if (this.left !== null) return;
    const left = `${this.#options.folder}-${process.hrtime.bigint()}`;
    cpSync(this.#options.folder, left, { recursive: true });
    // Another process's; SQLite makes it again.
    rmSync(join(left, 'dragoman.db-shm'), { force: true });
    this.left = left;
  }

  /** Waits for what runs, and gives everything back. @returns the folder for who comes next */
  async end(): Promise<string> {
    this.#gateway.abortAll();
    await Promise.all(this.#running);
    await this.storage.close();
    if (this.left === null) return this.#options.folder;
    rmSync(this.#options.folder, { recursive: true, force: true });
    return this.left;
  }

  /** A step of the process is about to be made, or has been. */
  #step(): void {
    if (this.diesAfter === null || this.left !== null) return;
    this.diesAfter -= 1;
    if (this.diesAfter <= 0) this.kill();
  }

  #around<T>(run: () => T): T {
    this.#step();
    const result = run();
    this.#step();
    return result;
  }

  #stepwiseRunning(store: RunningStore): RunningStore {
    return {
      open: (record) => {
        const entry = this.#around(() => store.open(record));
        return (
          entry && {
            note: (spent) => this.#around(() => entry.note(spent)),
            sent: () => this.#around(() => entry.sent()),
            close: () => this.#around(() => entry.close()),
          }
        );
      },
      recover: (take) => store.recover(take),
    };
  }

  #stepwiseLedger(store: LedgerStore): LedgerStore {
    return {
      backlog: () => store.backlog(),
      append: (generation, attempts) => this.#around(() => store.append(generation, attempts)),
      confirmed: () => store.confirmed(),
      find: (id, projectId) => store.find(id, projectId),
      findOfAnybody: (id) => store.findOfAnybody(id),
      list: (query) => store.list(query),
      count: (query) => store.count(query),
      facet: (filters, by) => store.facet(filters, by),
      times: (model, endpoint, fromMs) => store.times(model, endpoint, fromMs),
      purge: (beforeMs) => store.purge(beforeMs),
      purgeContents: (beforeMs) => store.purgeContents(beforeMs),
    };
  }

  #source(): LimitSource {
    const entriesOf: LimitSource['entriesOf'] = (kind, id) => {
      const { gateway, project } = this.#tenants;
      if (kind === 'gateway') return gateway;
      if (kind === 'project') return id === PROJECT ? project : [];
      return this.#principals.find(({ keyId }) => kind === 'key' && keyId === id)?.limits ?? [];
    };
    return {
      entriesOf,
      limitsProviders: () => false,
      all: () =>
        [
          { kind: 'gateway' as const, id: '', name: '' },
          { kind: 'project' as const, id: PROJECT, name: PROJECT },
          ...this.#principals.map(({ keyId, name }) => ({ kind: 'key' as const, id: keyId, name })),
        ].map((owner) => ({ owner, entries: entriesOf(owner.kind, owner.id) })),
    };
  }
}

export function keyId(key: number): string {
  return `key_${key}`;
}

function principalsOf({ keys }: Tenants): readonly Principal[] {
  return keys.map((limits, key) => ({
    keyId: keyId(key),
    projectId: PROJECT,
    roles: ['models'],
    name: keyId(key),
    expiresAt: null,
    mayUse: () => true,
    logContent: false,
    strict: null,
    onDisconnect: null,
    limits,
    routing: null,
  }));
}
