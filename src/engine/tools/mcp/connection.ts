// Connection to an MCP server through the official SDK: handshake over streamable HTTP or the older HTTP+SSE transport,
// requests and shutdown. The only file that imports the SDK. Loaded on first use, because that takes 0.1 s.
import {
  Client,
  InsufficientScopeError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestOptions,
  StandardSchemaV1,
  Transport,
} from '@modelcontextprotocol/client';
import { asObject, isJsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { McpErrors } from './mcp-error.ts';
import type { Breakage, WebFetch } from './web-fetch.ts';
import { errorText } from '../../../base/lib/errors.ts';

export interface ConnectionTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: WebFetch;
  readonly breakage: Breakage;
  readonly clock: Clock;
  readonly errors: McpErrors;
}

export interface Connection {
  /** True once it is unusable: dropped, or closed by the server. */
  readonly isClosed: boolean;
  /** False: the server declared that it has no tools. */
  readonly hasTools: boolean;
  /**
   * Sends a request and returns the raw result.
   * @param signal cancels it and notifies the server
   * @param progress called at each progress notification
   * @throws GatewayError with a code of McpErrorCode
   */
  request(method: string, params: JsonObject, signal: AbortSignal, progress: () => void): Promise<JsonObject>;
  /** Ends the session at the server. Never rejects. */
  end(): Promise<void>;
  /** Closes the connection; pending requests fail. Never rejects. */
  drop(): Promise<void>;
}

/** Maximum of `setTimeout`, so that the SDK's own timers never fire. Callers measure time. */
const NEVER_MS = 2_147_483_647;
/** Maximum concurrent responses to a server's own requests. */
const MOST_ANSWERS = 32;
/** MCP specification 2026-07-28, "Streamable HTTP", "Custom Headers from Tool Parameters". */
const HEADER_MISMATCH = -32_020;
/** Statuses of a refused `initialize` that do not indicate another transport. */
const NOT_ABOUT_TRANSPORT: ReadonlySet<number> = new Set([401, 403, 408, 429]);

/**
 * Connects. After a 4xx for the first message, tries the older transport (MCP specification 2025-11-25, "Transports",
 * "Backwards Compatibility"), or, if the server says so, the later version without sessions. Trying that first would
 * cost all other servers a round trip.
 * @param signal cancels the connection
 * @throws GatewayError with a code of McpErrorCode
 */
export async function connect(target: ConnectionTarget, signal: AbortSignal): Promise<Connection> {
  try {
    return await connectNewer(target, signal, 'legacy');
  } catch (error) {
    const first = toGatewayError(error, target.errors);
    if (supportsOnlyNewerVersions(error))
      return connectNewer(target, signal, 'auto').catch((again: unknown) => {
        throw toGatewayError(again, target.errors);
      });
    if (!mayBeOlder(error)) throw first;
    return connectOlder(target, signal, first);
  }
}

function connectNewer(
  target: ConnectionTarget,
  signal: AbortSignal,
  versions: 'legacy' | 'auto',
): Promise<Connection> {
  const transport = new StreamableTransport(target);
  return open(target, transport, signal, () => transport.terminateSession(), versions);
}

