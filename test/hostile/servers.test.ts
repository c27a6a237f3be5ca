// The same for MCP servers that mean harm.
import { describe } from 'bun:test';
import { MCP_SERVER } from './mcp-server.ts';
import { play } from './scene.ts';

describe('a hostile MCP server', () => play(MCP_SERVER));
