// A provider as data: who runs an endpoint, at which address, with which authentication, and how it departs from the
// protocols it claims to speak.
import type { JsonObject } from '../../base/json/index.ts';
import type { KnownMembers, Parameter, ProtocolName, Quirks } from '../../canonical/index.ts';
import type { AuthScheme } from '../../protocols/index.ts';
import type { DurationMs } from '../../base/units.ts';

export type { AuthScheme };

const BEARER: AuthScheme = { header: 'authorization', prefix: 'Bearer ' };

/** One operation of a host besides answers. */
export interface HostedOperation {
  /** May hold `{operation}`: the path that the protocol has for it. Without a host it may begin with `/..`. */
  readonly path: string;
  /** As those of answers. */
  readonly set?: JsonObject | undefined;
  readonly remove?: readonly string[] | undefined;
  /** In whose form it is asked; absent: in that of the protocol which it serves. */
  readonly protocol?: ProtocolName | undefined;
}

/** By the name of the task. */
export type TaskOperations = Readonly<Record<string, HostedOperation>>;

/**
 * How a host serves a protocol that another vendor owns: at addresses of its own, with a little more or less around the
 * same body. Paths may hold `{model}` and the words of the provider's settings.
 */
export interface Hosting {
  /** Path of whole answers below the base URL. */
  readonly path: string;
  readonly streamPath: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Members of the body that the host wants, in place of the owner's. */
  readonly set?: JsonObject | undefined;
  /** Members that the host refuses because they stand elsewhere. */
  readonly remove?: readonly string[] | undefined;
  /** Request headers of the protocol that travel as members here, lists split at their commas: header to member. */
  readonly headerMembers?: Readonly<Record<string, string>> | undefined;
  /** Tasks besides text that the host does in this protocol. Absent: none. */
  readonly tasks?: TaskOperations | undefined;
}

/** Time limits of one provider, in milliseconds. An absent one is that of `routing.timeouts`. */
export interface Patience {
  readonly firstTokenMs?: DurationMs | undefined;
  readonly responseMs?: DurationMs | undefined;
  readonly totalMs?: DurationMs | undefined;
}

/** Prompts of agents take minutes on a processor: 40,000 tokens at 100 tokens a second are 400 s (measured 2026-11). */
export const OWN_MACHINE: Patience = { firstTokenMs: 600_000, responseMs: 600_000, totalMs: 3_600_000 };

/** Settings besides a key that an address or a credential needs. */
export type SettingName = 'resource' | 'apiVersion' | 'region' | 'project' | 'location';

export interface Setting {
  /** Environment variables that may hold it, in order. */
  readonly variables: readonly string[];
  readonly fallback?: string | undefined;
}

/** Cloud whose credentials sign requests where no key is given. */
export type CredentialKind = 'aws' | 'azure' | 'google';

/** One protocol as served by one provider. */
export interface ProviderProtocol {
  /** May hold words of the provider's settings: `https://{resource}.example.com`. */
  readonly baseUrl: string;
  readonly hosting?: Hosting | undefined;
  /** Operations of tasks besides text whose paths below the base URL differ from the protocol's. Absent: none. */
  readonly tasks?: TaskOperations | undefined;
  /** True when answers follow the protocol exactly as its owner defines it: the relay lane may be used. */
  readonly faithful: boolean;
  readonly quirks: Partial<Quirks>;
  /** Format of opaque reasoning that its models can read back. */
  readonly reasoningFormat: string | null;
  readonly unsupported: readonly Parameter[];
  /** Parameters of other protocols that the server takes, although its protocol has no member for them. */
  readonly alsoTakes?: readonly Parameter[] | undefined;
  /** True: conversations can be compacted by the server itself (`compaction_trigger` of the Responses API). */
  readonly compacts?: boolean | undefined;
  /**
   * Kinds of hosted tools that the server runs itself, where it merely speaks the protocol of those who own them:
   * `code_interpreter` and the like. The owner has them all.
   */
  readonly hostedTools?: readonly string[] | undefined;
  /**
   * Members that OpenAI's two protocols share (`service_tier`, `user`, …) and that its documentation names, or that it is
   * known to refuse. A list: the values that it takes. Absent: they go where unknown members go.
   */
  readonly members?: KnownMembers | undefined;
  readonly auth?: AuthScheme | undefined;
}

