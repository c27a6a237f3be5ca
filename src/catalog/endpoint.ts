// An endpoint: one model at one provider, with everything that an attempt needs. Resolved when the configuration is
// loaded, and immutable.
import type { KnownMembers, Parameter, ProtocolName, Quirks, ReasoningStyle } from '../canonical/index.ts';
import type { Hosting, Patience, TaskOperations } from './providers/index.ts';
import type { Secret } from '../base/telemetry/secret.ts';
import type { AwsKeySource, TokenSource } from '../upstream/credential-source.ts';
import type { NetworkRoute } from '../upstream/network-route.ts';
import type { Price } from './price.ts';

/** Signs requests to an endpoint that are not authenticated by a fixed header. */
export type CredentialFacts = {
  /** Source of the credential, for people. Contains no secret. */
  readonly origin: string;
} & (
  | {
      readonly kind: 'aws-sigv4';
      readonly keys: AwsKeySource;
      readonly region: string;
      /** Service name in signatures. */
      readonly service: string;
    }
  | { readonly kind: 'token'; readonly source: TokenSource }
);

/** One object for all endpoints of a provider. @property id unique in this process */
export type EndpointCredential = CredentialFacts & { readonly id: number };

export interface Endpoint {
  /** `provider` or `provider/name`: identifies the deployment in requests and records. Unique within its model. */
  readonly slug: string;
  /** Provider id. */
  readonly provider: string;
  /** The gateway's model id, e.g. `openai/gpt-5`. */
  readonly modelId: string;
  /** Names under which limits count its model, including those of configured models with the same upstream model. */
  readonly countedAs?: (() => string) | undefined;
  /** The upstream's model name. */
  readonly model: string;
  readonly protocol: ProtocolName;
  /**
   * The same deployment in another protocol, if it is served equally well; undefined: it is not. Absent: no other
   * protocols.
   */
  readonly speaking?: ((protocol: ProtocolName) => Endpoint | undefined) | undefined;
  /** Base URL without a trailing slash; the protocol appends its path. */
  readonly baseUrl: string;
  /** Header with the key; null: no key needed. */
  readonly auth: { readonly header: string; readonly prefix: string; readonly key: Secret } | null;
  /** Absent: only `auth` is used. */
  readonly credential?: EndpointCredential | undefined;
  /** Absent: the protocol's standard paths. */
  readonly hosting?: Hosting | undefined;
  /** Operations of tasks other than text whose paths differ from the protocol's, by task. Absent: none. */
  readonly tasks?: TaskOperations | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** How its provider is reached. Absent: the default route. */
  readonly networkRoute?: NetworkRoute | undefined;
  /** Own timeouts in milliseconds. Absent: the general ones. */
  readonly patience?: Patience | undefined;
  /** False: not at the vendor's public address, possibly in a private network. */
  readonly isVendorRun: boolean;
  /** True: answers follow the protocol exactly, so that they can be relayed unchanged. */
  readonly faithful: boolean;
  /** True: it compacts conversations itself. */
  readonly compacts?: boolean | undefined;
  /** Hosted tools that it runs itself, among those specific to its protocol's owner. */
  readonly hostedTools: ReadonlySet<string>;
  /** Body members that it is known to accept or reject. */
  readonly members?: KnownMembers | undefined;
  readonly quirks: Quirks;
  readonly unsupported: ReadonlySet<Parameter>;
  /** Parameters that it accepts although its protocol has no member for them. Absent: none. */
  readonly alsoTakes?: readonly Parameter[] | undefined;
  /** Parameters in `unsupported` that the model accepts if reasoning is switched off. */
  readonly onlyWithoutReasoning: ReadonlySet<Parameter>;
  /** False: it is unknown whether the model continues a prefill; the quirk is then `none`. */
  readonly isPrefillKnown: boolean;
  readonly reasoningStyle: ReasoningStyle;
  /** False: it is unknown whether the model reasons; `reasoningStyle` is then `none`. */
  readonly isReasoningKnown: boolean;
  /** True: the model always reasons. */
  readonly reasoningMandatory: boolean;
  readonly reasoningFormat: string | null;
  /** Documented range of reasoning budgets, in tokens; null: no maximum. */
  readonly reasoningBudget: { readonly min: number; readonly max: number | null };
  /** Accepted efforts; null: not documented, all are passed on. */
  readonly efforts: readonly string[] | null;
  /** Tokens; null: unknown. */
  readonly maxOutputTokens: number | null;
  readonly contextLength: number | null;
  /** Null: unknown. The cost is then null, never 0. */
  readonly price: Price | null;
  /** Set if batch lines go to the vendor's batch API. Its price is null if unknown. */
  readonly batch?: { readonly price: Price | null } | undefined;
  /** The operator's score of this endpoint or else of its model, from 0 to 1; null: none. */
  readonly quality: number | null;
}

export interface Model {
  /** `<provider>/<name>`. */
  readonly id: string;
  readonly displayName: string;
  /** Unix seconds: the date in the model's name, or the time when the catalog was built. */
  readonly created: number;
  readonly ownedBy: string;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly reasoningStyle: ReasoningStyle;
  readonly contextLength: number | null;
  readonly maxOutputTokens: number | null;
  /** The operator's score from 0 to 1; null: none. */
  readonly quality: number | null;
  /** True: served by a provider in this process, and only used if requested by name. */
  readonly builtIn: boolean;
  /** In the operator's order. */
  readonly endpoints: readonly Endpoint[];
}

/** All models that are available under a configuration. */
export interface Catalog {
  /**
   * Finds the model for an id as a client wrote it: a listed id, an alias, `<provider>/<name>` of any enabled provider,
   * or a bare name that only one listed model has. Null: none.
   */
  find(id: string): Model | null;
  /** Listed models, sorted by id: text models, and all configured ones. */
  list(): readonly Model[];
  /** All known models with an output modality, sorted by id, listed or not. */
  making(modality: string): readonly Model[];
  /** All known models, sorted by id: those of `list`, and those with other outputs. */
  known(): readonly Model[];
  /** True for the exact id of a known model, or an exact alias. */
  isListed(id: string): boolean;
  /** Enabled providers: display name by id. */
  providers(): ReadonlyMap<string, string>;
  /** True if the provider is enabled. */
  hasProvider(id: string): boolean;
  /** How to enable a known but disabled provider, as the end of a sentence. Null: any other id. */
  switchesOn(id: string): string | null;
  /** All secrets that are sent to enabled providers or sign requests to them. */
  secrets(): readonly Secret[];
  /** Source of the credential of each provider whose requests are signed, for people. */
  credentialOrigins(): ReadonlyMap<string, string>;
  /** Up to three similar ids. */
  suggest(id: string): readonly string[];
}
