// Resolves the cloud credential of a provider without a key, from the configuration or the environment. Tokens are
// fetched with the first request.
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

/** The credential of a provider. Refuses if it is incomplete. */
export function credentialOf(kind: CredentialKind, input: CredentialInput): EndpointCredential {
  return Object.freeze({ ...FINDERS[kind](input), id: ++count });
}

/** True if the operator configured credentials. They take precedence over a key in the environment. */
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
