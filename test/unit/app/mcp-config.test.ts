// The `tools.mcp` block of the configuration: what it says when little is said, and how mistakes in it are named.
import { expect, test } from 'bun:test';
import { ConfigError, loadConfig } from '../../../src/app/config/index.ts';
import type { Config } from '../../../src/app/config/index.ts';

function load(block: string): Config['tools']['mcp'] {
  const text = `tools:\n  mcp: ${block}\n`;
  const environment = { MCP_SECRET: 'sk-test-secret' };
  return loadConfig({ environment, flags: { config: '/c.yaml' }, readFile: () => text }).config.tools.mcp;
}

test('every setting is optional', () => {
  expect(load('{}')).toEqual({
    servers: {},
    native: 'prefer',
    fromRequests: true,
    onUnlisted: 'fail',
    allow: [],
    maxResultBytes: 262_144,
    timeoutMs: 60_000,
    maxTools: 500,
  });
});

test('a server is read with everything that it may have', () => {
  const { servers, ...rest } = load(`{
    servers: {
      docs: {
        url: "http://10.0.0.7:8080/mcp",
        headers: { x-key: "\${MCP_SECRET}" },
        oauth: { token_url: "https://id.example/token", client_id: gateway, client_secret: "\${MCP_SECRET}", scope: "a b" },
        allowed_tools: [search],
        require_approval: never,
      },
      plain: { url: "https://mcp.example/mcp" },
    },
    native: never, from_requests: false, on_unlisted: continue, allow: ["mcp.example:443"], max_result_kb: 2, timeout_ms: 5000, max_tools: 9,
  }`);
  expect(rest).toEqual({
    native: 'never',
    fromRequests: false,
    onUnlisted: 'continue',
    allow: ['mcp.example:443'],
    maxResultBytes: 2048,
    timeoutMs: 5000,
    maxTools: 9,
  });
  const docs = servers['docs'];
  expect(docs?.headers['x-key']?.reveal()).toBe('sk-test-secret');
  expect(docs?.oauth?.clientSecret.reveal()).toBe('sk-test-secret');
  expect(JSON.stringify(servers)).toBe(
    JSON.stringify({
      docs: {
        url: 'http://10.0.0.7:8080/mcp',
        headers: { 'x-key': '[secret]' },
        oauth: {
          tokenUrl: 'https://id.example/token',
          clientId: 'gateway',
          clientSecret: '[secret]',
          scope: 'a b',
        },
        allowedTools: ['search'],
        requireApproval: 'never',
      },
      plain: { url: 'https://mcp.example/mcp', headers: {}, allowedTools: null, requireApproval: null },
    }),
  );
});

test.each([
  ['{ servers: { docs: {} } }', 'tools.mcp.servers.docs.url'],
  ['{ servers: { docs: { url: "ftp://mcp.example" } } }', 'tools.mcp.servers.docs.url'],
  ['{ servers: { docs: { url: "http://[mcp" } } }', 'tools.mcp.servers.docs.url'],
  ['{ servers: { "a b": { url: "http://mcp.example" } } }', 'tools.mcp.servers'],
  [
    '{ servers: { docs: { url: "http://m.example", headers: { "a b": c } } } }',
    'tools.mcp.servers.docs.headers',
  ],
  [
    '{ servers: { docs: { url: "http://m.example", oauth: { client_id: a } } } }',
    'tools.mcp.servers.docs.oauth.token_url',
  ],
  [
    '{ servers: { docs: { url: "http://m.example", require_approval: sometimes } } }',
    'tools.mcp.servers.docs.require_approval',
  ],
  ['{ servers: { docs: { url: "http://m.example", allowed: [] } } }', 'tools.mcp.servers.docs'],
  ['{ from_requests: perhaps }', 'tools.mcp.from_requests'],
  ['{ allow: mcp.example }', 'tools.mcp.allow'],
  ['{ max_result_kb: 0 }', 'tools.mcp.max_result_kb'],
  ['{ timeout_ms: 1.5 }', 'tools.mcp.timeout_ms'],
  ['{ max_tools: many }', 'tools.mcp.max_tools'],
])('%s is refused by the name of the field', (block, path) => {
  let message = '';
  try {
    load(block);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    ({ message } = error);
  }
  expect(message).toContain(path);
});
