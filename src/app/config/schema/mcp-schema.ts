// The `tools.mcp` section of the configuration file: MCP servers.
import { TEXTS } from '../../../canonical/index.ts';
import { inProgram, orNull, secret } from '../../../catalog/schema/index.ts';
import { z } from 'zod';
import { milliseconds } from './routing-schema.ts';

const address = (): z.ZodString =>
  z
    .string()
    .regex(/^https?:\/\/[^\s/]+/, TEXTS.mustBeHttpAddress)
    .refine((text) => URL.canParse(text), 'is not a valid address');
// RFC 9110 section 5.6.2, "token".
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not the name of a header');

const oauth = inProgram(
  z.strictObject({
    token_url: address().describe('Address of the token endpoint.'),
    client_id: z.string().min(1).describe('Id of the client.'),
    client_secret: secret(z.string().min(1)).describe('Secret of the client.'),
    scope: z.string().min(1).optional().describe('Requested scopes, separated by spaces.'),
  }),
).describe('OAuth 2.0 client credentials, with which access tokens are fetched and renewed.');

const server = inProgram(
  z.strictObject({
    url: address().describe('Address of the server, over streamable HTTP or HTTP with SSE. May be private.'),
    headers: z
      .record(headerName, secret())
      .optional()
      .transform((headers) => headers ?? {})
      .describe('Headers added to every request, such as `authorization`.'),
    oauth: oauth.optional(),
    allowed_tools: orNull(z.array(z.string().min(1))).describe(
      'Tools that requests may use. Default: all tools of the server.',
    ),
    require_approval: orNull(z.enum(['always', 'never'])).describe(
      'Whether calls require approval if the request does not specify it. Default: `always`.',
    ),
  }),
);

/** Servers whose tools the gateway calls for models, and the limits. */
export const mcpSchema = inProgram(
  z.strictObject({
    servers: z
      .record(z.string().regex(/^[\w.-]+$/, TEXTS.nameCharacters), server)
      .prefault({})
      .describe('Servers by the label that requests use (`server_label`).'),
    native: z
      .enum(['prefer', 'never'])
      .default('prefer')
      .describe('Whether upstreams with their own MCP support may use it.'),
    on_unlisted: z
      .enum(['fail', 'continue'])
      .default('fail')
      .describe(
        'A server that cannot list its tools: `fail` refuses the request with 424 before a model is asked; `continue` responds without its tools.',
      ),
    from_requests: z
      .boolean()
      .default(true)
      .describe('Whether requests may specify their own servers (`server_url`).'),
    allow: z
      .array(z.string().min(1))
      .default([])
      .describe('`host` or `host:port` of servers that requests may specify. Empty: all public ones.'),
    max_result_kb: z
      .number()
      .int()
      .min(1)
      .max(16_384)
      .default(256)
      .describe('Maximum text of one result in kB (1 kB = 1,024 bytes). Longer results are truncated.'),
    timeout_ms: milliseconds(60_000).describe(
      'Timeout of a call, counted from the last progress notification. The whole call may take five times as long.',
    ),
    max_tools: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(500)
      .describe('Maximum tools of one server. A server with more is refused.'),
  }),
)
  .prefault({})
  .describe('MCP servers.');
