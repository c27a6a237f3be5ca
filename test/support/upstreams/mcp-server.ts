// A real MCP server on a real socket: the protocol side of the official SDK, over streamable HTTP or over the older
// HTTP+SSE transport, with tools that do what a test says. Knows nothing of the gateway.
import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  Server,
  WebStandardStreamableHTTPServerTransport,
  type EventStore,
  type JSONRPCMessage,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { SseServerTransport } from './mcp-server-sse.ts';

/** Actions of a running tool besides answering. */
export interface ToolRun {
  /** Aborted when the client cancels the call, or goes away. */
  readonly signal: AbortSignal;
  /** Tells the client that work goes on; nothing is sent where the client asked for no progress. */
  progress(done: number): Promise<void>;
  /** Sends the client a request of its own and gives the answer, as elicitation and sampling do. */
  ask(method: string, params: Record<string, unknown>): Promise<unknown>;
  /** Closes the stream of the call; the client is to ask for the rest after `RETRY_MS`. */
  hangUp(): void;
  /** Closes every connection and the server's socket, in the middle of whatever happens. */
  die(): void;
}

export interface ScriptedTool {
  readonly description?: string;
  /** Default: an object that may hold anything. */
  readonly inputSchema?: Record<string, unknown>;
  readonly annotations?: Record<string, unknown>;
  /** Gives a `tools/call` result, or a text that becomes one. What it throws becomes a JSON-RPC error. */
  run(args: Record<string, unknown>, run: ToolRun): unknown;
}

export interface McpServerScript {
  /** A server with none does not say that it has any. */
  readonly tools: Readonly<Record<string, ScriptedTool>>;
  /**
   * `http` answers with event streams, `json` with single bodies, `sse` speaks only the older transport; without
   * sessions, `stateless` speaks the versions that have an `initialize`, `later` only those that have none.
   */
  readonly transport?: 'http' | 'json' | 'sse' | 'stateless' | 'later';
  /** Streams can be resumed. */
  readonly resumable?: boolean;
  /** Gives a page of `tools/list` instead of the server. */
  readonly list?: (cursor: string | undefined) => unknown;
  /** Tools in one page of `tools/list`; default: all of them. */
  readonly pageSize?: number;
  /** True for requests that are served, by their `authorization` header. Others get a 401. Default: all are. */
  readonly authorize?: (authorization: string | null) => boolean;
  /** Answers a request instead of the MCP server; undefined leaves it to that. */
  readonly intercept?: (request: Request) => Response | undefined | Promise<Response | undefined>;
}

/** One `tools/call` as it arrived. */
export interface ArrivedCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** One HTTP request as it arrived. */
export interface ArrivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
}

export interface RunningMcpServer {
  /** Address of the MCP endpoint. */
  readonly url: string;
  /** Every `tools/call`, in order of arrival. */
  readonly calls: readonly ArrivedCall[];
  /** Every HTTP request, in order of arrival. */
  readonly requests: readonly ArrivedRequest[];
  /** How many sessions are open. */
  readonly sessions: number;
  /** Settles when a tool of this name has been called so many times. */
  called(name: string, times?: number): Promise<void>;
  /** Settles when no session is open: over the older transport the server learns of an end a little later. */
  ended(): Promise<void>;
  /** Closes every session, and its streams with it. */
  hangUp(): Promise<void>;
  /** Forgets every session, as a server does that was restarted: their requests get a 404. */
  forget(): void;
  stop(): Promise<void>;
}

/** How soon a client asks again for a stream that can be resumed. */
export const RETRY_MS = 3456;

/** The events of a session, for those who come back. */
class Events implements EventStore {
  readonly #all: { readonly stream: string; readonly message: JSONRPCMessage }[] = [];

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    return String(this.#all.push({ stream, message }));
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#all[Number(id) - 1]?.stream;
  }

