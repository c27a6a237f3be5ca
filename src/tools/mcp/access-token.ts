// Access tokens for the operator's own MCP servers: OAuth 2.0 client credentials (RFC 6749 section 4.4), fetched
// once, kept until they expire, fetched again after a refusal. Knows nothing of MCP but the resource indicator.
import { asNumber, asObject, asString, GatewayError, parseJson } from '../../canonical/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Secret } from '../../telemetry/secret.ts';
import type { GuardedFetch } from '../../upstream/fetch-guarded.ts';
import type { McpErrors } from './mcp-error.ts';

/** What a client needs to get tokens for itself. */
export interface OAuthClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly scope?: string;
}

export interface AccessTokensOptions {
  readonly fetch: GuardedFetch;
  readonly clock: Clock;
}

interface Token {
  readonly text: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** A token is not used for the last minute of its life: it could expire on its way. */
const MARGIN_MS = 60_000;
/** Without `expires_in` (RFC 6749 section 5.1: optional). */
const DEFAULT_SECONDS = 300;
const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 15_000;

export class AccessTokens {
  readonly #options: AccessTokensOptions;
  /** By the object of the configuration: a reload makes new ones, and their tokens with them. */
  readonly #tokens = new WeakMap<OAuthClient, Promise<Token>>();
  /** The texts of those, for masking them. */
  readonly #texts = new WeakMap<OAuthClient, string>();

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  /** The token that is in use: to be masked in whatever a server says. */
  current(client: OAuthClient): string | undefined {
    return this.#texts.get(client);
  }

  /**
   * A token that is good for at least a minute; callers at the same time share one fetch.
   * @param resource address of the MCP server (RFC 8707, which the MCP specification demands, "Authorization")
   * @throws GatewayError `mcp_unauthorized` or `mcp_unavailable`
   */
  async token(client: OAuthClient, resource: string, errors: McpErrors): Promise<string> {
    const kept = this.#tokens.get(client);
    if (kept) {
      const token = await kept;
      if (token.expiresAt - MARGIN_MS > this.#options.clock.now()) return token.text;
      this.#forget(client, kept);
    }
    return (await (this.#tokens.get(client) ?? this.#renew(client, resource, errors))).text;
  }

  /** Gives up a token that a server refused, unless another one has taken its place. */
  refused(client: OAuthClient, text: string): void {
    const kept = this.#tokens.get(client);
    if (kept && this.#texts.get(client) === text) this.#forget(client, kept);
  }

  #forget(client: OAuthClient, token: Promise<Token>): void {
    if (this.#tokens.get(client) === token) this.#tokens.delete(client);
  }

  #renew(client: OAuthClient, resource: string, errors: McpErrors): Promise<Token> {
    const fetching = this.#ask(client, resource, errors);
    this.#tokens.set(client, fetching);
    fetching.then(
      ({ text }) => this.#texts.set(client, text),
      () => this.#forget(client, fetching),
    );
    return fetching;
  }

  async #ask(client: OAuthClient, resource: string, errors: McpErrors): Promise<Token> {
    const { fetch, clock } = this.#options;
    const form = new URLSearchParams({ grant_type: 'client_credentials', resource });
    if (client.scope !== undefined) form.set('scope', client.scope);
    const asked = clock.now();
    const answer = await fetch
      .fetchWhole({
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
      })
      .catch((error: unknown) => {
        const { message } = GatewayError.from(error);
        throw errors.make('mcp_unavailable', `has a token endpoint that does not answer: ${message}`);
      });
    const body = asObject(parseJson(answer.bytes.toString()));
    const text = asString(body['access_token']);
    const seconds = asNumber(body['expires_in']) ?? DEFAULT_SECONDS;
    if (answer.status === 200 && text !== undefined && /^[\x21-\x7e]+$/.test(text))
      return { text, expiresAt: asked + seconds * 1000 };
    const words = asString(body['error_description']) ?? asString(body['error']) ?? `status ${answer.status}`;
    throw errors.make('mcp_unauthorized', `has a token endpoint that gives no token: ${errors.quote(words)}`);
  }
}

/** RFC 6749 section 2.3.1: both parts are form-encoded before they are joined. */
function basic({ clientId, clientSecret }: OAuthClient): string {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
  return Buffer.from(`${encode(clientId)}:${encode(clientSecret.reveal())}`).toString('base64');
}
