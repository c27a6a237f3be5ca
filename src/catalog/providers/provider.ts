// Preset of a provider: address, authentication, and how it differs from the protocols that it serves.
import type { JsonObject } from '../../base/json/index.ts';
import type { KnownMembers, Parameter, ProtocolName, Quirks } from '../../canonical/index.ts';
import type { AuthScheme } from '../../protocols/index.ts';
import type { DurationMs } from '../../base/units.ts';

export type { AuthScheme };

const BEARER: AuthScheme = { header: 'authorization', prefix: 'Bearer ' };

/** An operation of a host other than text generation. */
export interface HostedOperation {
  /** May contain `{operation}`, the protocol's path. If the provider has no `hosting`, it may begin with `/..`. */
  readonly path: string;
  /** Same as in `Hosting`. */
  readonly set?: JsonObject | undefined;
  readonly remove?: readonly string[] | undefined;
  /** Protocol of the request body; absent: the protocol of the entry. */
  readonly protocol?: ProtocolName | undefined;
}

/** By name of the task. */
export type TaskOperations = Readonly<Record<string, HostedOperation>>;

/**
 * How a host serves a protocol of another vendor: at its own paths, with small differences around the same body. Paths
 * may contain `{model}` and placeholders of the provider's settings.
 */
export interface Hosting {
  /** Path of non-streamed answers below the base URL. */
  readonly path: string;
  readonly streamPath: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Body members that the host requires instead of the owner's. */
  readonly set?: JsonObject | undefined;
  /** Body members that the host rejects, because they are transmitted elsewhere. */
  readonly remove?: readonly string[] | undefined;
  /** Request headers of the protocol that are sent as body members, by header; lists are split at commas. */
  readonly headerMembers?: Readonly<Record<string, string>> | undefined;
  /** Tasks other than text that the host serves in this protocol. Absent: none. */
  readonly tasks?: TaskOperations | undefined;
}

/** Timeouts of a provider, in milliseconds. Absent ones are those of `routing.timeouts`. */
export interface Patience {
  readonly firstTokenMs?: DurationMs | undefined;
  readonly responseMs?: DurationMs | undefined;
  readonly totalMs?: DurationMs | undefined;
}

/** Agents' prompts take minutes on a CPU: 40,000 tokens at 100 tokens per second take 400 s (measured 2026-11). */
export const OWN_MACHINE: Patience = { firstTokenMs: 600_000, responseMs: 600_000, totalMs: 3_600_000 };

/** Settings other than a key that an address or credential requires. */
export type SettingName = 'resource' | 'apiVersion' | 'region' | 'project' | 'location';

export interface Setting {
  /** Environment variables to read it from, in order. */
  readonly variables: readonly string[];
  readonly fallback?: string | undefined;
}

/** Cloud whose credentials sign requests if no key is given. */
export type CredentialKind = 'aws' | 'azure' | 'google';

/** One protocol of a provider. */
export interface ProviderProtocol {
  /** May contain placeholders of the provider's settings: `https://{resource}.example.com`. */
  readonly baseUrl: string;
  readonly hosting?: Hosting | undefined;
  /** Operations of tasks other than text whose paths below the base URL differ from the protocol's. Absent: none. */
  readonly tasks?: TaskOperations | undefined;
  /** True if answers follow the protocol exactly as its owner defines it, so that they can be relayed unchanged. */
  readonly faithful: boolean;
  readonly quirks: Partial<Quirks>;
  /** Format of opaque reasoning that its models can read. */
  readonly reasoningFormat: string | null;
  readonly unsupported: readonly Parameter[];
  /** Parameters of other protocols that the server accepts, although its own has no member for them. */
  readonly alsoTakes?: readonly Parameter[] | undefined;
  /** True: the server can compact conversations itself (`compaction_trigger` of the Responses API). */
  readonly compacts?: boolean | undefined;
  /**
   * Hosted tools, such as `code_interpreter`, that the server runs itself although it does not own the protocol. The
   * protocol's owner supports all of them.
   */
  readonly hostedTools?: readonly string[] | undefined;
  /**
   * Members shared by OpenAI's two protocols (`service_tier`, `user`, …) that its documentation names, or that it is
   * known to reject. A list contains the accepted values. Absent: treated like unknown members.
   */
  readonly members?: KnownMembers | undefined;
  readonly auth?: AuthScheme | undefined;
}

