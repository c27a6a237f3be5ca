// Access tokens of a Google service account: fetched with a signed assertion, kept, and replaced before they expire.
// Source: "Using OAuth 2.0 for Server to Server Applications" (developers.google.com, HTTP/REST; RFC 7523).
import { importPKCS8, SignJWT } from 'jose';
import { asNumber, asObject, asString, GatewayError, parseJson } from '../canonical/index.ts';
import type { Secret } from '../telemetry/secret.ts';
import type { UpstreamCall, UpstreamClient } from './client.ts';
import type { Credential } from './credential.ts';

/** What of a service account's key file is needed. */
export interface ServiceAccount {
  readonly email: string;
  /** PEM, PKCS #8. */
  readonly privateKey: Secret;
  readonly privateKeyId: string | null;
  readonly tokenUrl: string;
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** From here on a new token is fetched, while the old one still serves. */
const REFRESH_BEFORE_MS = 5 * 60_000;
/** Nearer to its end, a token might expire on its way. */
const UNUSABLE_BEFORE_MS = 30_000;
/** A fetch that takes longer is given up by the next one who needs a token. */
const PATIENCE_MS = 10_000;
/** How long a failed fetch is not repeated while the old token serves. */
const PAUSE_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

interface Token {
  readonly headers: Readonly<Record<string, string>>;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Fetch {
  readonly startedAt: number;
  readonly token: Promise<Token>;
  readonly abort: () => void;
}

/** Signs requests with the token of a service account. One fetch serves everybody who waits for it. */
export class GoogleToken implements Credential {
  readonly #account: ServiceAccount;
  readonly #client: UpstreamClient;
  #token: Token | undefined;
  #fetch: Fetch | undefined;
  #failedAt = -PAUSE_MS;

  constructor(account: ServiceAccount, client: UpstreamClient) {
    this.#account = account;
    this.#client = client;
  }

  headers(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>> {
    const now = this.#client.now();
    const left = (this.#token?.expiresAt ?? 0) - now;
    if (this.#token && left > UNUSABLE_BEFORE_MS) {
      // A failure here is told by whoever needs the next token.
      if (left <= REFRESH_BEFORE_MS && now - this.#failedAt >= PAUSE_MS) this.#refresh(now).catch(() => {});
      return this.#token.headers;
    }
    return this.#refresh(now).then((token) => token.headers);
  }

  #refresh(now: number): Promise<Token> {
    if (this.#fetch && now - this.#fetch.startedAt <= PATIENCE_MS) return this.#fetch.token;
    this.#fetch?.abort();
    const fetch = this.#start(now);
    this.#fetch = fetch;
    void this.#keep(fetch);
    return fetch.token;
  }

  /** Never rejects: those who wait are told. */
  async #keep(fetch: Fetch): Promise<void> {
    try {
      this.#token = await fetch.token;
    } catch {
      this.#failedAt = this.#client.now();
    }
    if (this.#fetch === fetch) this.#fetch = undefined;
  }

  #start(now: number): Fetch {
    let call: UpstreamCall | undefined;
    let abandon: (error: GatewayError) => void = () => {};
    const abandoned = new Promise<never>((_, reject) => (abandon = reject));
    const fetched = this.#fetchToken(now, (begun) => (call = begun));
    return {
      startedAt: now,
      token: Promise.race([fetched, abandoned]),
      abort() {
        call?.abort();
        abandon(new GatewayError('timeout', "Google's token service does not answer"));
      },
    };
  }

  async #fetchToken(now: number, begun: (call: UpstreamCall) => void): Promise<Token> {
    const assertion = await this.#assertion(now);
    const { status, body } = await new Promise<Answer>((resolve, reject) =>
      begun(this.#post(assertion, resolve, reject)),
    );
    return readToken(status, body, now);
  }

  async #assertion(now: number): Promise<string> {
    const { email, privateKey, privateKeyId, tokenUrl } = this.#account;
    const seconds = Math.floor(now / 1000);
    const key = await importPKCS8(privateKey.reveal(), 'RS256').catch(() => {
      throw new GatewayError('authentication', `the private key of ${email} cannot be read`, {
        fault: 'upstream',
      });
    });
    return new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(privateKeyId ? { kid: privateKeyId } : {}) })
      .setIssuer(email)
      .setAudience(tokenUrl)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + 3600)
      .sign(key);
  }

  #post(
    assertion: string,
    answered: (answer: Answer) => void,
    failed: (error: GatewayError) => void,
  ): UpstreamCall {
    let status = 0;
    let body = '';
    return this.#client.send(
      {
        url: this.#account.tokenUrl,
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
      },
      {
        connected: () => {},
        head: (head) => (status = head.status),
        data: (bytes) => {
          if (body.length <= MAX_ANSWER_BYTES) body += bytes;
        },
        end: () => answered({ status, body }),
        failed: (failure, message) =>
          failed(
            new GatewayError(
              'upstream_unavailable',
              `Google's token service failed: ${failure} (${message})`,
            ),
          ),
      },
    );
  }
}

/** @throws GatewayError in Google's own words where it refuses, which name no secret */
function readToken(status: number, body: string, now: number): Token {
  const answer = asObject(parseJson(body));
  const token = asString(answer['access_token']);
  const seconds = asNumber(answer['expires_in']) ?? 3600;
  if (status === 200 && token !== undefined && !/[^\x21-\x7e]/.test(token))
    return { headers: { authorization: `Bearer ${token}` }, expiresAt: now + seconds * 1000 };
  const words = asString(answer['error_description']) ?? asString(answer['error']) ?? `status ${status}`;
  const isRefusal = status === 400 || status === 401 || status === 403;
  throw new GatewayError(
    isRefusal ? 'authentication' : 'upstream_unavailable',
    `Google gives no token for the service account: ${words.slice(0, 300)}`,
    { fault: 'upstream' },
  );
}
