// Sessions with MCP servers: connected on first use, limited in time and bytes, and reconnected once when the server
// has lost the session.
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
  /** From the request: a bare token is sent as `Bearer`, a value with a scheme unchanged. */
  readonly authorization?: Secret;
  /** True: configured by the operator, so its address may be private. */
  readonly trusted: boolean;
  /** The configuration object itself, by which tokens are cached. Ignored if `authorization` is set. */
  readonly oauth?: OAuthClient;
}

export interface McpTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  /** `readOnlyHint` and similar, as the server sent them. */
  readonly annotations?: JsonObject;
}

/** Every failure is a GatewayError with a code of McpErrorCode and a message without secrets. */
export interface McpSession {
  /** All tools, from all pages. */
  listTools(signal: AbortSignal): Promise<readonly McpTool[]>;
  /** A failed tool is a result with `isError`. An error means that there is no result. */
  callTool(name: string, args: JsonObject, signal: AbortSignal): Promise<McpResult>;
  /** Ends the session; pending calls fail. Never rejects. */
  close(): Promise<void>;
}

export interface McpLimits {
  /** Timeout of one call since the last progress, `MOST_TIMES` as much in total; also of a whole list. Milliseconds. */
  readonly timeoutMs: DurationMs;
  /** Maximum bytes of text in one result. */
  readonly maxResultBytes: number;
  /** Maximum tools that one server may list. */
  readonly maxTools: number;
  /** `host` or `host:port` allowed for servers of requests. Empty: all public hosts. */
  readonly hosts?: readonly string[];
}

export interface McpSessionsOptions {
  /** Used for servers of requests. */
  readonly fetch: GuardedFetch;
  /** Used for the operator's servers: exempts only their hosts (`operatorHosts`). */
  readonly trustedFetch: GuardedFetch;
  readonly clock: Clock;
  /** Read for each session, because a reload may change them. */
  readonly limits: () => McpLimits;
}

/** Timeout for connecting, including both transports. */
const CONNECT_MS = 20_000;
/** Timeout for ending the session. */
const END_MS = 2_000;
/** Limits of one response including images; also of a stream that stays open for the whole session. */
const ANSWER_LIMITS: WebFetchLimits = { maxBytes: 16 * 1_048_576, timeoutMs: 3_600_000 };
/** Maximum extensions of a call's timeout, because a server could report progress forever. */
const MOST_TIMES = 5;
const MAX_PAGES = 100;
/** Maximum characters of one server's tools as JSON, because they are part of every prompt. */
const MAX_LIST_CHARS = 1_048_576;

export class McpSessions {
  readonly #options: McpSessionsOptions;
  readonly #tokens: AccessTokens;

  constructor(options: McpSessionsOptions) {
    this.#options = options;
    this.#tokens = new AccessTokens(options.trustedFetch, options.clock);
  }

  /**
   * Opens a session, which connects on first use.
   * @throws GatewayError `mcp_invalid` for an invalid address or header; `mcp_not_allowed` for a host that the operator
   * does not allow
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

  /** Runs work on the connection, and once more on a new one if the server has lost the session. */
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

  /** The connection. Reconnects if there is none, or it was closed. */
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
