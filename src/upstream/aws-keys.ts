// AWS keys that must be fetched: from instance metadata, a container agent, or STS for a role. Sources: "AWS SDKs and
// Tools Reference Guide" (IMDS, container and assume-role credential providers), "Use IMDSv2" (EC2),
// "AssumeRoleWithWebIdentity" and "AssumeRole" (STS API reference), 2026-11.
import { asObject, asString, parseJson } from '../base/json/index.ts';
import { slicesOf } from '../base/lib/bytes.ts';
import { GatewayError, TEXTS } from '../canonical/index.ts';
import { Secret } from '../base/telemetry/secret.ts';
import { requestToken, type IssuerAnswer, notIssued } from './request-token.ts';
import { isToken } from './bearer-token.ts';
import type { Sender } from './client.ts';
import type { AwsKeySource } from './credential-source.ts';
import { type AwsKeys, AwsSigner } from './sign-aws.ts';
import { readTokenFile } from './token-file.ts';
import type { UnixMs } from '../base/units.ts';

type Source<From extends AwsKeySource['from']> = Extract<AwsKeySource, { readonly from: From }>;

export interface FetchedKeys {
  readonly keys: Omit<AwsKeys, 'region' | 'service'>;
  /** Unix milliseconds. Infinity: keys do not expire. */
  readonly expiresAt: UnixMs;
}

const NO_KEYS = 'no keys';
const INSTANCE = 'the instance metadata service';
const CREDENTIALS_PATH = '/latest/meta-data/iam/security-credentials/';
/** Lifetime of a metadata session in seconds; each is used once. */
const SESSION = { 'x-aws-ec2-metadata-token-ttl-seconds': '60' };
const STS_VERSION = '2011-06-15';

/** Fetches keys. @throws GatewayError when that fails */
export async function fetchAwsKeys(
  source: AwsKeySource,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedKeys> {
  switch (source.from) {
    case 'given':
      return { keys: source, expiresAt: Infinity };
    case 'instance':
      return instanceKeys(source, client, signal);
    case 'container':
      return containerKeys(source, client, signal);
    case 'web-identity':
      return webIdentityKeys(source, client, signal);
    case 'role':
      return roleKeys(source, client, signal);
  }
}

/** IMDSv2: gets a session, then the name of the role, then its keys. */
async function instanceKeys(
  { url }: Source<'instance'>,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedKeys> {
  const session = await requestToken(
    { issuer: INSTANCE, ofMachine: true, url: `${url}/latest/api/token`, method: 'PUT', headers: SESSION },
    client,
    signal,
  );
  const token = session.text.trim();
  if (session.status !== 200 || !isToken(token)) throw notIssued(INSTANCE, 'no session', session);
  const question = { issuer: INSTANCE, ofMachine: true, headers: { 'x-aws-ec2-metadata-token': token } };
  const roles = await requestToken({ ...question, url: url + CREDENTIALS_PATH }, client, signal);
  const [role = ''] = roles.text.trim().split('\n');
  if (roles.status !== 200 || role === '')
    throw notIssued(INSTANCE, NO_KEYS, roles, 'the instance has no role');
  const at = url + CREDENTIALS_PATH + encodeURIComponent(role);
  return readKeys(await requestToken({ ...question, url: at }, client, signal), INSTANCE);
}

async function containerKeys(
  { url, token, tokenFile }: Source<'container'>,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedKeys> {
  const issuer = TEXTS.containerAgent;
  const authorization =
    tokenFile === null ? token?.reveal() : await readTokenFile(tokenFile, "the container's token");
  if (authorization !== undefined && /[^\x20-\x7e]/.test(authorization))
    throw new GatewayError(
      'authentication',
      "the container's token contains characters that are not allowed in an HTTP header",
      {
        fault: 'upstream',
      },
    );
  const headers = authorization === undefined ? {} : { authorization };
  return readKeys(await requestToken({ issuer, ofMachine: true, url, headers }, client, signal), issuer);
}

/** Keys in the form of both metadata services. */
function readKeys(answer: IssuerAnswer, issuer: string): FetchedKeys {
  const body = asObject(parseJson(answer.text));
  const keys = toKeys({
    accessKeyId: asString(body['AccessKeyId']),
    secret: asString(body['SecretAccessKey']),
    token: asString(body['Token']),
    expiration: asString(body['Expiration']),
  });
  if (answer.status === 200 && keys) return keys;
  const words = [body['message'], body['Message'], body['code'], body['Code']].map(asString).find(Boolean);
  throw notIssued(issuer, NO_KEYS, answer, words);
}

/** STS accepts this request unsigned, because the token is the proof. */
async function webIdentityKeys(
  { roleArn, sessionName, tokenFile, url }: Source<'web-identity'>,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedKeys> {
  const form = {
    Action: 'AssumeRoleWithWebIdentity',
    Version: STS_VERSION,
    RoleArn: roleArn,
    RoleSessionName: sessionName,
    WebIdentityToken: await readTokenFile(tokenFile, 'the web identity token'),
  };
  return readSts(await requestToken({ issuer: 'STS', url, form }, client, signal));
}

async function roleKeys(
  { roleArn, sessionName, externalId, base, url, region }: Source<'role'>,
  client: Sender,
  signal: AbortSignal,
): Promise<FetchedKeys> {
  const { keys } = await fetchAwsKeys(base, client, signal);
  const form = {
    Action: 'AssumeRole',
    Version: STS_VERSION,
    RoleArn: roleArn,
    RoleSessionName: sessionName,
    ...(externalId === null ? {} : { ExternalId: externalId }),
  };
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = slicesOf(new URLSearchParams(form).toString());
  const signer = new AwsSigner({ ...keys, region, service: 'sts' }, client.wall);
  const signature = signer.headers({ method: 'POST', url, headers, body });
  return readSts(await requestToken({ issuer: 'STS', url, form, headers: signature }, client, signal));
}

/** STS responds in XML, of which a few flat elements are needed. */
function readSts(answer: IssuerAnswer): FetchedKeys {
  const element = (name: string): string | undefined =>
    new RegExp(`<${name}>([^<]*)</${name}>`).exec(answer.text)?.[1];
  const keys = toKeys({
    accessKeyId: element('AccessKeyId'),
    secret: element('SecretAccessKey'),
    token: element('SessionToken'),
    expiration: element('Expiration'),
  });
  if (answer.status === 200 && keys) return keys;
  throw notIssued('STS', NO_KEYS, answer, element('Message') ?? element('Code'));
}

interface Written {
  readonly accessKeyId: string | undefined;
  readonly secret: string | undefined;
  readonly token: string | undefined;
  /** ISO 8601. */
  readonly expiration: string | undefined;
}

/** Undefined when a member is missing or invalid. */
function toKeys({ accessKeyId, secret, token, expiration }: Written): FetchedKeys | undefined {
  const expiresAt = expiration === undefined ? Infinity : Date.parse(expiration);
  if (!isToken(accessKeyId) || !secret || Number.isNaN(expiresAt)) return undefined;
  if (token !== undefined && !isToken(token)) return undefined;
  const sessionToken = token === undefined ? null : new Secret(token);
  return { keys: { accessKeyId, secretAccessKey: new Secret(secret), sessionToken }, expiresAt };
}
