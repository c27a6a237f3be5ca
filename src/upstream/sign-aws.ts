// AWS Signature Version 4 in the `authorization` header. Own code because libraries sign asynchronously, which would
// delay every request. Source: "AWS Signature Version 4 for API requests" (docs.aws.amazon.com, IAM), and its published
// test suite.
import { createHash, createHmac } from 'node:crypto';
import type { Slices } from '../base/lib/bytes.ts';
import type { Secret } from '../base/telemetry/secret.ts';
import type { ReadyCredential, SignatureHeaders, SignedAnswer, UnsignedRequest } from './credential.ts';
import type { UnixMs } from '../base/units.ts';

/** Keys of an account with region and service. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** Session token of temporary keys. Null: permanent keys. */
  readonly sessionToken: Secret | null;
  readonly region: string;
  /** Name of the service in signatures, e.g. `bedrock`. */
  readonly service: string;
}

/** Headers that are signed if present, in addition to `host` and those of the signature. */
const SIGNED: ReadonlySet<string> = new Set(['content-type']);

/** Errors that new keys may resolve: temporary keys that expired or were revoked. */
const OUTDATED = /^(ExpiredToken|UnrecognizedClient|InvalidClientTokenId)/;

/** Signs requests with the keys of an account. */
export class AwsSigner implements ReadyCredential {
  readonly #keys: AwsKeys;
  readonly #now: () => UnixMs;
  /** The signing key is valid for a day. */
  #day = '';
  #key: Buffer = Buffer.alloc(0);

  constructor(keys: AwsKeys, now: () => UnixMs) {
    this.#keys = keys;
    this.#now = now;
  }

  headers(request: UnsignedRequest): SignatureHeaders {
    const { accessKeyId, sessionToken, region, service } = this.#keys;
    const time = new Date(this.#now()).toISOString().replace(/[-:]|\.\d{3}/g, '');
    const url = new URL(request.url);
    const added: Record<string, string> = { 'x-amz-date': time };
    if (sessionToken) added['x-amz-security-token'] = sessionToken.reveal();

    const signed = new Map<string, string>([['host', url.host], ...Object.entries(added)]);
    for (const [name, value] of Object.entries(request.headers))
      if (SIGNED.has(name) || name.startsWith('x-amz-')) signed.set(name, value.trim().replace(/ +/g, ' '));
    const names = [...signed.keys()].sort();
    const canonical = [
      request.method,
      canonicalPath(url.pathname),
      canonicalQuery(url.searchParams),
      ...names.map((name) => `${name}:${signed.get(name) ?? ''}`),
      '',
      names.join(';'),
      digestOf(request.body),
    ].join('\n');

    const day = time.slice(0, 8);
    const scope = `${day}/${region}/${service}/aws4_request`;
    const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`;
    const signature = createHmac('sha256', this.#signingKey(day)).update(toSign).digest('hex');
    added['authorization'] =
      `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
    return added;
  }

  /** AWS names signature errors in a header ("Common errors", Bedrock API reference, 2026-11). */
  isRefusal(answer: SignedAnswer): boolean {
    return answer.status >= 400 && OUTDATED.test(answer.header('x-amzn-errortype') ?? '');
  }

  #signingKey(day: string): Buffer {
    if (day !== this.#day) {
      const { secretAccessKey, region, service } = this.#keys;
      this.#key = [region, service, 'aws4_request'].reduce(
        hmac,
        hmac(`AWS4${secretAccessKey.reveal()}`, day),
      );
      this.#day = day;
    }
    return this.#key;
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Path of the request line, encoded again, as every service except S3 requires. */
function canonicalPath(path: string): string {
  return path.split('/').map(encode).join('/');
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
}

/** Encodes everything except letters, digits and `-._~`. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function digestOf(body: Slices): string {
  const hash = createHash('sha256');
  for (const slice of body) hash.update(slice);
  return hash.digest('hex');
}