/** @param first error of the newer transport, reported if this one fails without a better reason */
async function connectOlder(
  target: ConnectionTarget,
  signal: AbortSignal,
  first: GatewayError,
): Promise<Connection> {
  // An event source keeps only the text of an error.
  let failure: unknown;
  const fetch: WebFetch = async (url, init) => {
    try {
      return await postsRejected(await target.fetch(url, init), init);
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  try {
    return await open(target, olderTransport(target, fetch), signal, async () => {});
  } catch (error) {
    if (!(error instanceof SseError)) throw toGatewayError(error, target.errors);
    if (GatewayError.is(failure)) throw toGatewayError(failure, target.errors);
    throw error.code === 401 || error.code === 403 ? toGatewayError(error, target.errors) : first;
  }
}

/** The older transport would turn the status into plain text. */
async function postsRejected(response: Response, init: RequestInit | undefined): Promise<Response> {
  const { status } = response;
  if (init?.method !== 'POST' || response.ok) return response;
  const text = await response.text();
  throw new SdkHttpError(SdkErrorCode.SendFailed, text, { status, text });
}

async function open(
  target: ConnectionTarget,
  transport: Transport,
  signal: AbortSignal,
  terminate: () => Promise<void>,
  versions: 'legacy' | 'auto' = 'legacy',
): Promise<Connection> {
  const { errors, breakage } = target;
  boundAnswers(transport, target);
  // No capabilities: requests for elicitation, sampling or roots get "method not found".
  const client = new Client(
    { name: 'dragoman', version: '1' },
    { capabilities: {}, versionNegotiation: { mode: versions } },
  );
  const drop = (): Promise<void> => transport.close().catch(() => {});
  const giveUp = (): void => void drop();
  // An event source would reconnect, to a session without this one's state.
  const onerror = (error: Error): void => {
    if (error instanceof SseError) giveUp();
  };
  Object.assign(client, { onerror });
  signal.addEventListener('abort', giveUp);
  try {
    await client.connect(transport, { signal, timeout: NEVER_MS });
  } catch (error) {
    await drop();
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
  return {
    get isClosed() {
      return client.transport === undefined;
    },
    hasTools: client.getServerCapabilities()?.tools !== undefined,
    async request(method, params, callSignal, progress) {
      const options: RequestOptions = { signal: callSignal, timeout: NEVER_MS, onprogress: progress };
      try {
        return await ask(client, method, params, options);
      } catch (error) {
        if (error instanceof SdkHttpError && error.status === 404 && hasSession(transport))
          throw errors.make('mcp_session_lost', 'lost its session');
        const cause = isClosed(error) ? breakage.last : undefined;
        throw toGatewayError(cause ?? error, errors);
      }
    },
    end: () => terminate().catch(() => {}),
    drop,
  };
}

/** Closes the connection to a server that sends requests faster than responses can be delivered. */
function boundAnswers(transport: Transport, { errors, breakage }: ConnectionTarget): void {
  const send: Transport['send'] = transport.send.bind(transport);
  let inFlight = 0;
  transport.send = async (message, options) => {
    if ('method' in message) return send(message, options);
    if (inFlight >= MOST_ANSWERS) {
      breakage.last = errors.make('mcp_too_large', `sent more than ${MOST_ANSWERS} requests at once`);
      return transport.close();
    }
    inFlight++;
    try {
      await send(message, options);
    } finally {
      inFlight--;
    }
  };
}

async function ask(
  client: Client,
  method: string,
  params: JsonObject,
  options: RequestOptions,
): Promise<JsonObject> {
  try {
    return await client.request({ method, params: { ...params } }, RAW, options);
  } catch (error) {
    const isMismatch = error instanceof ProtocolError && error.code === HEADER_MISMATCH;
    if (!isMismatch || method !== 'tools/call' || client.getProtocolEra() !== 'modern') throw error;
    // The server also wants some arguments as headers and has not run the call. The SDK's `callTool` adds them from the
    // tool list. It is strict about results, so other calls bypass it.
    const call = { name: String(params['name']), arguments: { ...asObject(params['arguments']) } };
    return asObject(await client.callTool(call, options));
  }
}

function hasSession(transport: Transport): boolean {
  return transport.sessionId !== undefined || transport instanceof SSEClientTransport;
}

function olderTransport({ url, headers }: ConnectionTarget, fetch: WebFetch): SSEClientTransport {
  return new SSEClientTransport(new URL(url), {
    fetch,
    requestInit: { headers },
  });
}

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/**
 * Adds two things to the SDK's transport: a stream that ends without its response fails the request, and the stream of
 * a cancelled request is closed.
 */
class StreamableTransport extends StreamableHTTPClientTransport {
  readonly #target: ConnectionTarget;
  /** By request id. */
  readonly #streams = new Map<unknown, AbortController>();

  constructor(target: ConnectionTarget) {
    const { url, headers, fetch, clock } = target;
    super(new URL(url), {
      fetch,
      requestInit: { headers },
      onInsufficientScope: 'throw',
      reconnectionScheduler: (reconnect, delayMs) => clock.after(delayMs, reconnect),
    });
    this.#target = target;
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    if (Array.isArray(message) || !('method' in message)) return super.send(message, options);
    if ('id' in message) return this.#request(message, options);
    await super.send(message, options);
    if (message.method === 'notifications/cancelled')
      this.#streams.get(message.params?.['requestId'])?.abort('cancelled');
  }

  #request(request: JSONRPCRequest, options: SendOptions): Promise<void> {
    const { id } = request;
    const stream = new AbortController();
    this.#streams.set(id, stream);
    return super.send(request, {
      ...options,
      requestSignal: options?.requestSignal ?? stream.signal,
      // Ignored once the response has arrived.
      onRequestStreamEnd: () => {
        const { breakage, errors } = this.#target;
        const data = breakage.last ?? errors.make('mcp_unavailable', 'ended its stream without a response');
        this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32_000, message: '', data } });
      },
    });
  }
}

