// The decision about a request, without the request: nothing is sent, recorded or counted.
import type { JsonObject } from '../canonical/index.ts';
import type { ExplainCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { routeRequest } from './route.ts';

/** The route table. Throws GatewayError for what the request itself would be refused for. */
export function explainRoute(deps: GatewayDependencies, call: ExplainCall): JsonObject {
  const request = call.protocol.server.decodeRequest(call.json, call.route);
  const plan = routeRequest(request, {
    settings: deps.settings(),
    principal: call.principal,
    state: deps.routing,
    nowMs: deps.clock.now(),
    inputChars: call.bodyChars,
    peek: true,
  });
  return plan.table();
}
