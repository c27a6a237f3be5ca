// Hostile parties on bare sockets against a gateway in its own process: what each of them gets, how long somebody else
// waits meanwhile, and how much memory is held afterwards. The attacks are tables, one file for each attacker.
import { BODIES } from './client-bodies.ts';
import { CONNECTIONS } from './client-connections.ts';
import { CLIENT } from './client.ts';
import { MCP_SERVER } from './mcp-server.ts';
import { MODEL } from './model.ts';
import { PAGE } from './page.ts';
import { play } from './scene.ts';
import { UPSTREAM } from './upstream.ts';

play('a hostile client', CLIENT);
play('a hostile client and its bodies', BODIES);
play('a hostile client and its connections', CONNECTIONS);
play('a hostile upstream', UPSTREAM);
play('a hostile MCP server', MCP_SERVER);
play('a hostile model', MODEL);
play('a hostile page', PAGE);
