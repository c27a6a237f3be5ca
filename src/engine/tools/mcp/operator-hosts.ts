// Hosts of the operator's MCP servers, exempt from the rule that addresses must be public.
import { hostAndPort } from '../../../upstream/guard.ts';
import type { McpServer } from './session.ts';

/** `host:port` of every server and token endpoint, for `allow` of the guarded fetch. */
export function operatorHosts(servers: Iterable<Pick<McpServer, 'url' | 'oauth'>>): readonly string[] {
  return [...servers].flatMap(({ url, oauth }) => [
    hostAndPort(url),
    ...(oauth ? [hostAndPort(oauth.tokenUrl)] : []),
  ]);
}