export interface ProviderPreset {
  readonly id: string;
  /** Shown to people. */
  readonly name: string;
  /** The vendor's own environment variable for the key; null when the server needs none. */
  readonly keyVariable: string | null;
  readonly auth: AuthScheme;
  /** Absent: only a key will do. */
  readonly credential?: CredentialKind | undefined;
  /**
   * True: a program that operators run themselves. It may reach what strangers may not, so that no address of a request
   * is left to it.
   */
  readonly selfHosted?: boolean | undefined;
  /** Absent: as everybody is waited for. */
  readonly patience?: Patience | undefined;
  /** True: the variable alone does not switch it on; the configuration must name it. */
  readonly namedOnly?: boolean | undefined;
  /** Settings that the operator must give. */
  readonly settings?: Readonly<Partial<Record<SettingName, Setting>>> | undefined;
  /** Words of addresses that follow from the settings, where the vendor's rule is no plain insertion. */
  readonly place?:
    | ((settings: Readonly<Partial<Record<SettingName, string>>>) => Record<string, string>)
    | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocols: Readonly<Partial<Record<ProtocolName, ProviderProtocol>>>;
  /**
   * Protocols that the server speaks less well than the others: they are served only where the configuration names them
   * below `protocols`.
   */
  readonly lesserProtocols?: Readonly<Partial<Record<ProtocolName, ProviderProtocol>>> | undefined;
  /** The protocol to use when a model says nothing. */
  readonly defaultProtocol: ProtocolName;
  /** The protocols of models by name, stronger than what their families prefer; the first that matches. */
  readonly protocolOf?: readonly { readonly match: RegExp; readonly protocol: ProtocolName }[] | undefined;
  /** Share of its ordinary prices that lines of its own batch API cost, from 0 to 1. Absent: nobody knows of a lower price. */
  readonly batchPriceFactor?: number | undefined;
  /** Its id in the price library, where that differs. */
  readonly priceId?: string | undefined;
  /** Names that the price library files under this vendor although its API does not serve them: never listed. */
  readonly notServed?: RegExp | undefined;
  /**
   * Sentences for people: what was asked of a real server, of which version, and when. Absent: the quirks come from
   * documents alone.
   */
  readonly measured?: string | undefined;
  /** Link to the vendor's API documentation: the source of the quirks. */
  readonly docs: string;
}

