// What a provider is: data. Who runs an endpoint, where, with which authentication, and how it departs from
// the protocols it claims to speak.
import type { JsonObject, Parameter, ProtocolName, Quirks } from '../canonical/index.ts';
import type { AuthScheme } from '../protocols/index.ts';

export type { AuthScheme };

const BEARER: AuthScheme = { header: 'authorization', prefix: 'Bearer ' };

/** One operation of a host besides answers. */
export interface HostedOperation {
  /** May hold `{operation}`: the path that the protocol has for it. */
  readonly path: string;
  /** As those of answers. */
  readonly set?: JsonObject | undefined;
  readonly remove?: readonly string[] | undefined;
}

export interface HostedCounting extends HostedOperation {
  /** In whose form the host counts; absent: in that of the protocol which it serves. */
  readonly protocol?: ProtocolName | undefined;
}

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
  /** Counting of input tokens; absent: the host has no such operation. */
  readonly counting?: HostedCounting | undefined;
  /** Absent: the host makes no embeddings in this protocol. */
  readonly embeddings?: HostedOperation | undefined;
}

/** What the address of a host, or a credential, needs to know besides a key. */
export type SettingName = 'resource' | 'apiVersion' | 'region' | 'project' | 'location';

export interface Setting {
  /** Environment variables that may hold it, in order. */
  readonly variables: readonly string[];
  readonly fallback?: string | undefined;
}

/** Whose credentials sign requests where no key is given. */
export type CredentialKind = 'aws' | 'azure' | 'google';

/** One protocol as served by one provider. */
export interface ProviderProtocol {
  /** May hold words of the provider's settings: `https://{resource}.example.com`. */
  readonly baseUrl: string;
  readonly hosting?: Hosting | undefined;
  /** True when answers follow the protocol exactly as its owner defines it: the relay lane may be used. */
  readonly faithful: boolean;
  readonly quirks: Partial<Quirks>;
  /** Format of opaque reasoning that its models can read back. */
  readonly reasoningFormat: string | null;
  readonly unsupported: readonly Parameter[];
  /** True: conversations can be compacted by the server itself (`compaction_trigger` of the Responses API). */
  readonly compacts?: boolean | undefined;
  /**
   * Kinds of hosted tools that the server runs itself, where it merely speaks the protocol of those who own them:
   * `code_interpreter` and the like. The owner has them all.
   */
  readonly hostedTools?: readonly string[] | undefined;
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
  /** True: the variable alone does not switch it on; the configuration must name it. */
  readonly namedOnly?: boolean | undefined;
  /** What the operator must say of the place. */
  readonly settings?: Readonly<Partial<Record<SettingName, Setting>>> | undefined;
  /** Words of addresses that follow from the settings, where the vendor's rule is no plain insertion. */
  readonly place?:
    | ((settings: Readonly<Partial<Record<SettingName, string>>>) => Record<string, string>)
    | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocols: Readonly<Partial<Record<ProtocolName, ProviderProtocol>>>;
  /** The protocol to use when a model says nothing. */
  readonly defaultProtocol: ProtocolName;
  /** The protocols of models by name, stronger than what their families prefer; the first that matches. */
  readonly protocolOf?: readonly { readonly match: RegExp; readonly protocol: ProtocolName }[] | undefined;
  /** Its id in the price library, where that differs. */
  readonly priceId?: string | undefined;
  /** Names that the price library files under this vendor although its API does not serve them: never listed. */
  readonly notServed?: RegExp | undefined;
  /** Link to the vendor's API documentation: the source of the quirks. */
  readonly docs: string;
}

/** The behaviour of a server that follows its protocol to the letter. */
export const NO_QUIRKS: Quirks = {
  /** Name of the output limit in Chat Completions. Older compatible servers know only `max_tokens`. */
  maxTokensField: 'max_completion_tokens',
  /** The role that carries instructions: `keep` passes the client's own; others rewrite both to one. */
  systemRole: 'keep',
  /** True: only one system message, the first, is accepted; the others are joined into it. */
  mergeSystem: false,
  /** True: Messages only: instructions may stand inside the conversation, as a message of role `system`. */
  laterInstructions: false,
  /** Where the chat dialect takes the reasoning switch. `none`: it has no such field. */
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
  /** What to do with request members that the protocol does not know. */
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
