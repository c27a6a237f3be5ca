// One connection to an MCP server through the official SDK: the handshake over streamable HTTP or the older HTTP+SSE
// transport, requests, the end. The only file that knows the SDK, and loaded at the first use, since the SDK takes a
// tenth of a second to load. Knows no time limits and no results.
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

export interface ConnectionTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: WebFetch;
  readonly breakage: Breakage;
  readonly clock: Clock;
  readonly errors: McpErrors;
}

export interface Connection {
  /** True once it can carry no more: dropped, or closed by the server where that ends it. */
  readonly isClosed: boolean;
  /** False: the server said that it has no tools. */
  readonly hasTools: boolean;
  /**
   * Sends a request and gives its result as it came.
   * @param signal cancels it, which the server is told
   * @param progress called whenever the server says that work goes on
   * @throws GatewayError with one of the codes of McpErrorCode
   */
  request(method: string, params: JsonObject, signal: AbortSignal, progress: () => void): Promise<JsonObject>;
  /** Tells the server that the session is over. Never rejects. */
  end(): Promise<void>;
  /** Closes what is open; what is under way fails. Never rejects. */
  drop(): Promise<void>;
}

/** The SDK's own timers never fire: time is measured by whoever calls. The longest that `setTimeout` takes. */
const NEVER_MS = 2_147_483_647;
/** Answers to questions of a server that may be under way: each is a request of its own. */
const MOST_ANSWERS = 32;
/** MCP specification 2026-07-28, "Streamable HTTP", "Custom Headers from Tool Parameters". */
const HEADER_MISMATCH = -32_020;
/** Statuses of a refused `initialize` that say nothing about the transport. */
const NOT_ABOUT_TRANSPORT: ReadonlySet<number> = new Set([401, 403, 408, 429]);

/**
 * Connects. A server that refuses the first message with a 4xx is asked for the older transport (MCP specification
 * 2025-11-25, "Transports", "Backwards Compatibility"), or, where it says so, for the later version without sessions:
 * asking for that one first would cost all others a round trip.
 * @param signal gives up
 * @throws GatewayError with one of the codes of McpErrorCode
 */
export async function connect(target: ConnectionTarget, signal: AbortSignal): Promise<Connection> {
  try {
    return await connectNewer(target, signal, 'legacy');
  } catch (error) {
    const first = toGatewayError(error, target.errors);
    if (isLaterOnly(error))
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

/** @param first what came of the newer transport: shown where this one fails for no better reason */
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

/** The older transport would make a plain text of the status. */
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
  // No capabilities: a server that asks for elicitation, sampling or roots hears that there is no such method.
  const client = new Client(
    { name: 'dragoman', version: '1' },
    { capabilities: {}, versionNegotiation: { mode: versions } },
  );
  const drop = (): Promise<void> => transport.close().catch(() => {});
  const giveUp = (): void => void drop();
  // An event source would connect again, to a session that knows nothing of this one.
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

/** Ends the connection of a server that asks faster than it lets itself be answered. */
function boundAnswers(transport: Transport, { errors, breakage }: ConnectionTarget): void {
  const send: Transport['send'] = transport.send.bind(transport);
  let underWay = 0;
  transport.send = async (message, options) => {
    if ('method' in message) return send(message, options);
    if (underWay >= MOST_ANSWERS) {
      breakage.last = errors.make('mcp_too_large', `asks more than ${MOST_ANSWERS} questions at once`);
      return transport.close();
    }
    underWay++;
    try {
      await send(message, options);
    } finally {
      underWay--;
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
    // The server wants some arguments as headers too, and has run nothing yet. The SDK knows how, from the list of
    // tools, which it asks for; it is strict about results, so all other calls go without it.
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
 * Two things that the SDK leaves: a stream that ends without its answer fails the request, which would wait on; and
 * the stream of a cancelled one is closed, which would stand open as long as the server likes.
 */
class StreamableTransport extends StreamableHTTPClientTransport {
  readonly #target: ConnectionTarget;
  /** By the id of the request. */
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
      // After an answer nobody waits for this one.
      onRequestStreamEnd: () => {
        const { breakage, errors } = this.#target;
        const data = breakage.last ?? errors.make('mcp_unavailable', 'ended its stream without an answer');
        this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32_000, message: '', data } });
      },
    });
  }
}

/** Takes any result: one content block of an unknown type must not cost the others. */
const RAW: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'dragoman',
    validate: (value) => (isJsonObject(value) ? { value } : { issues: [{ message: 'not an object' }] }),
  },
};

/** True for a server that knows no version with an `initialize` (MCP specification 2026-07-28, "Versioning"). */
function isLaterOnly(error: unknown): boolean {
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
    // Ours: JSON can hold no such thing.
    if (GatewayError.is(error.data)) return ofGuard(error.data, errors);
    return errors.make('mcp_protocol_error', `says: ${errors.quote(error.message)} (${error.code})`);
  }
  if (isClosed(error)) return errors.make('mcp_unavailable', 'closed the connection');
  const words = errors.quote(error instanceof Error ? error.message : String(error));
  return errors.make('mcp_unavailable', `does not speak MCP as it should: ${words}`);
}

/** Maps an error of the guarded fetch; the gateway's own errors stay as they are. */
function ofGuard(error: GatewayError, errors: McpErrors): GatewayError {
  const { code } = error;
  if (code === 'url_not_allowed') return errors.make('mcp_not_allowed', `cannot be used: ${error.message}`);
  if (code === 'url_too_large') return errors.make('mcp_too_large', `answers too much: ${error.message}`);
  if (code === 'url_not_fetched')
    return errors.make('mcp_unavailable', `cannot be reached: ${error.message}`);
  return error;
}

/** @param words body of the answer */
function ofStatus(status: number, words: unknown, errors: McpErrors): GatewayError {
  if (status === 401 || status === 403)
    return errors.make('mcp_unauthorized', `refused the authorization (status ${status})`);
  const said = typeof words === 'string' && words !== '' ? `: ${errors.quote(words)}` : '';
  return errors.make('mcp_unavailable', `answered with status ${status}${said}`);
}
