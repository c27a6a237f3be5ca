// Access tokens of Microsoft Entra: for an application with a secret or a federated token, and for the identity of a
// machine or an app. Sources: "OAuth 2.0 client credentials flow" (learn.microsoft.com, identity platform), "How to use
// managed identities on a VM to acquire a token", "managed identities for App Service" (REST reference), 2026-11.
import { TEXTS } from '../canonical/index.ts';
import { Secret } from '../base/telemetry/secret.ts';
import { requestToken } from './request-token.ts';
import { readToken } from './bearer-token.ts';
import type { Sender } from './client.ts';
import type { TokenSource } from './credential-source.ts';
import type { FetchedCredential } from './renewed-credential.ts';
import { readTokenFile } from './token-file.ts';

type Source<From extends TokenSource['from']> = Extract<TokenSource, { readonly from: From }>;

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Token for a registered application. */
export async function applicationToken(
  { tokenUrl, clientId, proof, scope }: Source<'azure-application'>,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedCredential> {
  const proven: Record<string, string> =
    'secret' in proof
      ? { client_secret: proof.secret.reveal() }
      : {
          client_assertion_type: JWT_BEARER,
          client_assertion: await readTokenFile(proof.tokenFile, "the application's federated token"),
        };
  const now = client.wall();
  const form = { grant_type: 'client_credentials', client_id: clientId, scope, ...proven };
  const answer = await requestToken({ issuer: 'Microsoft Entra', url: tokenUrl, form }, client, signal);
  return readToken(answer, { issuer: 'Microsoft Entra', whom: 'the application', now });
}

/** Token for the managed identity of this machine or app. */
export async function identityToken(
  { url, headers }: Source<'azure-identity'>,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedCredential> {
  const issuer = "Azure's identity endpoint";
  const revealed = Object.entries(headers).map(([name, value]) => [
    name,
    value instanceof Secret ? value.reveal() : value,
  ]);
  const question = {
    issuer,
    ofMachine: true,
    url,
    headers: Object.fromEntries(revealed) as Record<string, string>,
  };
  const answer = await requestToken(question, client, signal);
  return readToken(answer, { issuer, whom: TEXTS.managedIdentity, now: client.wall() });
}