export interface ProviderPreset {
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** The vendor's environment variable for the key; null: no key needed. */
  readonly keyVariable: string | null;
  readonly auth: AuthScheme;
  /** Absent: a key is required. */
  readonly credential?: CredentialKind | undefined;
  /**
   * True: software that operators run themselves. It may reach private addresses, so that it must not fetch URLs in
   * requests.
   */
  readonly selfHosted?: boolean | undefined;
  /** Absent: the general timeouts. */
  readonly patience?: Patience | undefined;
  /** True: it must be configured explicitly. The environment variable alone does not enable it. */
  readonly namedOnly?: boolean | undefined;
  /** Settings that the operator must provide. */
  readonly settings?: Readonly<Partial<Record<SettingName, Setting>>> | undefined;
  /** Derives placeholders from the settings, if the vendor's rule is not a plain insertion. */
  readonly derivePlaceholders?:
    | ((settings: Readonly<Partial<Record<SettingName, string>>>) => Record<string, string>)
    | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocols: Readonly<Partial<Record<ProtocolName, ProviderProtocol>>>;
  /** Protocols that the server supports less well. They are served only if configured under `protocols`. */
  readonly lesserProtocols?: Readonly<Partial<Record<ProtocolName, ProviderProtocol>>> | undefined;
  /** Protocol for models without a preference. */
  readonly defaultProtocol: ProtocolName;
  /** Protocols by model name, which take precedence over those that families prefer; the first match applies. */
  readonly protocolOf?: readonly { readonly match: RegExp; readonly protocol: ProtocolName }[] | undefined;
  /** Factor on ordinary prices in its batch API, from 0 to 1. Absent: no discount is known. */
  readonly batchPriceFactor?: number | undefined;
  /** Id in the price library, if different. */
  readonly priceId?: string | undefined;
  /** Names that the price library lists for this vendor but its API does not serve. Never listed. */
  readonly notServed?: RegExp | undefined;
  /** Measurements on a real server, with version and date, for people. Absent: quirks are from documents only. */
  readonly measured?: string | undefined;
  /** URL of the vendor's API documentation, which is the source of the quirks. */
  readonly docs: string;
}

