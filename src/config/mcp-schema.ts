// The part of the configuration file about MCP servers, `tools.mcp`, and what the program makes of it. Knows nothing of
// the rest of the file, and not who asks the servers.
import { z } from 'zod';
import { Secret } from '../telemetry/secret.ts';
import { milliseconds } from './routing-schema.ts';

/** One server of the operator. */
export interface McpServerConfig {
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
  /** Client credentials with which tokens are fetched. */
  readonly oauth?: {
    readonly tokenUrl: string;
    readonly clientId: string;
    readonly clientSecret: Secret;
    readonly scope?: string;
  };
  /** Null: all of them. */
  readonly allowedTools: readonly string[] | null;
  /** When a request says nothing; null: nothing is said here either. */
  readonly requireApproval: 'always' | 'never' | null;
}

export interface McpConfig {
  /** By label. */
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  /** Whether an upstream that asks MCP servers itself may do so. */
  readonly native: 'prefer' | 'never';
  readonly fromRequests: boolean;
  /** `host` or `host:port` that requests may name; empty: all that are public. */
  readonly allow: readonly string[];
  readonly maxResultBytes: number;
  readonly timeoutMs: number;
  readonly maxTools: number;
}

const address = (): z.ZodString =>
  z
    .string()
    .regex(/^https?:\/\/[^\s/]+/, 'must be an http or https address')
    .refine((text) => URL.canParse(text), 'is not a valid address');
// RFC 9110 section 5.6.2, "token".
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not the name of a header');

const oauth = z
  .strictObject({
    token_url: address().describe('Address of the token endpoint.'),
    client_id: z.string().min(1).describe('Id of the client.'),
    client_secret: z.string().min(1).meta({ secret: true }).describe('Secret of the client.'),
    scope: z.string().min(1).optional().describe('Scopes to ask for, separated by spaces.'),
  })
  .describe('OAuth 2.0 client credentials, with which access tokens are fetched and renewed.');

const server = z.strictObject({
  url: address().describe('Address of the server, over streamable HTTP or HTTP with SSE. May be private.'),
  headers: z
    .record(headerName, z.string().meta({ secret: true }))
    .optional()
    .describe('Headers added to every request, such as `authorization`.'),
  oauth: oauth.optional(),
  allowed_tools: z
    .array(z.string().min(1))
    .optional()
    .describe('Tools that requests may use. Default: all that the server lists.'),
  require_approval: z
    .enum(['always', 'never'])
    .optional()
    .describe('Whether calls wait for approval when a request does not say. Default: `always`.'),
});

/** Servers whose tools the gateway calls for models, and the limits. */
export const mcpSchema = z
  .strictObject({
    servers: z
      .record(z.string().regex(/^[\w.-]+$/, 'may hold letters, digits, `.`, `_` and `-`'), server)
      .default({})
      .describe('Servers by the label that requests name (`server_label`).'),
    native: z
      .enum(['prefer', 'never'])
      .default('prefer')
      .describe('Whether an upstream that asks MCP servers itself may do so.'),
    from_requests: z
      .boolean()
      .default(true)
      .describe('Requests may bring servers of their own (`server_url`).'),
    allow: z
      .array(z.string().min(1))
      .default([])
      .describe('`host` or `host:port` of servers that requests may bring. Empty: all that are public.'),
    max_result_kb: z
      .number()
      .int()
      .min(1)
      .max(16_384)
      .default(256)
      .describe('Most text of one result, in kB (1 kB = 1,024 bytes); the rest is cut off.'),
    timeout_ms: milliseconds(60_000).describe(
      'For one call, from the last sign of progress that the server gives; five times as much in all.',
    ),
    max_tools: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(500)
      .describe('Most tools that one server may list; one that lists more is refused.'),
  })
  .prefault({})
  .describe('MCP servers.');

/** Converts the checked part of the file. */
export function toMcp(file: z.output<typeof mcpSchema>): McpConfig {
  const servers = Object.entries(file.servers).map(([label, entry]) => [label, toServer(entry)] as const);
  return {
    servers: Object.fromEntries(servers),
    native: file.native,
    fromRequests: file.from_requests,
    allow: file.allow,
    maxResultBytes: file.max_result_kb * 1024,
    timeoutMs: file.timeout_ms,
    maxTools: file.max_tools,
  };
}

function toServer(entry: z.output<typeof server>): McpServerConfig {
  const headers = Object.entries(entry.headers ?? {}).map(([name, text]) => [name, new Secret(text)]);
  const client = entry.oauth;
  return {
    url: entry.url,
    headers: Object.fromEntries(headers) as Record<string, Secret>,
    ...(client && {
      oauth: {
        tokenUrl: client.token_url,
        clientId: client.client_id,
        clientSecret: new Secret(client.client_secret),
        ...(client.scope !== undefined && { scope: client.scope }),
      },
    }),
    allowedTools: entry.allowed_tools ?? null,
    requireApproval: entry.require_approval ?? null,
  };
}
