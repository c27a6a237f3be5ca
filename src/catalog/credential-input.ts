// Input for resolving a provider's cloud credential.
import type { ProviderPreset } from './providers/index.ts';
import type { ProviderConfig, Refuse } from './catalog-config.ts';
import type { HostAccess, PlaceholderValues } from './provider-address.ts';

export interface CredentialInput {
  readonly preset: ProviderPreset;
  readonly given: ProviderConfig;
  /** Values of the provider's address settings. */
  readonly values: PlaceholderValues;
  /** Path of the provider in the configuration. */
  readonly path: string;
  readonly hostAccess: HostAccess;
  readonly refuse: Refuse;
}

/** Value of `credentials` that enables the cloud's metadata service. It is never queried otherwise. */
export const INSTANCE = 'instance';
