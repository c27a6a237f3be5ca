// The gateway's side of an MCP server in tests: a session over guarded connections, and how its failures look.
import { GatewayError } from '../../../src/canonical/index.ts';
import { systemClock, type Clock } from '../../../src/base/runtime/clock.ts';
import { operatorHosts } from '../../../src/engine/tools/mcp/operator-hosts.ts';
import { McpSessions } from '../../../src/engine/tools/mcp/session.ts';
import type { McpLimits, McpServer, McpSession } from '../../../src/engine/tools/mcp/session.ts';
import { UpstreamClient } from '../../../src/upstream/client.ts';
import { GuardedFetch } from '../../../src/upstream/fetch-guarded.ts';

export interface SessionsSetup {
  readonly clock?: Clock;
  readonly limits?: Partial<McpLimits>;
  /** Hosts that requests may name although they are private (`fetch.allow`). */
  readonly allow?: readonly string[];
}

/** Never aborted: for callers that wait. */
export const PATIENT = new AbortController().signal;

/** Sessions for which these are the operator's servers. Every name resolves to the loopback address. */
export function mcpSessions(
  servers: readonly Pick<McpServer, 'url' | 'oauth'>[],
  { clock = systemClock, limits, allow = [] }: SessionsSetup = {},
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
    limits: () => ({ timeoutMs: 60_000, maxResultBytes: 256 * 1024, maxTools: 500, ...limits }),
  });
}

/** A session with an operator's server at this address, unless `server` says otherwise. */
export function openMcpSession(url: string, setup?: SessionsSetup, server?: Partial<McpServer>): McpSession {
  const whole = { label: 'things', url, headers: {}, trusted: true, ...server };
  return mcpSessions(whole.trusted ? [whole] : [], setup).open(whole);
}

/** The error that this ends with. */
export async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const error: unknown = await work.then(
    (value) => new Error(`no failure but ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!GatewayError.is(error)) throw error;
  return error;
}
