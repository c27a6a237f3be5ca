// Headers and token for an MCP server, and redaction of these secrets in its errors.
import { secretsOfAddress } from '../../../canonical/index.ts';
import { createRedactor } from '../../../base/telemetry/redact.ts';
import type { Secret } from '../../../base/telemetry/secret.ts';
import type { Credential } from '../../../upstream/credential.ts';
import type { AccessTokens } from './access-token.ts';
import { mcpErrors } from './mcp-error.ts';
import type { McpErrors } from './mcp-error.ts';
import type { McpServer } from './session.ts';

export interface ServerCredentials {
  readonly headers: Readonly<Record<string, string>>;
  /** Credential of a server with expiring tokens. */
  readonly credential: Credential | undefined;
  /** Error messages in which the sent secrets are masked. */
  readonly errors: McpErrors;
}

/** Headers of the transport or the protocol, which must not be overridden. */
const RESERVED_HEADERS =
  /^(?:host|connection|keep-alive|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept|accept-encoding|proxy-.*|mcp-.*|last-event-id)$/;
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

/** @throws GatewayError `mcp_invalid` for a header that cannot be sent; names the header, without its value */
export function serverCredentials(server: McpServer, tokens: AccessTokens): ServerCredentials {
  const { label, authorization, oauth, url } = server;
  const given = Object.entries(server.headers).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    textOf(value),
  ]);
  if (authorization) given.push(['authorization', schemed(authorization.reveal())]);
  const secrets = [...given.flatMap(([, value]) => [value, ...value.split(' ')]), ...secretsOfAddress(url)];
  if (oauth) secrets.push(oauth.clientSecret.reveal());
  const errors = mcpErrors(label, (text) => {
    // Masked with and without its scheme.
    const token = oauth && tokens.sent(oauth)?.split(' ');
    return createRedactor(token ? [...secrets, ...token] : secrets)(text);
  });
  for (const [name, value] of given) {
    if (!NAME.test(name) || RESERVED_HEADERS.test(name))
      throw errors.make('mcp_invalid', `cannot have the header \`${name}\`: its name is invalid or reserved`);
    if (!VALUE.test(value))
      throw errors.make(
        'mcp_invalid',
        `cannot have the header \`${name}\`: its value is not printable ASCII`,
      );
  }
  const credential =
    oauth && !authorization ? tokens.credential(oauth, { resource: url, errors }) : undefined;
  return { headers: Object.fromEntries(given), credential, errors };
}

function textOf(value: Secret | string): string {
  return typeof value === 'string' ? value : value.reveal();
}

/** `authorization` in a request is documented as a token, but some clients send the whole header. */
function schemed(text: string): string {
  return text.includes(' ') ? text : `Bearer ${text}`;
}
