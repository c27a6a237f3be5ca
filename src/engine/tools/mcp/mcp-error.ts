// Errors of MCP servers as GatewayErrors, whose messages name the server's label and never contain secrets.
import { GatewayError } from '../../../canonical/index.ts';
import type { ErrorKind } from '../../../canonical/index.ts';

/** The `code` of every error that comes from a session. */
export type McpErrorCode =
  /** The server's address is not allowed. */
  | 'mcp_not_allowed'
  /** The server refused the credentials (401, 403). */
  | 'mcp_unauthorized'
  /** Unreachable, interrupted, or not an MCP response. */
  | 'mcp_unavailable'
  /** A JSON-RPC error: an unknown tool, or invalid arguments. */
  | 'mcp_protocol_error'
  | 'mcp_timeout'
  /** Too many bytes or tools. */
  | 'mcp_too_large'
  | 'mcp_cancelled'
  /** The server no longer knows the session (404). The session reconnects once by itself. */
  | 'mcp_session_lost'
  /** A header or credential that cannot be sent. */
  | 'mcp_invalid';

const KINDS: Readonly<Record<McpErrorCode, ErrorKind>> = {
  mcp_not_allowed: 'invalid_request',
  mcp_unauthorized: 'invalid_request',
  mcp_unavailable: 'upstream_unavailable',
  mcp_protocol_error: 'upstream_unavailable',
  mcp_timeout: 'timeout',
  mcp_too_large: 'upstream_unavailable',
  mcp_cancelled: 'cancelled',
  mcp_session_lost: 'upstream_unavailable',
  mcp_invalid: 'invalid_request',
};

/** Maximum characters quoted from a server. */
const MAX_WORDS = 300;

/** Creates the errors of one server. */
export interface McpErrors {
  /** @param reason continues a sentence that begins with the server's name */
  make(code: McpErrorCode, reason: string): GatewayError;
  /** Quotes a server's text: short, on one line, without secrets. */
  quote(words: string): string;
}

/** @param label of the server in the request or configuration @param redact masks the server's secrets */
export function mcpErrors(label: string, redact: (text: string) => string): McpErrors {
  const quote = (words: string): string => {
    // Masked before truncation, because half a secret would not be recognised.
    const line = redact(words).replace(/\s+/g, ' ').trim();
    return line.length > MAX_WORDS ? `${line.slice(0, MAX_WORDS)}…` : line;
  };
  return {
    make: (code, reason) => new GatewayError(KINDS[code], `MCP server "${quote(label)}" ${reason}`, { code }),
    quote,
  };
}
