// Access tokens of Google: for a service account, a person, an identity that Google trusts, and a machine of Google's.
// Sources: "Using OAuth 2.0 for Server to Server Applications" (developers.google.com; RFC 7523), "Application Default
// Credentials" and AIP-4117 (workload identity federation; RFC 8693), "Authenticate to metadata" (Compute Engine), 2026-11.
import { importPKCS8, SignJWT } from 'jose';
import { asObject, asString, parseJson } from '../base/json/index.ts';
import { GatewayError, TEXTS } from '../canonical/index.ts';
import { requestToken, notIssued, refusalWords } from './request-token.ts';
import { bearerToken, isToken, readToken } from './bearer-token.ts';
import type { Sender } from './client.ts';
import type { TokenSource } from './credential-source.ts';
import type { FetchedCredential } from './renewed-credential.ts';
import { readTokenFile } from './token-file.ts';

type Source<From extends TokenSource['from']> = Extract<TokenSource, { readonly from: From }>;

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const JWT_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const TOKEN_PATH = '/computeMetadata/v1/instance/service-accounts/default/token';
const FLAVOR = { 'metadata-flavor': 'Google' };

/** Token for the key file of a service account. */
export async function serviceAccountToken(
  { email, privateKey, privateKeyId, tokenUrl }: Source<'google-service-account'>,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedCredential> {
  const now = client.wall();
  const seconds = Math.floor(now / 1000);
  const key = await importPKCS8(privateKey.reveal(), 'RS256').catch(() => {
    throw new GatewayError('authentication', `the private key of ${email} cannot be read`, {
      fault: 'upstream',
    });
  });
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(privateKeyId ? { kid: privateKeyId } : {}) })
    .setIssuer(email)
    .setAudience(tokenUrl)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + 3600)
    .sign(key);
  const form = { grant_type: JWT_GRANT, assertion };
  const answer = await requestToken({ issuer: TOKEN_SERVICE, url: tokenUrl, form }, client, signal);
  return readToken(answer, { issuer: 'Google', whom: 'the service account', now });
}

/** Token for a user, whose file contains a refresh token. */
export async function userToken(
  { clientId, clientSecret, refreshToken, tokenUrl, quotaProject }: Source<'google-user'>,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedCredential> {
  const now = client.wall();
  const form = {
    grant_type: 'refresh_token',
    client_id: clientId,
    client_secret: clientSecret.reveal(),
    refresh_token: refreshToken.reveal(),
  };
  const answer = await requestToken({ issuer: TOKEN_SERVICE, url: tokenUrl, form }, client, signal);
  const extraHeaders = quotaProject === null ? {} : { 'x-goog-user-project': quotaProject };
  return readToken(answer, { issuer: 'Google', whom: TEXTS.gcloudLogin, now }, extraHeaders);
}

/** Token for the account of a Google machine. */
export async function instanceToken(
  { url }: Source<'google-instance'>,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedCredential> {
  const issuer = "Google's metadata server";
  const answer = await requestToken(
    { issuer, ofMachine: true, url: url + TOKEN_PATH, headers: FLAVOR },
    client,
    signal,
  );
  return readToken(answer, { issuer, whom: 'this machine', now: client.wall() });
}

/** Token for an identity of another provider: exchanged, and if configured exchanged again for a service account. */
export async function federationToken(
  source: Source<'google-federation'>,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedCredential> {
  const { audience, subjectTokenType, tokenUrl, impersonationUrl } = source;
  const form = {
    grant_type: EXCHANGE_GRANT,
    audience,
    scope: SCOPE,
    requested_token_type: ACCESS_TOKEN,
    subject_token: await subjectToken(source, client, signal),
    subject_token_type: subjectTokenType,
  };
  const now = client.wall();
  const answer = await requestToken({ issuer: TOKEN_SERVICE, url: tokenUrl, form }, client, signal);
  const exchanged = readToken(answer, { issuer: 'Google', whom: 'the federated identity', now });
  if (impersonationUrl === null) return exchanged;
  const { authorization = '' } = exchanged.credential.headers(NO_REQUEST);
  const issued = await requestToken(
    { issuer: TOKEN_SERVICE, url: impersonationUrl, headers: { authorization }, json: { scope: [SCOPE] } },
    client,
    signal,
  );
  const { accessToken, expireTime } = asObject(parseJson(issued.text));
  const token = asString(accessToken);
  const expiresAt = Date.parse(asString(expireTime) ?? '');
  if (issued.status !== 200 || !isToken(token) || Number.isNaN(expiresAt))
    throw notIssued('Google', 'no token for the service account', issued, refusalWords(issued));
  return { credential: bearerToken(token), expiresAt };
}

const TOKEN_SERVICE = "Google's token service";
const NO_REQUEST = { method: 'POST', url: '', headers: {}, body: [] } as const;

/** The other provider's token. */
async function subjectToken(
  { subject, field }: Source<'google-federation'>,
  client: Sender,
  signal: AbortSignal,
): Promise<string> {
  const what = 'the token of the federated identity';
  let text;
  if ('file' in subject) text = await readTokenFile(subject.file, what);
  else {
    const answer = await requestToken({ issuer: 'the identity provider', ...subject }, client, signal);
    if (answer.status !== 200) throw notIssued('the identity provider', 'no token', answer);
    text = answer.text.trim();
  }
  if (field === null) return text;
  const token = asString(asObject(parseJson(text))[field]);
  if (token !== undefined) return token;
  throw new GatewayError('authentication', `${what} has no field ${field}`, { fault: 'upstream' });
}
