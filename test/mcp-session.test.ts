// Sessions with MCP servers, against the official SDK's server on real sockets: what comes back, what is refused, and
// what happens when a server is slow, forgetful, greedy or gone.
import { afterEach, describe, expect, test } from 'bun:test';
import { systemClock, type Clock } from '../src/runtime/clock.ts';
import { operatorHosts } from '../src/tools/mcp/operator-hosts.ts';
import { McpSessions } from '../src/tools/mcp/session.ts';
import type { McpLimits, McpServer, McpSession } from '../src/tools/mcp/session.ts';
import { UpstreamClient } from '../src/upstream/client.ts';
import { GuardedFetch } from '../src/upstream/fetch-guarded.ts';
import { startMcpServer, type McpServerScript, type RunningMcpServer } from './upstreams/mcp-server.ts';

const LIMITS: McpLimits = { timeoutMs: 60_000, maxResultBytes: 256 * 1024, maxTools: 500, hosts: [] };
const PATIENT = new AbortController().signal;

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const thing of running.splice(0).toReversed()) await thing.stop();
});

function serve(script: McpServerScript): RunningMcpServer {
  const server = startMcpServer(script);
  running.push(server);
  return server;
}

interface Setup {
  readonly clock?: Clock;
  readonly limits?: Partial<McpLimits>;
  /** Hosts that requests may name although they are private. */
  readonly allow?: readonly string[];
  readonly server?: Partial<McpServer>;
}

/** A session with an operator's server at this address, unless the setup says otherwise. */
function open(url: string, { clock = systemClock, limits, allow = [], server }: Setup = {}): McpSession {
  const sessions = sessionsFor([{ url, ...server }], clock, allow, limits);
  const session = sessions.open({ label: 'things', url, headers: {}, trusted: true, ...server });
  running.push({ stop: () => session.close() });
  return session;
}

function sessionsFor(
  servers: readonly Pick<McpServer, 'url' | 'oauth'>[],
  clock: Clock,
  allow: readonly string[],
  limits: Partial<McpLimits> = {},
): McpSessions {
  const guarded = (hosts: readonly string[]): GuardedFetch =>
    new GuardedFetch({
      client: new UpstreamClient(clock.now),
      clock,
      resolve: async () => ['127.0.0.1'],
      allow: () => hosts,
    });
  return new McpSessions({
    fetch: guarded(allow),
    trustedFetch: guarded(operatorHosts(servers)),
    clock,
    limits: () => ({ ...LIMITS, ...limits }),
  });
}

const echo = { run: (args: Record<string, unknown>) => JSON.stringify(args) };

describe.each(['http', 'json', 'sse'] as const)('over %s', (transport) => {
  test('tools are listed and called, and the session is ended', async () => {
    const server = serve({
      transport,
      tools: {
        echo: {
          ...echo,
          description: 'Says it again.',
          inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
          annotations: { readOnlyHint: true },
        },
        other: echo,
      },
    });
    const session = open(server.url);
    expect(server.requests).toEqual([]);
    expect(await session.listTools(PATIENT)).toEqual([
      {
        name: 'echo',
        description: 'Says it again.',
        inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
        annotations: { readOnlyHint: true },
      },
      { name: 'other', inputSchema: { type: 'object' } },
    ]);
    expect(await session.callTool('echo', { word: 'Grüße 🎉' }, PATIENT)).toEqual({
      parts: [{ type: 'text', text: '{"word":"Grüße 🎉"}' }],
      isError: false,
      truncated: false,
    });
    expect(server.calls).toEqual([{ name: 'echo', args: { word: 'Grüße 🎉' } }]);
    expect(server.sessions).toBe(1);
    await session.close();
    await server.ended();
  });
});