  async replayEventsAfter(
    id: string,
    { send }: Parameters<EventStore['replayEventsAfter']>[1],
  ): Promise<string> {
    const stream = this.#all[Number(id) - 1]?.stream ?? '';
    for (const [at, event] of this.#all.entries())
      if (at >= Number(id) && event.stream === stream) await send(String(at + 1), event.message);
    return stream;
  }
}

/** The SDK's server, except that it sends results as the test wrote them, valid or not. */
class UncheckedServer extends Server {
  protected override _wrapHandler(
    _method: string,
    handler: Parameters<Server['_wrapHandler']>[1],
  ): ReturnType<Server['_wrapHandler']> {
    return handler;
  }
}

interface Session {
  /** Answers a request of this session. */
  readonly handle: (request: Request) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** Starts a server on a free port of the loopback interface. */
export function startMcpServer(script: McpServerScript): RunningMcpServer {
  const sessions = new Map<string, Session>();
  const calls: ArrivedCall[] = [];
  const requests: ArrivedRequest[] = [];
  const waiting = new Set<() => void>();
  const closing = new Set<() => void>();
  const remove = (id: string): void => {
    sessions.delete(id);
    for (const look of closing) look();
  };

  const sessionless = createMcpHandler(newServer, {
    legacy: script.transport === 'stateless' ? 'stateless' : 'reject',
  });
  const socket = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request) => serve(request),
  });

  async function serve(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    requests.push({ method: request.method, path: pathname, headers: request.headers });
    const instead = await script.intercept?.(request);
    if (instead) return instead;
    if (script.authorize && !script.authorize(request.headers.get('authorization')))
      return new Response('who are you?', { status: 401, headers: { 'www-authenticate': 'Bearer' } });
    if (script.transport === 'sse') return serveSse(request, pathname, searchParams.get('session'));
    if (pathname !== '/mcp') return new Response('no such path', { status: 404 });
    if (script.transport === 'stateless' || script.transport === 'later') return sessionless.fetch(request);
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? await openSession() : sessions.get(id);
    return session ? session.handle(request) : new Response('no such session', { status: 404 });
  }

  async function openSession(): Promise<Session> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: script.transport === 'json',
      ...(script.resumable === true && { eventStore: new Events(), retryInterval: RETRY_MS }),
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: remove,
    });
    const session = {
      handle: (request: Request) => transport.handleRequest(request),
      close: () => transport.close(),
    };
    await connect(transport);
    return session;
  }

  async function serveSse(request: Request, path: string, id: string | null): Promise<Response> {
    if (path === '/messages' && request.method === 'POST') {
      const session = sessions.get(id ?? '');
      return session ? session.handle(request) : new Response('no such session', { status: 404 });
    }
    if (path !== '/mcp') return new Response('no such path', { status: 404 });
    if (request.method !== 'GET') return new Response('only GET', { status: 405 });
    const session = randomUUID();
    const transport = new SseServerTransport(`/messages?session=${session}`, () => remove(session));
    sessions.set(session, {
      handle: (message) => transport.receive(message),
      close: () => transport.close(),
    });
    const stream = transport.open();
    await connect(transport);
    return stream;
  }

  async function connect(transport: Transport): Promise<void> {
    await newServer().connect(transport);
  }

  function newServer(): Server {
    const hasTools = Object.keys(script.tools).length > 0;
    const capabilities = hasTools ? { tools: {} } : {};
    const server = new UncheckedServer({ name: 'scripted', version: '1.0.0' }, { capabilities });
    if (hasTools) serveTools(server);
    return server;
  }

  function serveTools(server: Server): void {
    server.setRequestHandler('tools/list', ({ params }) => {
      if (script.list) return script.list(params?.cursor) as { tools: [] };
      const from = Number(params?.cursor ?? 0);
      const all = Object.entries(script.tools).map(([name, tool]) => ({
        name,
        inputSchema: { type: 'object' as const, ...tool.inputSchema },
        ...(tool.description !== undefined && { description: tool.description }),
        ...(tool.annotations && { annotations: tool.annotations }),
      }));
      const to = from + (script.pageSize ?? all.length);
      return { tools: all.slice(from, to), ...(to < all.length && { nextCursor: String(to) }) };
    });
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const { name, arguments: args = {} } = params;
      calls.push({ name, args });
      for (const look of waiting) look();
      const tool = script.tools[name];
      if (!tool) throw new Error(`no tool is called ${name}`);
      const result = await tool.run(args, runOf(context));
      return (typeof result === 'string' ? { content: [{ type: 'text', text: result }] } : result) as {
        content: [];
      };
    });
  }

  function runOf(context: ServerContext): ToolRun {
    const { mcpReq } = context;
    return {
      signal: mcpReq.signal,
      async progress(done) {
        const progressToken = mcpReq._meta?.['progressToken'] as string | number | undefined;
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress: done },
          });
      },
      hangUp: () => context.http?.closeSSE?.(),
      ask: (method, params) => mcpReq.send({ method, params }, ANYTHING),
      die: () => void socket.stop(true),
    };
  }

  const hangUp = async (): Promise<void> => {
    await Promise.all([...sessions.values()].map((session) => session.close()));
    sessions.clear();
  };
  const times = (name: string): number => calls.filter((call) => call.name === name).length;
  return {
    url: `http://127.0.0.1:${socket.port}/mcp`,
    calls,
    requests,
    get sessions() {
      return sessions.size;
    },
    called: (name, wanted = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (times(name) < wanted) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async ended() {
      while (sessions.size > 0) await new Promise<void>((resolve) => closing.add(resolve));
    },
    forget: () => sessions.clear(),
    hangUp,
    async stop() {
      await hangUp();
      await socket.stop(true);
    },
  };
}

/** Accepts any result of a request that a tool sends to the client. */
const ANYTHING = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;
