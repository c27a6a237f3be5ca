// The same for what the gateway calls: upstreams, MCP servers, models and pages that mean harm.
import { describe } from 'bun:test';
import { MCP_SERVER } from './mcp-server.ts';
import { MODEL } from './model.ts';
import { PAGE } from './page.ts';
import { play } from './scene.ts';
import { UPSTREAM } from './upstream.ts';

describe('a hostile upstream', () => play(UPSTREAM));
describe('a hostile MCP server', () => play(MCP_SERVER));
describe('a hostile model', () => play(MODEL));
describe('a hostile page', () => play(PAGE));
