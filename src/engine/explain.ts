// The decision about a request, without the request: nothing is sent, recorded or counted.
import { expandRoute, type CanonicalRequest, type JsonObject } from '../canonical/index.ts';
import type { ExplainCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { decodeEmbeddings, longestInput } from './embeddings/index.ts';
import { routeRequest, withoutStreamOptions } from './admit/index.ts';
import type { EngineSettings } from './settings.ts';

/** The route table. Throws GatewayError for what the request itself would be refused for. */
export function explainRoute(deps: GatewayDependencies, call: ExplainCall): JsonObject {
  const settings = deps.settings();
  const { request, inputChars } = call.task === 'embedding' ? embeddingsOf(call) : textOf(call, settings);
  const plan = routeRequest(request, {
    settings,
    principal: call.principal,
    state: deps.routing,
    limits: deps.limits,
    nowMs: deps.clock.now(),
    inputChars,
    peek: true,
  });
  return expandRoute(plan.trace(), request.model);
}

interface Explained {
  readonly request: CanonicalRequest;
  readonly inputChars: number;
}

function textOf({ protocol, json, route, bodyChars }: ExplainCall, settings: EngineSettings): Explained {
  const asked = (settings.config.compatibility.ignoreStreamOptions && withoutStreamOptions(json)) || json;
  return { request: protocol.server.decodeRequest(asked, route), inputChars: bodyChars };
}

function embeddingsOf(call: ExplainCall): Explained {
  const { request, asked } = decodeEmbeddings(call);
  return { request, inputChars: longestInput(asked) };
}
