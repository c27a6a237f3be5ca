// Types of configured providers and models, from which the catalog is built. `app/config` reads and validates the
// files.
import type { Parameter, ProtocolName, Quirks, ReasoningStyle } from '../canonical/index.ts';
import type { AuthScheme, Patience, SettingName } from './providers/index.ts';
import type { Secret } from '../base/telemetry/secret.ts';
import type { ConfiguredPrice } from './prices.ts';

/** `vendor`: batch lines are sent to the vendor's batch API. `requests`: they are sent as ordinary requests. */
export type BatchRoute = 'vendor' | 'requests';

/** One protocol of a configured provider. Absent members come from the preset, if any. */
export interface ProtocolConfig {
  readonly baseUrl?: string | undefined;
  readonly faithful?: boolean | undefined;
  readonly quirks?: Partial<Quirks> | undefined;
  readonly unsupported?: readonly Parameter[] | undefined;
  readonly reasoningFormat?: string | undefined;
}

export interface ProviderConfig {
  /** Preset to start from if the provider's id is not one. */
  readonly preset?: string | undefined;
  /** Undefined: use the preset's variable. Null: empty on purpose, so the provider stays off. */
  readonly apiKey?: Secret | null | undefined;
  readonly baseUrl?: string | undefined;
  readonly protocols?: Readonly<Partial<Record<ProtocolName, ProtocolConfig>>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Proxy URL, or `none`. */
  readonly proxy?: Secret | undefined;
  /** Each is a path or the PEM itself. */
  readonly tls?:
    | {
        readonly cert?: string | undefined;
        readonly key?: Secret | undefined;
        readonly ca?: string | undefined;
      }
    | undefined;
  readonly auth?: AuthScheme | undefined;
  /** Route of batch lines. Absent: they are sent as ordinary requests. */
  readonly batch?: BatchRoute | undefined;
  /** Factor on ordinary prices for batch lines, from 0 to 1. */
  readonly batchPriceFactor?: number | undefined;
  /** Overrides the general timeouts. */
  readonly timeouts?: Patience | undefined;
  /** Values for placeholders in a preset's addresses. */
  readonly settings?: Readonly<Partial<Record<SettingName, string | undefined>>> | undefined;
  /** AWS keys. If absent, all of them come from the environment. */
  readonly awsKeys?:
    | {
        readonly accessKeyId: string | undefined;
        readonly secretAccessKey: Secret | undefined;
        readonly sessionToken: Secret | undefined;
      }
    | undefined;
  /** Profile in AWS's shared files. */
  readonly awsProfile?: string | undefined;
  /** Google: a credential file or its path. Any cloud: `instance`, for the identity of the machine. */
  readonly credentials?: Secret | undefined;
  /** Microsoft Entra application. Absent members come from the environment. */
  readonly azureApplication?:
    | {
        readonly tenantId: string | undefined;
        readonly clientId: string | undefined;
        readonly clientSecret: Secret | undefined;
      }
    | undefined;
}

export interface EndpointConfig {
  readonly provider: string;
  /** The upstream's model name; default: the model id without its prefix. */
  readonly model?: string | undefined;
  readonly protocol?: ProtocolName | undefined;
  /** Makes the slug `provider/name`. */
  readonly name?: string | undefined;
  readonly price?: ConfiguredPrice | undefined;
  /** Default: the provider's. */
  readonly batch?: BatchRoute | undefined;
  /** Price of batch lines. Absent: derived from the ordinary price. */
  readonly batchPrice?: ConfiguredPrice | undefined;
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly reasoning?: ReasoningStyle | undefined;
  readonly quirks?: Partial<Quirks> | undefined;
  readonly unsupported?: readonly Parameter[] | undefined;
  /** From 0 to 1; default: the model's. */
  readonly quality?: number | undefined;
}

export interface ModelConfig {
  readonly id: string;
  readonly displayName?: string | undefined;
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly reasoning?: ReasoningStyle | undefined;
  readonly quality?: number | undefined;
  readonly inputModalities?: readonly string[] | undefined;
  readonly outputModalities?: readonly string[] | undefined;
  readonly price?: ConfiguredPrice | undefined;
  readonly endpoints: readonly EndpointConfig[];
}

export interface CatalogConfig {
  /** `false` disables a preset. */
  readonly providers: Readonly<Record<string, ProviderConfig | false>>;
  readonly models: readonly ModelConfig[];
  readonly aliases: Readonly<Record<string, string>>;
  readonly catalog?: { readonly onlyKnown: boolean } | undefined;
}

/** Rejects an invalid configuration. `path` is the path of the key. */
export type Refuse = (path: string, message: string) => never;

/**
 * Attempts a part of a configuration. A rejection is recorded, so that other parts are checked as well.
 * @returns undefined if the part was rejected
 */
export type Attempt = <Made>(make: () => Made) => Made | undefined;
