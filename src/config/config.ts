// The configuration as the program uses it: checked, complete, immutable, with secrets that cannot be printed.
// Conversion from the file's spelling; knows nothing of files.
import type {
  CatalogConfig,
  EndpointConfig,
  ModelConfig,
  ProtocolConfig,
  ProviderConfig,
} from '../catalog/index.ts';
import { toWishes } from '../canonical/index.ts';
import type { ProtocolName, RoutingWishes } from '../canonical/index.ts';
import type { BreakerSettings, RoutingSettings } from '../routing/index.ts';
import { Secret } from '../telemetry/secret.ts';
import type { Network } from '../upstream/network.ts';
import { toCatalogSource, type CatalogSource } from './catalog-schema.ts';
import { toFiles, type FilesConfig } from './files-schema.ts';
import { toMcp } from './mcp-schema.ts';
import type { McpConfig } from './mcp-schema.ts';
import { toQuirks } from './quirks-schema.ts';
import { parameterOf } from './schema.ts';
import { toServer, type ServerConfig } from './server-schema.ts';
import type { ConfigFile } from './schema.ts';
import { toUpstream, type UpstreamConfig } from './upstream-schema.ts';

export interface KeyConfig {
  readonly name: string;
  readonly key: Secret;
  /** Patterns with `*`; null: every model. */
  readonly models: readonly string[] | null;
  /** Unix milliseconds; null: never. */
  readonly expiresAt: number | null;
  readonly logContent: boolean;
  /** Null: as for everybody. */
  readonly strict: boolean | null;
  /** What holds when its requests say nothing; null: as for everybody. */
  readonly routing: RoutingWishes | null;
}

