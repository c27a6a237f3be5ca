// Sessions with MCP servers, as the tool loop uses them: connected at the first use, bounded in time and bytes, begun
// again once where the server forgot them. Knows nothing of items, approvals or protocols.
import { asArray, asObject, asString, isJsonObject } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Secret } from '../../../base/telemetry/secret.ts';
import type { GuardedFetch } from '../../../upstream/fetch-guarded.ts';
import { namesHost } from '../../../upstream/guard.ts';
import { AccessTokens, withCredential } from './access-token.ts';
import type { OAuthClient } from './access-token.ts';
import type { Connection, ConnectionTarget } from './connection.ts';
import type { McpErrors } from './mcp-error.ts';
import { decodeResult } from './result.ts';
import type { McpResult } from './result.ts';
import { serverCredentials } from './server-credentials.ts';
import { webFetch } from './web-fetch.ts';
import type { Breakage, WebFetchLimits } from './web-fetch.ts';
import { within } from './within.ts';
import type { DurationMs } from '../../../base/units.ts';

export type { OAuthClient } from './access-token.ts';

export interface McpServer {
  readonly label: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret | string>>;
  /** From the request: a bare token is sent as `Bearer`, anything with a scheme as it is. */
  readonly authorization?: Secret;
  /** The operator configured it: its address may be private. */
  readonly trusted: boolean;
  /** The very object of the configuration: tokens are kept by it. Not used beside `authorization`. */
  readonly oauth?: OAuthClient;
}

export interface McpTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  /** `readOnlyHint` and the like, as the server sent them. */
  readonly annotations?: JsonObject;
}

/** Every failure is a GatewayError with a code of McpErrorCode, and a text that holds no secret. */
export interface McpSession {
  /** Every tool, all pages. */
  listTools(signal: AbortSignal): Promise<readonly McpTool[]>;
  /** A tool that fails is a result with `isError`; an error means that there is no result. */
  callTool(name: string, args: JsonObject, signal: AbortSignal): Promise<McpResult>;
  /** Ends the session; calls under way fail. Never rejects. */
  close(): Promise<void>;
}

export interface McpLimits {
  /** For one call, from the last sign of progress, but `MOST_TIMES` as much in all; and for a whole list. Milliseconds. */
  readonly timeoutMs: DurationMs;
  /** Most bytes of text in one result. */
  readonly maxResultBytes: number;
  /** Most tools that one server may list. */
  readonly maxTools: number;
  /** `host` or `host:port` that a request's own server may live on; empty: any that is public. */
  readonly hosts?: readonly string[];
}

export interface McpSessionsOptions {
  /** For servers that requests bring. */
  readonly fetch: GuardedFetch;
  /** For those of the operator: exempts their hosts (`operatorHosts`), and no others. */
  readonly trustedFetch: GuardedFetch;
  readonly clock: Clock;
  /** Asked for each session, since a reload may change them. */
  readonly limits: () => McpLimits;
}

/** For the connection and the handshake, both transports tried. */
const CONNECT_MS = 20_000;
/** For saying goodbye. */
const END_MS = 2_000;
/** For a single answer, images and all; also for a stream that stands open for the whole session. */
const ANSWER_LIMITS: WebFetchLimits = { maxBytes: 16 * 1_048_576, timeoutMs: 3_600_000 };
/** How often the time of a call may begin anew: a server that reports progress for ever never answers. */
const MOST_TIMES = 5;
const MAX_PAGES = 100;
/** For the tools of one server as JSON, in characters: a model reads all of it with every request. */
const MAX_LIST_CHARS = 1_048_576;

export class McpSessions {
  readonly #options: McpSessionsOptions;
  readonly #tokens: AccessTokens;

  constructor(options: McpSessionsOptions) {
    this.#options = options;
    this.#tokens = new AccessTokens(options.trustedFetch, options.clock);
  }

  /**
   * A session that connects when it is first used.
   * @throws GatewayError `mcp_invalid`: an address that is none, or a header that cannot be sent; `mcp_not_allowed`: a
   * host that the operator does not allow
   */
  open(server: McpServer): McpSession {
    const { fetch, trustedFetch, clock } = this.#options;
    const limits = this.#options.limits();
    const { headers, credential, errors } = serverCredentials(server, this.#tokens);
    if (!URL.canParse(server.url)) throw errors.make('mcp_invalid', 'has an address that is not a valid URL');
    const { hosts = [] } = limits;
    if (!server.trusted && hosts.length > 0 && !namesHost(hosts, new URL(server.url)))
      throw errors.make('mcp_not_allowed', 'cannot be used: its host is not among `tools.mcp.allow`');
    const breakage: Breakage = { last: undefined };
    const guarded = webFetch(server.trusted ? trustedFetch : fetch, ANSWER_LIMITS, breakage);
    const proven = credential ? withCredential(guarded, credential, clock.now) : guarded;
    return new Session({ url: server.url, headers, fetch: proven, breakage, clock, errors }, limits);
  }
}

class Session implements McpSession {
  readonly #target: ConnectionTarget;
  readonly #limits: McpLimits;
  #connection: Promise<Connection> | undefined;
  readonly #closed = new AbortController();

