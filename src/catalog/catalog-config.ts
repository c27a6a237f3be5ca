// Settings of providers and models by an operator: the part of the configuration that a catalog is built from. Types
// only; `app/config` reads and checks files.
import type { Parameter, ProtocolName, Quirks, ReasoningStyle } from '../canonical/index.ts';
import type { AuthScheme, Patience, SettingName } from './providers/index.ts';
import type { Secret } from '../base/telemetry/secret.ts';
import type { ConfiguredPrice } from './prices.ts';

/** `vendor`: lines of batches go to the vendor's own batch API. `requests`: they are asked as any other request. */
export type BatchRoute = 'vendor' | 'requests';

/** One protocol of a configured provider; what is absent comes from the preset, if there is one. */
export interface ProtocolConfig {
  readonly baseUrl?: string | undefined;
  readonly faithful?: boolean | undefined;
  readonly quirks?: Partial<Quirks> | undefined;
  readonly unsupported?: readonly Parameter[] | undefined;
  readonly reasoningFormat?: string | undefined;
}

export interface ProviderConfig {
  /** The preset to start from when the provider's own id is not one. */
  readonly preset?: string | undefined;
  /** Undefined: look at the preset's variable. Null: deliberately empty, so the provider stays off. */
  readonly apiKey?: Secret | null | undefined;
  readonly baseUrl?: string | undefined;
  readonly protocols?: Readonly<Partial<Record<ProtocolName, ProtocolConfig>>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Address of a proxy, or `none`. */
  readonly proxy?: Secret | undefined;
  /** Each a path or the PEM itself. */
  readonly tls?:
    | {
        readonly cert?: string | undefined;
        readonly key?: Secret | undefined;
        readonly ca?: string | undefined;
      }
    | undefined;
  readonly auth?: AuthScheme | undefined;
  /** Route of lines of batches. Absent: they are asked as any other request. */
  readonly batch?: BatchRoute | undefined;
  /** Share of the ordinary price that lines of batches cost there, from 0 to 1. */
  readonly batchPriceFactor?: number | undefined;
  /** In place of those of all requests. */
  readonly timeouts?: Patience | undefined;
  /** Values for the places in a preset's addresses. */
  readonly settings?: Readonly<Partial<Record<SettingName, string | undefined>>> | undefined;
  /** Keys of an AWS account; what is absent comes from the environment, all or nothing. */
  readonly awsKeys?:
    | {
        readonly accessKeyId: string | undefined;
        readonly secretAccessKey: Secret | undefined;
        readonly sessionToken: Secret | undefined;
      }
    | undefined;
  /** Profile of AWS's shared files. */
  readonly awsProfile?: string | undefined;
  /** Google: a credential file, or its path. Any cloud: `instance`, for the identity of the machine. */
  readonly credentials?: Secret | undefined;
  /** An application of Microsoft Entra; what is absent comes from the environment. */
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
  /** The upstream's own name; default: the model id without its prefix. */
  readonly model?: string | undefined;
  readonly protocol?: ProtocolName | undefined;
  /** Makes the slug `provider/name`. */
  readonly name?: string | undefined;
  readonly price?: ConfiguredPrice | undefined;
  /** Default: that of the provider. */
  readonly batch?: BatchRoute | undefined;
  /** Price of lines of batches there. Absent: a share of the ordinary price. */
  readonly batchPrice?: ConfiguredPrice | undefined;
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly reasoning?: ReasoningStyle | undefined;
  readonly quirks?: Partial<Quirks> | undefined;
  readonly unsupported?: readonly Parameter[] | undefined;
  /** From 0 to 1; default: that of the model. */
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
  /** `false` switches a preset off. */
  readonly providers: Readonly<Record<string, ProviderConfig | false>>;
  readonly models: readonly ModelConfig[];
  readonly aliases: Readonly<Record<string, string>>;
  readonly catalog?: { readonly onlyKnown: boolean } | undefined;
}

/** Refuses an impossible configuration; `path` is that of the offending key. */
export type Refuse = (path: string, message: string) => never;

/**
 * Makes a part of a configuration. What refuses it is noted by whoever gave this, and the other parts are looked at as well.
 * @returns undefined for a part that was refused
 */
export type Attempt = <Made>(make: () => Made) => Made | undefined;
