// Choice of a provider's credential where there is no key: the cloud's own way that the operator configured, or that
// the environment offers. Only looks; tokens are fetched with the first request.
import type { CredentialKind } from './providers/index.ts';
import { awsCredential } from './aws-credential.ts';
import { azureCredential } from './azure-credential.ts';
import type { ProviderConfig } from './catalog-config.ts';
import type { CredentialInput } from './credential-input.ts';
import type { CredentialFacts, EndpointCredential } from './endpoint.ts';
import { googleCredential } from './google-credential.ts';

const FINDERS: Readonly<Record<CredentialKind, (input: CredentialInput) => CredentialFacts>> = {
  aws: awsCredential,
  azure: azureCredential,
  google: googleCredential,
};

let count = 0;

/** The credential of a provider whose preset has such a kind. Refuses where something of it is missing. */
export function credentialOf(kind: CredentialKind, input: CredentialInput): EndpointCredential {
  return Object.freeze({ ...FINDERS[kind](input), id: ++count });
}

/** True where the operator named credentials: then a key that only the environment holds is not meant. */
export function namesCredential({
  awsKeys,
  awsProfile,
  credentials,
  azureApplication,
}: ProviderConfig): boolean {
  return [awsKeys, awsProfile, credentials, azureApplication?.clientSecret].some(
    (each) => each !== undefined,
  );
}