/** Behaviour of a server that follows its protocol exactly. */
export const NO_QUIRKS: Quirks = {
  /**
   * Name of the output limit in Chat Completions. Older compatible servers only know `max_tokens`. `as_written`: the
   * name that the client used, and `max_tokens` from clients of other protocols.
   */
  maxTokensField: 'max_completion_tokens',
  /** Responses only. True: output limits below 16 tokens are accepted. */
  smallLimits: false,
  /**
   * Responses only. False: truncated answers are reported as `completed`. An answer with as many tokens as its limit
   * then counts as truncated.
   */
  namesCutAnswers: true,
  /** Role of instructions. `keep`: the client's own; other values replace both roles. */
  systemRole: 'keep',
  /** True: only one system message is accepted, at the beginning. Others are merged into it. */
  mergeSystem: false,
  /** Messages only. True: messages of role `system` may appear within the conversation. */
  laterInstructions: false,
  /** Member with the reasoning switch in Chat Completions. `none`: there is none. */
  reasoningField: 'reasoning_effort',
  /** Message member in which earlier reasoning is sent back. `thinking_parts`: as content parts. */
  reasoningReplay: 'none',
  /** How token counts are included in a stream: requested with `stream_options`, or always. */
  streamUsage: 'include_usage',
  /**
   * The strongest answer format that the server enforces. If weaker than `json_schema`, the engine emulates schemas.
   */
  structuredOutput: 'json_schema',
  /** False: `strict` on function tools is rejected or ignored. It is removed and reported. */
  strictTools: true,
  /** False: custom (free-form) tools are sent as functions with one string argument. */
  customTools: true,
  /** False: `name` on messages is rejected. It is removed and reported. */
  messageName: true,
  /**
   * `string`: text content must be a string instead of an array of parts. Texts are joined with line breaks, which
   * loses nothing, because models do not see boundaries between parts.
   */
  textContent: 'parts',
  /** Value of `tool_choice` that requires a tool call. */
  requiredToolChoice: 'required',
  /** False: a named tool cannot be forced. `required` with only that tool is sent instead. */
  namedToolChoice: true,
  /** `alphanumeric-9`: call ids must have nine letters or digits. Others are replaced consistently. */
  toolCallId: 'any',
  /** True: prompt-cache breakpoints are supported; in Chat Completions as `cache_control` on parts and tools. */
  cacheControl: false,
  /**
   * Element types of embeddings. `float`: as OpenAI's. `base64_int8`: only base64 of signed bytes or of bits, by
   * `encoding_format: base64_int8 | base64_binary`. `output_dtype`: by that member, with `output_dimension` for the
   * length.
   */
  vectors: 'float',
  /** Treatment of request members that the protocol does not define. */
  unknownFields: 'pass',
  /** `merge`: adjacent messages of the same role are rejected and must be merged. */
  adjacentRoles: 'keep',
  /**
   * True: with reasoning, the server rejects sampling parameters, forced tool choice and prefilled answers, and an
   * unfinished tool turn must begin with its own signed reasoning.
   */
  exclusiveReasoning: false,
  /** True: adaptive thinking is accepted together with a forced tool choice. */
  forcedThinking: false,
  /** Messages and Converse only. False: `temperature` and `top_p` cannot be combined. */
  pairedSampling: true,
  /** Messages and Converse only. False: a conversation must not begin with the assistant. */
  assistantFirst: true,
  /**
   * False: the server does not fetch images and files from URLs, although its protocol supports it. The gateway fetches
   * them and sends the bytes. Also false for all self-hosted servers, unless configured otherwise.
   */
  fetchesUrls: true,
  /**
   * False: the server or model does not accept files. PDFs and text files are converted to text, image files to images,
   * and others are rejected.
   */
  readsFiles: true,
  /**
   * How a trailing assistant message is continued. `plain`: by default; `prefix`, `partial`: with that member on the
   * message (with `prefix` the answer repeats the text first); `continue_final_message`: with that body member; `none`:
   * not supported.
   */
  prefill: 'none',
  /** True: the model searches the web itself if the request asks for it as defined by the protocol. */
  searchesWeb: false,
  /**
   * True: the server itself calls remote MCP servers named in the request. False for self-hosted servers, unless
   * configured.
   */
  runsMcp: false,
};

/**
 * Makes a preset with default values. All presets are made by this function, so that each states only its differences.
 */
export function defineProvider(
  preset: Omit<ProviderPreset, 'auth' | 'headers'> & Partial<Pick<ProviderPreset, 'auth' | 'headers'>>,
): ProviderPreset {
  return { auth: BEARER, headers: {}, ...preset };
}

/** Makes a protocol entry with defaults: not faithful, no quirks, all parameters supported. */
export function speaks(
  baseUrl: string,
  facts: Partial<Omit<ProviderProtocol, 'baseUrl'>> = {},
): ProviderProtocol {
  return { baseUrl, faithful: false, quirks: {}, reasoningFormat: null, unsupported: [], ...facts };
}

/** Quirks of a protocol entry over the defaults. The operator's take precedence. */
export function resolveQuirks(preset: Partial<Quirks>, configured: Partial<Quirks> = {}): Quirks {
  return { ...NO_QUIRKS, ...preset, ...configured };
}

/**
 * `derivePlaceholders` of hosts with one subdomain per customer. `resource` is its name, or the whole address.
 * @param domain the domain after the name
 */
export function endpointAt(domain: string): NonNullable<ProviderPreset['derivePlaceholders']> {
  return ({ resource }): Record<string, string> =>
    resource === undefined
      ? {}
      : { endpoint: resource.includes('://') ? resource : `https://${resource}.${domain}` };
}
