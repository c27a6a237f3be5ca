// An endpoint: one model at one provider, with everything an attempt needs. Resolved once when the configuration is
// loaded, immutable afterwards.
import type { KnownMembers, Parameter, ProtocolName, Quirks, ReasoningStyle } from '../canonical/index.ts';
import type { Hosting, Patience, TaskOperations } from './providers/index.ts';
import type { Secret } from '../base/telemetry/secret.ts';
import type { AwsKeySource, TokenSource } from '../upstream/credential-source.ts';
import type { NetworkRoute } from '../upstream/network-route.ts';
import type { Price } from './price.ts';

/** Signer of the requests to an endpoint where no fixed header authenticates them. */
export type CredentialFacts = {
  /** Its source, for people: holds no secret. */
  readonly origin: string;
} & (
  | {
      readonly kind: 'aws-sigv4';
      readonly keys: AwsKeySource;
      readonly region: string;
      /** The service's name in signatures. */
      readonly service: string;
    }
  | { readonly kind: 'token'; readonly source: TokenSource }
);

/** One object for all endpoints of a provider. @property id that of no other credential in this process */
export type EndpointCredential = CredentialFacts & { readonly id: number };

export interface Endpoint {
  /** `provider` or `provider/name`: how requests and records name this deployment. Unique within its model. */
  readonly slug: string;
  /** Provider id. */
  readonly provider: string;
  /** The gateway's model id, e.g. `openai/gpt-5`. */
  readonly modelId: string;
  /** Names under which limits count its model: of all configured models that its provider serves by it, too. */
  readonly countedAs?: (() => string) | undefined;
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly protocol: ProtocolName;
  /**
   * The same deployment spoken to in another protocol, where that is as good; undefined in a protocol that it does not
   * serve, or not as well. Absent: there is no other.
   */
  readonly speaking?: ((protocol: ProtocolName) => Endpoint | undefined) | undefined;
  /** Base URL without a trailing slash; the protocol appends its path. */
  readonly baseUrl: string;
  /** Header that carries the key, with its prefix; null when the server needs none. */
  readonly auth: { readonly header: string; readonly prefix: string; readonly key: Secret } | null;
  /** Absent: `auth` is all. */
  readonly credential?: EndpointCredential | undefined;
  /** Absent: it serves the protocol at the addresses of the protocol's owner. */
  readonly hosting?: Hosting | undefined;
  /** Operations of tasks besides text whose paths differ from the protocol's, by the name of the task. Absent: none. */
  readonly tasks?: TaskOperations | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** How its provider is reached. Absent: as everything is. */
  readonly networkRoute?: NetworkRoute | undefined;
  /** Time limits of its own, in milliseconds. Absent: those of all requests. */
  readonly patience?: Patience | undefined;
  /** False: it is not at the address where a vendor serves everybody, but perhaps within a private network. */
  readonly isVendorRun: boolean;
  /** True: answers follow the protocol exactly, so the relay lane may be used. */
  readonly faithful: boolean;
  /** True: it compacts conversations by itself. */
  readonly compacts?: boolean | undefined;
  /** Kinds of tools that it runs itself, of those that its protocol's owner alone has. */
  readonly hostedTools: ReadonlySet<string>;
  /** Members of the body that it is known to take or to refuse. */
  readonly members?: KnownMembers | undefined;
  readonly quirks: Quirks;
  readonly unsupported: ReadonlySet<Parameter>;
  /** Parameters that it takes although its protocol has no member for them. Absent: none. */
  readonly alsoTakes?: readonly Parameter[] | undefined;
  /** Members of `unsupported` that the model takes once it is told not to reason. */
  readonly onlyWithoutReasoning: ReadonlySet<Parameter>;
  readonly reasoningStyle: ReasoningStyle;
  /** False: nobody knows whether the model reasons; `reasoningStyle` is then `none`. */
  readonly isReasoningKnown: boolean;
  /** True: the model always reasons; switching off is not possible. */
  readonly reasoningMandatory: boolean;
  readonly reasoningFormat: string | null;
  /** Smallest and largest legal reasoning budget in tokens, where the model documents them. */
  readonly reasoningBudget: { readonly min: number; readonly max: number | null };
  /** Efforts the model accepts; null when not documented (all are passed on). */
  readonly efforts: readonly string[] | null;
  /** Tokens; null when unknown. */
  readonly maxOutputTokens: number | null;
  readonly contextLength: number | null;
  /** Null when unknown: cost is then null, never 0. */
  readonly price: Price | null;
  /** Present where lines of batches go to its vendor's own batch API; null when the price there is unknown. */
  readonly batch?: { readonly price: Price | null } | undefined;
  /** The operator's score from 0 to 1, of this endpoint or else of its model; null when not given. */
  readonly quality: number | null;
}

export interface Model {
  /** `<provider>/<name>`. */
  readonly id: string;
  readonly displayName: string;
  /** Unix seconds: the day in the model's own name, else when the catalog was built. */
  readonly created: number;
  readonly ownedBy: string;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly reasoningStyle: ReasoningStyle;
  readonly contextLength: number | null;
  readonly maxOutputTokens: number | null;
  /** The operator's score from 0 to 1; null when not given. */
  readonly quality: number | null;
  /** True: listed by a provider that runs in this process. Nobody gets its answers without asking for them. */
  readonly builtIn: boolean;
  /** In the operator's order. */
  readonly endpoints: readonly Endpoint[];
}

/** All models that can be asked for under one configuration. */
export interface Catalog {
  /**
   * The model for an id as a client wrote it: a listed id, an alias, `<provider>/<name>` of any provider that
   * is on, or a bare name that only one listed model has. Null when there is none.
   */
  find(id: string): Model | null;
  /** Every listed model, sorted by id: those that write text, and whatever else the operator configured. */
  list(): readonly Model[];
  /** Every known model that makes something, by one of its output modalities, sorted by id: listed or not. */
  making(modality: string): readonly Model[];
  /** Every known model, sorted by id: those of `list`, and those that make something else than text. */
  known(): readonly Model[];
  /** True for exactly the id of a model in one of the lists, or exactly an alias. */
  isListed(id: string): boolean;
  /** Providers that are on: id to the name for people. */
  providers(): ReadonlyMap<string, string>;
  /** True for the id of a provider that is on. */
  hasProvider(id: string): boolean;
  /** How to enable a provider that is known and off, as the end of a sentence. Null: any other id. */
  switchesOn(id: string): string | null;
  /** Every secret that is sent to a provider that is on, or with which its requests are signed. */
  secrets(): readonly Secret[];
  /** By the id of each provider whose requests are signed: where its credential comes from, for people. */
  credentialOrigins(): ReadonlyMap<string, string>;
  /** Up to three ids that look like a misspelt one. */
  suggest(id: string): readonly string[];
}
