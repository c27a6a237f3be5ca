// Access tokens for the operator's MCP servers: OAuth 2.0 client credentials (RFC 6749 section 4.4), cached and renewed
// like all expiring credentials.
import { GatewayError } from '../../../canonical/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Secret } from '../../../base/telemetry/secret.ts';
import { readToken } from '../../../upstream/bearer-token.ts';
import type { Credential } from '../../../upstream/credential.ts';
import type { GuardedAnswer, GuardedFetch } from '../../../upstream/fetch-guarded.ts';
import { type FetchedCredential, RenewedCredential } from '../../../upstream/renewed-credential.ts';
import type { McpErrors } from './mcp-error.ts';
import type { WebFetch } from './web-fetch.ts';
import type { UnixMs } from '../../../base/units.ts';

/** Credentials of an OAuth client. */
export interface OAuthClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly scope?: string | undefined;
}

/** The server that a token is for, and its error factory. */
export interface TokenUse {
  /** Address of the MCP server (RFC 8707, required by the MCP specification, "Authorization"). */
  readonly resource: string;
  readonly errors: McpErrors;
}

const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 10_000;

export class AccessTokens {
  readonly #fetch: GuardedFetch;
  readonly #clock: Clock;
  /** By configuration object: a reload creates new objects, and with them new tokens. */
  readonly #credentials = new WeakMap<OAuthClient, Credential>();
  /** Current authorization headers. */
  readonly #sent = new WeakMap<OAuthClient, string>();

  constructor(fetch: GuardedFetch, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** The current header, to be masked in everything that a server sends. */
  sent(client: OAuthClient): string | undefined {
    return this.#sent.get(client);
  }

  /** The credential shared by all sessions with the client's server. Rejects with the errors of its first use. */
  credential(client: OAuthClient, use: TokenUse): Credential {
    let credential = this.#credentials.get(client);
    if (!credential) {
      credential = new RenewedCredential(() => this.#renew(client, use), this.#clock);
      this.#credentials.set(client, credential);
    }
    return credential;
  }

  async #renew(client: OAuthClient, { resource, errors }: TokenUse): Promise<FetchedCredential> {
    const now = this.#clock.wall();
    const answer = await this.#ask(client, resource).catch((error: unknown) => {
      const { message } = GatewayError.from(error);
      throw errors.make('mcp_unavailable', `has a token endpoint that did not respond: ${message}`);
    });
    try {
      const issued = { status: answer.status, text: answer.bytes.toString() };
      const fetched = readToken(issued, { issuer: 'its token endpoint', whom: 'the gateway', now });
      const { authorization } = fetched.credential.headers({
        method: 'GET',
        url: resource,
        headers: {},
        body: [],
      });
      if (authorization !== undefined) this.#sent.set(client, authorization);
      return fetched;
    } catch (error) {
      throw errors.make(
        'mcp_unauthorized',
        `could not get a token: ${errors.quote(GatewayError.from(error).message)}`,
      );
    }
  }

  #ask(client: OAuthClient, resource: string): Promise<GuardedAnswer> {
    const form = new URLSearchParams({ grant_type: 'client_credentials', resource });
    if (client.scope !== undefined) form.set('scope', client.scope);
    return this.#fetch.fetchWhole({
      url: client.tokenUrl,
      method: 'POST',
      headers: {
        authorization: `Basic ${basic(client)}`,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      body: form.toString(),
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
  }
}

/** Wraps `fetch` with authentication, and retries once with a new credential after a 401. */
export function withCredential(inner: WebFetch, credential: Credential, now: () => UnixMs): WebFetch {
  return async (url, init = {}) => {
    let signedAt = 0;
    const send = async (): Promise<Response> => {
      const headers = new Headers(init.headers);
      const added = await credential.headers({ method: 'GET', url: String(url), headers: {}, body: [] });
      // Taken after the wait, because a credential obtained during this request is not newer than it.
      signedAt = now();
      for (const [name, value] of Object.entries(added)) headers.set(name, value);
      return inner(url, { ...init, headers });
    };
    const response = await send();
    const header = (name: string): string | null => response.headers.get(name);
    if (response.status !== 401 || !credential.refused?.({ status: 401, header }, signedAt)) return response;
    await response.body?.cancel();
    return send();
  };
}

/** RFC 6749 section 2.3.1: both parts are form-encoded before they are joined. */
function basic({ clientId, clientSecret }: OAuthClient): string {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
  return Buffer.from(`${encode(clientId)}:${encode(clientSecret.reveal())}`).toString('base64');
}