/** Accepts any result, so that a content block of an unknown type does not lose the others. */
const RAW: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'dragoman',
    validate: (value) => (isJsonObject(value) ? { value } : { issues: [{ message: 'not an object' }] }),
  },
};

/** True for a server without any version that has `initialize` (MCP specification 2026-07-28, "Versioning"). */
function supportsOnlyNewerVersions(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  const body = asObject(parseJson(String(error.data.text)));
  return asObject(body['error'])['code'] === ProtocolErrorCode.UnsupportedProtocolVersion;
}

function isClosed(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed;
}

function mayBeOlder(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  return error.status >= 400 && error.status < 500 && !NOT_ABOUT_TRANSPORT.has(error.status);
}

function toGatewayError(error: unknown, errors: McpErrors): GatewayError {
  if (GatewayError.is(error)) return ofGuard(error, errors);
  if (error instanceof InsufficientScopeError) return ofStatus(403, '', errors);
  if (error instanceof SdkHttpError) return ofStatus(error.status, error.data.text, errors);
  if (error instanceof SseError && error.code !== undefined) return ofStatus(error.code, '', errors);
  if (error instanceof ProtocolError) {
    // Our own error: JSON cannot contain a GatewayError.
    if (GatewayError.is(error.data)) return ofGuard(error.data, errors);
    return errors.make(
      'mcp_protocol_error',
      `returned an error: ${errors.quote(error.message)} (${error.code})`,
    );
  }
  if (isClosed(error)) return errors.make('mcp_unavailable', 'closed the connection');
  const words = errors.quote(errorText(error));
  return errors.make('mcp_unavailable', `violated the MCP protocol: ${words}`);
}

/** Maps an error of the guarded fetch. Errors of the gateway itself are unchanged. */
function ofGuard(error: GatewayError, errors: McpErrors): GatewayError {
  const { code } = error;
  if (code === 'url_not_allowed') return errors.make('mcp_not_allowed', `cannot be used. ${error.message}`);
  if (code === 'url_too_large')
    return errors.make('mcp_too_large', `sent too large a response. ${error.message}`);
  if (code === 'url_not_fetched')
    return errors.make('mcp_unavailable', `cannot be reached. ${error.message}`);
  return error;
}

/** @param words body of the response */
function ofStatus(status: number, words: unknown, errors: McpErrors): GatewayError {
  if (status === 401 || status === 403)
    return errors.make('mcp_unauthorized', `refused the authorization (status ${status})`);
  const said = typeof words === 'string' && words !== '' ? `: ${errors.quote(words)}` : '';
  return errors.make('mcp_unavailable', `returned status ${status}${said}`);
}
