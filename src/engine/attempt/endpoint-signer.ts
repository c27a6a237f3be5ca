// Signers of requests. One is created for all endpoints of a provider, so that they share one token.
import type { Endpoint, EndpointCredential } from '../../catalog/index.ts';
import { fetchAwsKeys } from '../../upstream/aws-keys.ts';
import { applicationToken, identityToken } from '../../upstream/azure-token.ts';
import type { Sender, UpstreamClient } from '../../upstream/client.ts';
import type { TokenSource } from '../../upstream/credential-source.ts';
import type { Credential } from '../../upstream/credential.ts';
import {
  federationToken,
  instanceToken,
  serviceAccountToken,
  userToken,
} from '../../upstream/google-token.ts';
import { type FetchedCredential, RenewedCredential } from '../../upstream/renewed-credential.ts';
import { AwsSigner } from '../../upstream/sign-aws.ts';

const known = new WeakMap<EndpointCredential, Credential>();

/** The signer of requests to an endpoint. */
export function signerOf(
  credential: EndpointCredential,
  upstream: Pick<UpstreamClient, 'send' | 'now' | 'wall'>,
  networkRoute: Endpoint['networkRoute'],
): Credential {
  const sender = { send: upstream.send.bind(upstream), now: upstream.now, wall: upstream.wall, networkRoute };
  return upstreamCredential(credential, sender);
}

/** Returns the signer for a credential. */
function upstreamCredential(facts: EndpointCredential, upstream: Sender): Credential {
  let credential = known.get(facts);
  if (!credential) {
    credential = makeCredential(facts, upstream);
    known.set(facts, credential);
  }
  return credential;
}

function makeCredential(facts: EndpointCredential, upstream: Sender): Credential {
  if (facts.kind === 'token')
    return new RenewedCredential((signal) => fetchToken(facts.source, upstream, signal), upstream);
  const { keys, region, service } = facts;
  // Given keys need no fetch, so requests are signed synchronously.
  if (keys.from === 'given') {
    const signer = new AwsSigner({ ...keys, region, service }, upstream.wall);
    return { headers: (request) => signer.headers(request) };
  }
  return new RenewedCredential(async (signal) => {
    const fetched = await fetchAwsKeys(keys, upstream, signal);
    const credential = new AwsSigner({ ...fetched.keys, region, service }, upstream.wall);
    return { credential, expiresAt: fetched.expiresAt };
  }, upstream);
}

function fetchToken(source: TokenSource, upstream: Sender, signal: AbortSignal): Promise<FetchedCredential> {
  switch (source.from) {
    case 'google-service-account':
      return serviceAccountToken(source, upstream, signal);
    case 'google-user':
      return userToken(source, upstream, signal);
    case 'google-federation':
      return federationToken(source, upstream, signal);
    case 'google-instance':
      return instanceToken(source, upstream, signal);
    case 'azure-application':
      return applicationToken(source, upstream, signal);
    case 'azure-identity':
      return identityToken(source, upstream, signal);
  }
}
