// What signs the requests to an endpoint: made once for all endpoints of a provider, so that they share one token.
import type { EndpointCredential } from '../catalog/index.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { Credential } from '../upstream/credential.ts';
import { GoogleToken } from '../upstream/google-token.ts';
import { AwsSigner } from '../upstream/sign-aws.ts';

const known = new WeakMap<EndpointCredential, Credential>();

/** The signer for a credential. */
export function upstreamCredential(facts: EndpointCredential, upstream: UpstreamClient): Credential {
  let credential = known.get(facts);
  if (!credential) {
    credential = makeCredential(facts, upstream);
    known.set(facts, credential);
  }
  return credential;
}

function makeCredential(facts: EndpointCredential, upstream: UpstreamClient): Credential {
  switch (facts.kind) {
    case 'aws-sigv4':
      return new AwsSigner(facts, () => upstream.now());
    case 'google-service-account':
      return new GoogleToken(facts, upstream);
  }
}