export interface Timeouts {
  readonly connectMs: number;
  readonly firstTokenMs: number;
  readonly responseMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface Config extends CatalogConfig {
  readonly server: ServerConfig;
  readonly dataDir: string;
  readonly databaseUrl: Secret | null;
  readonly redisUrl: Secret | null;
  readonly keys: readonly KeyConfig[];
  readonly routing: RoutingSettings & {
    readonly retries: number;
    /** True: an endpoint that asks for a short pause is waited for before the next one is tried. */
    readonly waitsForLimits: boolean;
    readonly timeouts: Timeouts;
    readonly breaker: BreakerSettings;
  };
  readonly upstream: UpstreamConfig;
  readonly catalog: CatalogSource;
  readonly strict: boolean;
  readonly fetch: { readonly allow: readonly string[] };
  /** Ids, or patterns of ids, of objects in the operator's accounts that everybody may name. */
  readonly vendorObjects: readonly string[];
  readonly tools: {
    readonly webSearch: {
      readonly backend: 'searxng' | 'brave' | 'tavily' | 'exa' | null;
      readonly url: string | null;
      readonly apiKey: Secret | null;
      readonly native: 'prefer' | 'never';
      readonly maxResults: number;
      readonly timeoutMs: number;
      /** USD; null: unknown. */
      readonly priceUsdPerSearch: number | null;
      /** Whether models may open pages. */
      readonly pages: boolean;
    };
    readonly mcp: McpConfig;
  };
  readonly state: { readonly retentionDays: number; readonly maxBytesPerKey: number };
  readonly files: FilesConfig;
  readonly logging: { readonly level: ConfigFile['logging']['level']; readonly content: boolean };
  readonly compatibility: { readonly reasoningContent: boolean; readonly ignoresStreamOptions: boolean };
  readonly idempotency: { readonly ttlMs: number; readonly maxBytes: number };
  /** Folder of prompt templates; null when there is none. */
  readonly promptsDir: string | null;
}

const MEGABYTE = 1_048_576;

/**
 * Converts a checked file. The result is frozen all the way down.
 * @param network what the environment and files of certificates say of outgoing connections
 */
export function toConfig(file: ConfigFile, network: Network): Config {
  const { server, routing, tools } = file;
  const search = tools.web_search;
  return deepFreeze({
    server: toServer(server),
    dataDir: file.data_dir,
    databaseUrl: secretOrNull(file.database_url),
    redisUrl: secretOrNull(file.redis_url),
    keys: file.keys.flatMap((entry, place) => (entry.key === '' ? [] : [toKey(entry, place, file)])),
    providers: mapValues(file.providers, (entry) => (entry === false ? false : toProvider(entry))),
    models: file.models.map(toModel),
    aliases: file.aliases,
    routing: {
      defaults: toWishes(routing.default, 'routing.default'),
      taskTypes: routing.task_types,
      retries: routing.retries,
      waitsForLimits: routing.rate_limited === 'wait',
      timeouts: {
        connectMs: routing.timeouts.connect_ms,
        firstTokenMs: routing.timeouts.first_token_ms,
        responseMs: routing.timeouts.response_ms,
        idleMs: routing.timeouts.idle_ms,
        totalMs: routing.timeouts.total_ms,
      },
      breaker: {
        failures: routing.breaker.failures,
        windowMs: routing.breaker.window_ms,
        openMs: routing.breaker.open_ms,
      },
    },
    upstream: toUpstream(file.upstream, network),
    catalog: toCatalogSource(file.catalog),
    strict: file.strict,
    fetch: { allow: file.fetch.allow },
    vendorObjects: file.vendor_objects,
    tools: {
      webSearch: {
        backend: search.backend ?? null,
        url: search.url ?? null,
        apiKey: secretOrNull(search.api_key),
        native: search.native,
        maxResults: search.max_results,
        timeoutMs: search.timeout_ms,
        priceUsdPerSearch: search.price_usd_per_search ?? null,
        pages: search.pages,
      },
      mcp: toMcp(tools.mcp),
    },
    state: {
      retentionDays: file.state.retention_days,
      maxBytesPerKey: Math.floor(file.state.max_mb_per_key * MEGABYTE),
    },
    files: toFiles(file.files),
    logging: file.logging,
    compatibility: {
      reasoningContent: file.compatibility.reasoning_content,
      ignoresStreamOptions: file.compatibility.ignore_stream_options,
    },
    idempotency: {
      ttlMs: file.idempotency.ttl_ms,
      maxBytes: Math.floor(file.idempotency.max_mb * MEGABYTE),
    },
    promptsDir: file.prompts ?? null,
  });
}

/** @param place of the entry in the file: an entry that is ignored has one too */
function toKey(entry: ConfigFile['keys'][number], place: number, file: ConfigFile): KeyConfig {
  return {
    name: entry.name,
    key: new Secret(entry.key),
    models: entry.models ?? null,
    expiresAt: entry.expires === undefined ? null : Date.parse(entry.expires),
    logContent: entry.log_content ?? file.logging.content,
    strict: entry.strict ?? null,
    routing: entry.routing ? toWishes(entry.routing, `keys[${place}].routing`) : null,
  };
}

type ProviderEntry = Exclude<ConfigFile['providers'][string], false>;

function toProvider(entry: ProviderEntry): ProviderConfig {
  return {
    preset: entry.preset,
    // `${KEY:-}` of a variable that is not set: the operator left the provider off on purpose.
    apiKey: entry.api_key === undefined ? undefined : secretOrNull(entry.api_key),
    baseUrl: entry.base_url,
    protocols: entry.protocols && toProtocols(entry.protocols),
    headers: entry.headers,
    proxy: secretOrNull(entry.proxy) ?? undefined,
    tls: entry.tls && {
      cert: entry.tls.cert,
      key: secretOrNull(entry.tls.key) ?? undefined,
      ca: entry.tls.ca,
    },
    auth: entry.auth,
    settings: {
      resource: entry.resource,
      apiVersion: entry.api_version,
      region: entry.region,
      project: entry.project,
      location: entry.location,
    },
    awsKeys: toAwsKeys(entry),
    awsProfile: entry.profile,
    credentials: secretOrNull(entry.credentials) ?? undefined,
    azureApplication: toApplication(entry),
  };
}

function toAwsKeys(entry: ProviderEntry): ProviderConfig['awsKeys'] {
  const { access_key_id: accessKeyId, secret_access_key: secret, session_token: token } = entry;
  if (accessKeyId === undefined && secret === undefined) return undefined;
  return {
    accessKeyId,
    secretAccessKey: secretOrNull(secret) ?? undefined,
    sessionToken: secretOrNull(token) ?? undefined,
  };
}

function toApplication(entry: ProviderEntry): ProviderConfig['azureApplication'] {
  const { tenant_id: tenantId, client_id: clientId, client_secret: secret } = entry;
  if (tenantId === undefined && clientId === undefined && secret === undefined) return undefined;
  return { tenantId, clientId, clientSecret: secretOrNull(secret) ?? undefined };
}

function toProtocols(
  entries: NonNullable<ProviderEntry['protocols']>,
): Partial<Record<ProtocolName, ProtocolConfig>> {
  const result: Partial<Record<ProtocolName, ProtocolConfig>> = {};
  for (const [name, entry] of Object.entries(entries)) {
    if (entry === undefined) continue;
    // The schema admits no other names.
    result[name as ProtocolName] =
      typeof entry === 'string'
        ? { baseUrl: entry }
        : {
            baseUrl: entry.base_url,
            faithful: entry.faithful,
            quirks: entry.quirks && toQuirks(entry.quirks),
            unsupported: entry.unsupported?.map(parameterOf),
            reasoningFormat: entry.reasoning_format,
          };
  }
  return result;
}

function toModel(entry: ConfigFile['models'][number]): ModelConfig {
  return {
    id: entry.id,
    displayName: entry.display_name,
    contextLength: entry.context_length,
    maxOutputTokens: entry.max_output_tokens,
    reasoning: entry.reasoning,
    quality: entry.quality,
    inputModalities: entry.input_modalities,
    outputModalities: entry.output_modalities,
    price: entry.price && toPrice(entry.price),
    endpoints: entry.endpoints.map(toEndpoint),
  };
}

function toEndpoint(entry: ConfigFile['models'][number]['endpoints'][number]): EndpointConfig {
  return {
    provider: entry.provider,
    model: entry.model,
    protocol: entry.protocol as ProtocolName | undefined,
    name: entry.name,
    price: entry.price && toPrice(entry.price),
    contextLength: entry.context_length,
    maxOutputTokens: entry.max_output_tokens,
    reasoning: entry.reasoning,
    quality: entry.quality,
    quirks: entry.quirks && toQuirks(entry.quirks),
    unsupported: entry.unsupported?.map(parameterOf),
  };
}

function toPrice(
  entry: NonNullable<ConfigFile['models'][number]['price']>,
): NonNullable<ModelConfig['price']> {
  return {
    input: entry.input,
    output: entry.output,
    cacheRead: entry.cache_read,
    cacheWrite5m: entry.cache_write_5m,
    cacheWrite1h: entry.cache_write_1h,
    inputAudio: entry.input_audio,
    outputAudio: entry.output_audio,
    request: entry.request,
    tools: entry.tools,
  };
}

function secretOrNull(text: string | undefined): Secret | null {
  return text === undefined || text === '' ? null : new Secret(text);
}

function mapValues<V, R>(record: Readonly<Record<string, V>>, map: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
