// Models listed by self-hosted servers: requested on demand, cached, and bounded in number, size and time. Callers
// filter the list by key.
import type { Clock } from '../base/runtime/clock.ts';
import type { Catalog, Endpoint, Model } from '../catalog/index.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { asArray, asObject, asString, isJsonObject, type JsonObject, parseJson } from '../base/json/index.ts';
import { findProtocol } from '../protocols/index.ts';
import { askUpstream } from './attempt/index.ts';
import type { UnixMs } from '../base/units.ts';

/** Maximum models listed per server; a proxy in front of vendors may have thousands. */
const MOST_MODELS = 200;
/** Maximum servers that are queried. */
const MOST_SERVERS = 32;
/** Milliseconds for which a list is fresh. */
const FRESH_MS = 30_000;
/** Milliseconds for which a list is kept when its server stops responding. */
const KEPT_MS = 10 * 60_000;
/** Timeout of a server, in milliseconds. */
const TIMEOUT_MS = 5_000;
/** Milliseconds that a client waits for servers that were not queried before. */
const PATIENCE_MS = 250;
/** A valid name: no white space and no invisible characters. */
const NAME = /^[^\s\p{C}]{1,150}$/u;

/** Models and state of one server. */
interface Known {
  names: readonly string[];
  /** Times of the last request and of the last list, on the monotonic clock in milliseconds. */
  askedAt: UnixMs;
  listedAt: UnixMs;
}

export interface LocalModelsInput {
  readonly catalog: () => Catalog;
  readonly upstream: UpstreamClient;
  readonly clock: Clock;
}

export class LocalModels {
  readonly #input: LocalModelsInput;
  /** Servers of the last catalog; a new configuration has another catalog. */
  #servers: { readonly of: Catalog; readonly list: ReadonlyMap<string, Endpoint> } | undefined;
  /** By provider and address. */
  #known = new Map<string, Known>();
  /** Requests in progress. */
  readonly #asking = new Map<string, Promise<void>>();

  constructor(input: LocalModelsInput) {
    this.#input = input;
  }

  /**
   * Models that only their servers list. Waits only for servers that were not queried before, and only briefly; a slow
   * one appears in a later list. Never rejects.
   */
  async list(): Promise<readonly Model[]> {
    const { catalog, clock } = this.#input;
    const inForce = catalog();
    const servers = this.#serversOf(inForce);
    if (servers.size === 0) return [];
    const now = clock.now();
    const first: Promise<void>[] = [];
    const known = new Map<string, Known>();
    for (const [key, endpoint] of servers) {
      const before = this.#known.get(key);
      const server = before ?? { names: [], askedAt: -Infinity, listedAt: -Infinity };
      known.set(key, server);
      if (now - server.askedAt < FRESH_MS) continue;
      const answered = this.#ask(key, endpoint, server);
      if (!before) first.push(answered);
    }
    // This forgets servers that were removed from the configuration.
    this.#known = known;
    if (first.length > 0) await this.#withTimeout(Promise.all(first));
    return modelsOf(inForce, known, servers, now);
  }

  #serversOf(catalog: Catalog): ReadonlyMap<string, Endpoint> {
    if (this.#servers?.of !== catalog) this.#servers = { of: catalog, list: serversOf(catalog) };
    return this.#servers.list;
  }

  /** At most one request per server at a time. */
  #ask(key: string, endpoint: Endpoint, server: Known): Promise<void> {
    const running = this.#asking.get(key);
    if (running) return running;
    const { upstream, clock } = this.#input;
    server.askedAt = clock.now();
    const note = async (): Promise<void> => {
      const listed = await listModels(endpoint, { upstream, clock, timeoutMs: TIMEOUT_MS });
      this.#asking.delete(key);
      if (!listed) return;
      server.names = [...listed.keys()].filter((name) => NAME.test(name)).slice(0, MOST_MODELS);
      server.listedAt = clock.now();
    };
    const asked = note();
    this.#asking.set(key, asked);
    return asked;
  }

  async #withTimeout(answers: Promise<unknown>): Promise<void> {
    let cancel = (): void => {};
    const enough = new Promise<void>((resolve) => {
      cancel = this.#input.clock.after(PATIENCE_MS, resolve);
    });
    await Promise.race([answers, enough]);
    cancel();
  }
}

/** One endpoint of each self-hosted server, by provider and address. */
function serversOf(catalog: Catalog): ReadonlyMap<string, Endpoint> {
  const servers = new Map<string, Endpoint>();
  for (const provider of catalog.providers().keys()) {
    if (servers.size === MOST_SERVERS) break;
    // Any model name leads to the server; it is not sent.
    const named = catalog.find(`${provider}/any`);
    const endpoint =
      named?.builtIn === true ? undefined : named?.endpoints.find((one) => one.provider === provider);
    if (endpoint && !endpoint.isVendorRun) servers.set(`${provider} ${endpoint.baseUrl}`, endpoint);
  }
  return servers;
}

function modelsOf(
  catalog: Catalog,
  known: ReadonlyMap<string, Known>,
  servers: ReadonlyMap<string, Endpoint>,
  now: UnixMs,
): readonly Model[] {
  const models = new Map<string, Model>();
  for (const [key, { names, listedAt }] of known) {
    const provider = servers.get(key)?.provider;
    if (provider === undefined || now - listedAt > KEPT_MS) continue;
    for (const name of names) {
      const id = `${provider}/${name}`;
      if (catalog.isListed(id)) continue;
      const model = catalog.find(id);
      if (model?.id === id && model.outputModalities.includes('text')) models.set(id, model);
    }
  }
  return [...models.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

// Model lists: one short request to a server, without cache.

type Asking = Omit<Parameters<typeof askUpstream>[2], 'onLeave'>;

/** A server's list, by model name. */
export type Listed = ReadonlyMap<string, JsonObject>;

/** The models that a server lists. Null: no list. @param endpoint any endpoint of the server */
export async function listModels(endpoint: Endpoint | undefined, asking: Asking): Promise<Listed | null> {
  if (!endpoint) return null;
  const protocol = findProtocol(endpoint.protocol);
  const path = protocol?.upstream.facts.modelList ?? null;
  // A host of another vendor's protocol, or one with signed requests, has its list elsewhere.
  if (path === null || !protocol || endpoint.hosting || endpoint.credential) return null;
  const answer = await askUpstream(
    endpoint,
    {
      method: 'GET',
      url: endpoint.baseUrl + path,
      body: [],
    },
    { ...asking, onLeave: () => {} },
  );
  if (!answer || answer.head.status !== 200) return null;
  const body = asObject(parseJson(answer.text));
  const list = body['data'] ?? body['models'];
  if (!Array.isArray(list)) return null;
  return new Map(
    asArray(list)
      .filter(isJsonObject)
      .map((entry) => [nameOf(entry), entry]),
  );
}

/** Gemini's names begin with `models/`. */
function nameOf(entry: JsonObject): string {
  return asString(entry['id']) ?? asString(entry['name'])?.replace(/^models\//, '') ?? '';
}
