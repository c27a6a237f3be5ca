// Hostile parties on bare sockets against a gateway in its own process: what each of them gets, how long somebody else
// waits meanwhile, and how much memory is held afterwards. The attacks are tables, one file for each attacker.
import { describe } from 'bun:test';
import { BODIES } from './client-bodies.ts';
import { CONNECTIONS } from './client-connections.ts';
import { CLIENT } from './client.ts';
import { MCP_SERVER } from './mcp-server.ts';
import { MODEL } from './model.ts';
import { PAGE } from './page.ts';
import { play } from './scene.ts';
import { UPSTREAM } from './upstream.ts';

describe('a hostile client', () => play(CLIENT));
describe('a hostile client and its bodies', () => play(BODIES));
describe('a hostile client and its connections', () => play(CONNECTIONS));
describe('a hostile upstream', () => play(UPSTREAM));
describe('a hostile MCP server', () => play(MCP_SERVER));
describe('a hostile model', () => play(MODEL));
describe('a hostile page', () => play(PAGE));
