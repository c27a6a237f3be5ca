// The hosts that the operator's own MCP servers live on: exempt from the rule that addresses must be public.
import type { McpServer } from './session.ts';

/** `host:port` of every server and token endpoint: for `allow` of the guarded fetch that these are reached by. */
export function operatorHosts(servers: Iterable<Pick<McpServer, 'url' | 'oauth'>>): readonly string[] {
  return [...servers].flatMap(({ url, oauth }) => [hostOf(url), ...(oauth ? [hostOf(oauth.tokenUrl)] : [])]);
}

function hostOf(text: string): string {
  const { hostname, port, protocol } = new URL(text);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
