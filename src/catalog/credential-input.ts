// Input of the search for a provider's credential, in whatever cloud it is.
import type { ProviderPreset } from './providers/index.ts';
import type { ProviderConfig, Refuse } from './catalog-config.ts';
import type { Surroundings, Words } from './provider-place.ts';

export interface CredentialInput {
  readonly preset: ProviderPreset;
  readonly given: ProviderConfig;
  /** The settings of the provider's place. */
  readonly words: Words;
  /** Path of the provider in the configuration. */
  readonly path: string;
  readonly surroundings: Surroundings;
  readonly refuse: Refuse;
}

/** The word for `credentials` that asks the cloud who the machine is. Nobody is asked unless it stands there. */
export const INSTANCE = 'instance';