  constructor(target: ConnectionTarget, limits: McpLimits) {
    this.#target = target;
    this.#limits = limits;
  }

  listTools(signal: AbortSignal): Promise<readonly McpTool[]> {
    return this.#use(signal, (connection, inner, alive) => this.#listAll(connection, inner, alive));
  }

  callTool(name: string, args: JsonObject, signal: AbortSignal): Promise<McpResult> {
    return this.#use(signal, async (connection, inner, alive) => {
      const raw = await connection.request('tools/call', { name, arguments: args }, inner, alive);
      return decodeResult(raw, this.#limits.maxResultBytes);
    });
  }

  async close(): Promise<void> {
    const connecting = this.#connection;
    this.#closed.abort('the session was closed');
    const connection = await connecting?.catch(() => undefined);
    if (!connection) return;
    const { clock, errors } = this.#target;
    await within({ clock, ms: END_MS, errors }, () => connection.end()).catch(() => {});
    await connection.drop();
  }

  async #listAll(
    connection: Connection,
    signal: AbortSignal,
    alive: () => void,
  ): Promise<readonly McpTool[]> {
    const { errors } = this.#target;
    const tools: McpTool[] = [];
    if (!connection.hasTools) return tools;
    let cursor: string | undefined;
    let chars = 0;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const raw = await connection.request('tools/list', params, signal, alive);
      for (const entry of asArray(raw['tools'])) {
        const tool = decodeTool(asObject(entry), errors);
        chars += JSON.stringify(tool).length;
        if (chars > MAX_LIST_CHARS) throw errors.make('mcp_too_large', 'lists tools of more than 1 MiB');
        tools.push(tool);
      }
      if (tools.length > this.#limits.maxTools)
        throw errors.make('mcp_too_large', `lists more than ${this.#limits.maxTools} tools`);
      cursor = asString(raw['nextCursor']);
      if (cursor === undefined || cursor === '') return tools;
    }
    throw errors.make('mcp_too_large', `lists its tools on more than ${MAX_PAGES} pages`);
  }

  /** Runs something on the connection; a second time, on a new one, where the server has forgotten the session. */
  async #use<T>(
    signal: AbortSignal,
    work: (connection: Connection, signal: AbortSignal, alive: () => void) => Promise<T>,
  ): Promise<T> {
    const { clock, errors } = this.#target;
    const cancels = AbortSignal.any([signal, this.#closed.signal]);
    for (let isSecond = false; ; isSecond = true) {
      const connection = await within({ clock, errors, signal: cancels }, () => this.#connected());
      const { timeoutMs: ms } = this.#limits;
      const limit = { clock, errors, signal: cancels, ms, mostMs: MOST_TIMES * ms };
      try {
        return await within(limit, (inner, alive) => work(connection, inner, alive));
      } catch (error) {
        if (isSecond || !GatewayError.is(error) || error.code !== 'mcp_session_lost') throw error;
        await connection.drop();
      }
    }
  }

  /** The connection; a new one if there is none, or it was closed. */
  async #connected(): Promise<Connection> {
    const kept = this.#connection;
    if ((await kept)?.isClosed) this.#forget(kept);
    if (this.#connection) return this.#connection;
    const connecting = this.#connect();
    this.#connection = connecting;
    // The next use tries again.
    connecting.catch(() => this.#forget(connecting));
    return connecting;
  }

  #connect(): Promise<Connection> {
    const { clock, errors } = this.#target;
    return within({ clock, errors, signal: this.#closed.signal, ms: CONNECT_MS }, async (signal) => {
      const { connect } = await import('./connection.ts');
      return connect(this.#target, signal);
    });
  }

  #forget(connecting: Promise<Connection> | undefined): void {
    if (this.#connection === connecting) this.#connection = undefined;
  }
}

function decodeTool(raw: JsonObject, errors: McpErrors): McpTool {
  const name = asString(raw['name']);
  if (name === undefined || name === '') throw errors.make('mcp_unavailable', 'lists a tool without a name');
  const description = asString(raw['description']);
  const { inputSchema, annotations } = raw;
  return {
    name,
    ...(description !== undefined && { description }),
    inputSchema: isJsonObject(inputSchema) ? inputSchema : ANYTHING,
    ...(isJsonObject(annotations) && { annotations }),
  };
}

const ANYTHING: JsonObject = { type: 'object' };