/** The behaviour of a server that follows its protocol to the letter. */
export const NO_QUIRKS: Quirks = {
  /**
   * Name of the output limit in Chat Completions. Older compatible servers know only `max_tokens`. `as_written`: the
   * name that the client wrote, and `max_tokens` from clients of other protocols.
   */
  maxTokensField: 'max_completion_tokens',
  /** True: Responses only: output limits below 16 tokens are accepted. */
  smallLimits: false,
  /**
   * False: Responses only: an answer that its limit cut is called `completed`. An answer with as many tokens as its limit
   * then counts as cut.
   */
  namesCutAnswers: true,
  /** The role that carries instructions: `keep` passes the client's own; others rewrite both to one. */
  systemRole: 'keep',
  /** True: only one system message, the first, is accepted; the others are joined into it. */
  mergeSystem: false,
  /** True: Messages only: instructions may stand inside the conversation, as a message of role `system`. */
  laterInstructions: false,
  /** Member that holds the reasoning switch in the chat dialect. `none`: it has no such member. */
  reasoningField: 'reasoning_effort',
  /** The message member in which earlier reasoning is given back; `thinking_parts`: among the parts of its content. */
  reasoningReplay: 'none',
  /** How to get token counts of a stream: ask with `stream_options`, or they come by themselves. */
  streamUsage: 'include_usage',
  /** The best answer-format mode the server really enforces; below `json_schema` the engine emulates. */
  structuredOutput: 'json_schema',
  /** False: `strict` on function tools is refused or ignored; it is removed and reported. */
  strictTools: true,
  /** False: custom (free-form) tools travel as functions with one string argument. */
  customTools: true,
  /** False: `name` on messages is refused; it is removed and reported. */
  messageName: true,
  /**
   * `string`: text content must be a string, not an array of parts. Texts are then joined by line ends, which is no loss:
   * a model reads no border between parts of one message.
   */
  textContent: 'parts',
  /** The word that forces some tool. */
  requiredToolChoice: 'required',
  /** False: a named tool cannot be forced; `required` with that tool alone is sent instead. */
  namedToolChoice: true,
  /** `alphanumeric-9`: call ids must be nine letters or digits; others are rewritten consistently. */
  toolCallId: 'any',
  /** True: prompt-cache breakpoints are understood; in Chat Completions as `cache_control` on parts and tools. */
  cacheControl: false,
  /**
   * Words for the elements of vectors. `float`: OpenAI's. `base64_int8`: only base64 of signed bytes or of bits, by
   * `encoding_format: base64_int8 | base64_binary`. `output_dtype`: that member, and `output_dimension` for the length.
   */
  vectors: 'float',
  /** Treatment of request members that the protocol does not know. */
  unknownFields: 'pass',
  /** `merge`: two adjacent messages of one role are refused and must be joined. */
  adjacentRoles: 'keep',
  /**
   * True: while it reasons, the server refuses sampling parameters, forced tool choice and a prefilled answer,
   * and an unfinished tool turn must begin with its own signed reasoning.
   */
  exclusiveReasoning: false,
  /** True: beside a forced tool choice it takes thinking whose amount the model decides itself. */
  forcedThinking: false,
  /** False: Messages and Converse only: `temperature` and `top_p` in one request are refused. */
  pairedSampling: true,
  /** False: Messages and Converse only: a conversation that begins with the assistant is refused. */
  assistantFirst: true,
  /**
   * False: the server fetches no images and files from addresses, although its protocol has that. The gateway does, and
   * sends the bytes. So it does for every server that no vendor runs, unless the operator says otherwise.
   */
  fetchesUrls: true,
  /**
   * False: the server, or the model, takes no files. PDFs and texts become text in front of it, pictures among files
   * become images, and anything else is refused.
   */
  readsFiles: true,
  /**
   * How a last message of the assistant is continued instead of answered. `plain`: by itself; `prefix`, `partial`:
   * with that member on the message (with `prefix` the answer begins by repeating the text); `continue_final_message`:
   * with that member of the body; `none`: it is not.
   */
  prefill: 'none',
  /** True: the model searches the web by itself when the request asks for it in the words of the protocol. */
  searchesWeb: false,
  /** True: the server itself calls remote MCP servers that the request names; one that no vendor runs only if it is said. */
  runsMcp: false,
};

/** Fills a preset's defaults. The only way to make one, so that each says only what is special about it. */
export function defineProvider(
  preset: Omit<ProviderPreset, 'auth' | 'headers'> & Partial<Pick<ProviderPreset, 'auth' | 'headers'>>,
): ProviderPreset {
  return { auth: BEARER, headers: {}, ...preset };
}

/** One protocol entry of a preset, with defaults: unfaithful, no quirks, nothing unsupported. */
export function speaks(
  baseUrl: string,
  facts: Partial<Omit<ProviderProtocol, 'baseUrl'>> = {},
): ProviderProtocol {
  return { baseUrl, faithful: false, quirks: {}, reasoningFormat: null, unsupported: [], ...facts };
}

/** The quirks of one protocol entry over the defaults, with the operator's own last. */
export function resolveQuirks(preset: Partial<Quirks>, configured: Partial<Quirks> = {}): Quirks {
  return { ...NO_QUIRKS, ...preset, ...configured };
}

/**
 * The `place` of hosts that give every customer a name below their domain: `resource` is that name, or the whole address.
 * @param domain what follows the name
 */
export function endpointAt(domain: string): NonNullable<ProviderPreset['place']> {
  return ({ resource }): Record<string, string> =>
    resource === undefined
      ? {}
      : { endpoint: resource.includes('://') ? resource : `https://${resource}.${domain}` };
}
