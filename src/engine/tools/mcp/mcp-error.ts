// Errors of MCP servers, each as one GatewayError whose text names the server's label and never a secret. Knows no
// SDK: the connection reads what the SDK throws.
import { GatewayError } from '../../../canonical/index.ts';
import type { ErrorKind } from '../../../canonical/index.ts';

/** The `code` of every error that comes from a session. */
export type McpErrorCode =
  /** The server's address may not be used. */
  | 'mcp_not_allowed'
  /** The server wants other credentials than it got (401, 403). */
  | 'mcp_unauthorized'
  /** It could not be reached, broke off, or answered what is not MCP. */
  | 'mcp_unavailable'
  /** It answered the call with a JSON-RPC error: an unknown tool, arguments that do not fit. */
  | 'mcp_protocol_error'
  | 'mcp_timeout'
  /** More bytes, or more tools, than are taken. */
  | 'mcp_too_large'
  | 'mcp_cancelled'
  /** It no longer knows the session (404): the session begins a new one by itself, once. */
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

/** Most characters of a server's own words in a message. */
const MAX_WORDS = 300;

/** Makes the errors of one server. */
export interface McpErrors {
  /** @param reason continues a sentence that begins with the server's name */
  make(code: McpErrorCode, reason: string): GatewayError;
  /** A server's own words, fit to be quoted: short, on one line, without secrets. */
  quote(words: string): string;
}

/**
 * @param label as the request or the configuration names the server
 * @param redact masks the server's secrets
 */
export function mcpErrors(label: string, redact: (text: string) => string): McpErrors {
  const quote = (words: string): string => {
    // Masked before it is cut: half a secret would not be recognised.
    const line = redact(words).replace(/\s+/g, ' ').trim();
    return line.length > MAX_WORDS ? `${line.slice(0, MAX_WORDS)}…` : line;
  };
  return {
    make: (code, reason) => new GatewayError(KINDS[code], `MCP server "${quote(label)}" ${reason}`, { code }),
    quote,
  };
}
