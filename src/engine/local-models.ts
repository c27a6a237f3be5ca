// The models of servers that no vendor runs, as those list them: asked when somebody wants the list, kept for a while, and
// bounded in number, size and time. What a key may see of them is decided outside.
import type { Clock } from '../base/runtime/clock.ts';
import type { Catalog, Endpoint, Model } from '../catalog/index.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { asArray, asObject, asString, isJsonObject, type JsonObject, parseJson } from '../base/json/index.ts';
import { findProtocol } from '../protocols/index.ts';
import { askUpstream } from './attempt/index.ts';
import type { UnixMs } from '../base/units.ts';

/** Models of one server that are listed; a proxy in front of vendors may have thousands. */
const MOST_MODELS = 200;
/** Servers that are asked. */
const MOST_SERVERS = 32;
/** How long a list counts as new, in milliseconds. */
const FRESH_MS = 30_000;
/** How long a list stands for a server that gives none any more, in milliseconds. */
const KEPT_MS = 10 * 60_000;
/** How long a server may take, in milliseconds. */
const TIMEOUT_MS = 5_000;
/** How long a client waits for servers that have not been asked before, in milliseconds. */
const PATIENCE_MS = 250;
/** A name that can stand in a list: no space, nothing that nobody sees. */
const NAME = /^[^\s\p{C}]{1,150}$/u;

/** Models and state of one server. */
interface Known {
  names: readonly string[];
  /** When it was asked last, and when it gave its list, in milliseconds of the clock. */
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
  /** Catalog that was last in force: another one comes with another configuration. */
  #servers: { readonly of: Catalog; readonly list: ReadonlyMap<string, Endpoint> } | undefined;
  /** By provider and address. */
  #known = new Map<string, Known>();
  /** Questions that have no answer yet. */
  readonly #asking = new Map<string, Promise<void>>();

  constructor(input: LocalModelsInput) {
    this.#input = input;
  }

  /**
   * Models that the catalog does not list by itself, by the lists of their servers. Waits for a server only the first
   * time, and not for long; one that is slow is in a later list. Never rejects.
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
    // Servers that left the configuration are forgotten with this.
    this.#known = known;
    if (first.length > 0) await this.#patiently(Promise.all(first));
    return modelsOf(inForce, known, servers, now);
  }

  #serversOf(catalog: Catalog): ReadonlyMap<string, Endpoint> {
    if (this.#servers?.of !== catalog) this.#servers = { of: catalog, list: serversOf(catalog) };
    return this.#servers.list;
  }

  /** One question at a time to each server. */
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

  async #patiently(answers: Promise<unknown>): Promise<void> {
    let cancel = (): void => {};
    const enough = new Promise<void>((resolve) => {
      cancel = this.#input.clock.after(PATIENCE_MS, resolve);
    });
    await Promise.race([answers, enough]);
    cancel();
  }
}

/** An endpoint of each server that no vendor runs, by provider and address. */
function serversOf(catalog: Catalog): ReadonlyMap<string, Endpoint> {
  const servers = new Map<string, Endpoint>();
  for (const provider of catalog.providers().keys()) {
    if (servers.size === MOST_SERVERS) break;
    // Any name leads to the place, and is not asked for.
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

// The models that a place of upstreams lists itself, by one short question. Knows no catalog and keeps nothing.

type Asking = Omit<Parameters<typeof askUpstream>[2], 'onLeave'>;

/** Entry of a provider's list for one model: its name and whatever else. */
export type Listed = ReadonlyMap<string, JsonObject>;

/**
 * The models that a place lists; null when it gives no list.
 * @param endpoint any endpoint of the place
 */
export async function listModels(endpoint: Endpoint | undefined, asking: Asking): Promise<Listed | null> {
  if (!endpoint) return null;
  const protocol = findProtocol(endpoint.protocol);
  const path = protocol?.upstream.facts.modelList ?? null;
  // A host of another vendor's protocol, or one that wants signatures, has its list elsewhere.
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
