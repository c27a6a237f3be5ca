// A gateway with everything that its own tools need: a web on the loopback interface that is searched and read, an MCP
// server, and models that call them: simulated ones, and a scripted upstream. Knows no protocol.
import type { Clock } from '../../../src/base/runtime/clock.ts';
import { startResponses, type ResponsesScene } from '../responses-scene.ts';
import { stream, whole } from './answers.ts';
import { startMcpServer, type McpServerScript, type RunningMcpServer } from './mcp-server.ts';
import type { Answer } from './scripted-upstream.ts';
import { searxngAnswer, type Hit } from './search-stub.ts';

/** Simulated models, one for each protocol that they speak, and the scripted one that speaks Gemini's. */
export const SIMULATED = ['sim/chat', 'sim/responses', 'sim/messages', 'sim/gemini'] as const;
/** Each of them, streamed and whole. */
export const SIMULATED_BOTH = SIMULATED.flatMap((model) =>
  [false, true].map((stream) => [model, stream] as const),
);

/** One search as it arrived at the engine. */
export interface ArrivedSearch {
  readonly query: string;
  /** Settles when whoever asked has gone away. */
  readonly gone: Promise<void>;
}

export interface Web {
  readonly origin: string;
  readonly searches: readonly ArrivedSearch[];
  /** Paths of pages that were read. */
  readonly reads: readonly string[];
  /** Answers the next searches with these, in order, before the usual: results for every query. */
  next(...answers: readonly SearchAnswer[]): void;
  /** Settles when so many searches have arrived since `clear`. */
  searched(times: number): Promise<void>;
  clear(): void;
  stop(): Promise<void>;
}

type SearchAnswer = (query: string) => Response | Promise<Response>;

/** Nothing ever comes. */
export const NO_ANSWER: SearchAnswer = () => new Promise(() => {});

/** Pages of the web, by path. */
const PAGES: Readonly<Record<string, string>> = {
  '/ounas':
    '<html><head><title>The Ounas</title></head><body><h1>The Ounas</h1><p>It is 299 km long.</p><p>Salmon live there.</p></body></html>',
  '/tenojoki':
    '<html><head><title>Tenojoki</title></head><body><p>The Tenojoki is a border river.</p></body></html>',
};

/** Starts the web. Every search finds both pages, the first of them first. */
export function startWeb(): Web {
  const searches: ArrivedSearch[] = [];
  const reads: string[] = [];
  const planned: SearchAnswer[] = [];
  const waiting = new Set<() => void>();
  const socket = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request): Response | Promise<Response> {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === '/search') {
        const query = searchParams.get('q') ?? '';
        const gone = new Promise<void>((resolve) =>
          request.signal.addEventListener('abort', () => resolve()),
        );
        searches.push({ query, gone });
        for (const look of waiting) look();
        return planned.shift()?.(query) ?? found(hitsAt(`http://${request.headers.get('host')}`));
      }
      reads.push(pathname);
      const page = PAGES[pathname];
      if (page === undefined) return new Response('no such page', { status: 404 });
      return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
    },
  });
  const origin = `http://127.0.0.1:${socket.port}`;
  return {
    origin,
    searches,
    reads,
    next: (...answers) => void planned.push(...answers),
    searched: (times) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (searches.length < times) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    clear() {
      searches.length = 0;
      reads.length = 0;
      planned.length = 0;
    },
    stop: () => socket.stop(true),
  };
}

/** Hits of a search. */
export function hitsAt(origin: string): readonly Hit[] {
  return [
    { url: `${origin}/ounas`, title: 'The Ounas', text: 'The Ounas is 299 km long.', date: null },
    { url: `${origin}/tenojoki`, title: 'Tenojoki', text: 'A border river.', date: null },
  ];
}

/** An answer of the engine. */
export function found(hits: readonly Hit[]): Response {
  return Response.json(searxngAnswer(hits));
}

export interface ToolScene extends ResponsesScene {
  readonly web: Web;
  readonly mcp: RunningMcpServer;
}

export interface ToolSceneOptions {
  readonly clock?: Clock;
  readonly dataDir?: string;
  /** Tools of the MCP server; default: `add`, `echo`, `fail`. */
  readonly tools?: McpServerScript['tools'];
  /** More of the MCP server than its tools. */
  readonly server?: Partial<McpServerScript>;
  /** More of `tools.web_search`. */
  readonly search?: object;
  /** More of `tools.mcp`; given the address of the server. */
  readonly mcp?: (url: string) => object;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly models?: readonly object[];
}

/** Tools that any test may call. */
export const MCP_TOOLS: McpServerScript['tools'] = {
  add: {
    description: 'Adds two numbers',
    inputSchema: { properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    annotations: { readOnlyHint: true },
    run: ({ a, b }) => `the sum is ${Number(a) + Number(b)}`,
  },
  echo: { description: 'Says it again', run: ({ text }) => String(text) },
  fail: { run: () => ({ content: [{ type: 'text', text: 'out of paper' }], isError: true }) },
};

/** Starts everything. The MCP server is not configured: requests bring it by its address. */
export async function startToolScene(options: ToolSceneOptions = {}): Promise<ToolScene> {
  const { tools = MCP_TOOLS, server, search, mcp: mcpConfig, config, models = [], ...rest } = options;
  const web = startWeb();
  const mcp = startMcpServer({ tools, ...server });
  const hosts = [web.origin, mcp.url].map((url) => new URL(url).host);
  const scene = await startResponses({
    ...rest,
    models: [
      {
        id: 'to/gemini',
        endpoints: [{ provider: 'up', model: 'm', protocol: 'gemini', price: { input: 1, output: 4 } }],
      },
      ...models,
    ],
    config: {
      fetch: { allow: hosts },
      ...config,
      tools: {
        web_search: { backend: 'searxng', url: web.origin, price_usd_per_search: 0.01, ...search },
        mcp: { ...mcpConfig?.(mcp.url) },
      },
    },
  });
  return {
    ...scene,
    web,
    mcp,
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      await web.stop();
      await mcp.stop();
    },
  };
}

/** One turn of a model behind Gemini's API, whole or streamed as it was asked for. */
export function geminiSays(parts: readonly object[]): Answer {
  const body = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
    modelVersion: 'm',
    responseId: 'r',
  };
  return (exchange) => {
    const isStream = exchange.request.path.includes('streamGenerateContent');
    (isStream ? stream(`data: ${JSON.stringify(body)}\n\n`) : whole(body))(exchange);
  };
}

/** The MCP server as a request brings it. */
export function serverAt(url: string, members: object = {}): object {
  return { type: 'mcp', server_label: 'sums', server_url: url, require_approval: 'never', ...members };
}
