// The decision about a request, without the request: nothing is sent, recorded or counted.
import { expandRoute, type CanonicalRequest, type JsonObject } from '../canonical/index.ts';
import type { ExplainCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { estimatedInputTokens } from '../ledger/index.ts';
import { type Demand, limitText, type Standing, usdOf } from '../limits/index.ts';
import { Allowance } from './allowance.ts';
import { demandOf } from './demand.ts';
import { decodeEmbeddings, inputTokensOf, longestInput } from './embeddings/index.ts';
import { routeRequest, withoutStreamOptions } from './admit/index.ts';
import type { EngineSettings } from './settings.ts';

/** The route table. Throws GatewayError for what the request itself would be refused for. */
export function explainRoute(deps: GatewayDependencies, call: ExplainCall): JsonObject {
  const settings = deps.settings();
  const explained = call.task === 'embedding' ? embeddingsOf(call) : textOf(call, settings);
  const { request, inputChars, inputTokens } = explained;
  const plan = routeRequest(request, {
    settings,
    principal: call.principal,
    state: deps.routing,
    limits: deps.limits,
    nowMs: deps.clock.now(),
    inputChars,
    peek: true,
  });
  const table = expandRoute(plan.trace(), request.model);
  const allowance = Allowance.of(deps.limits, call.principal, deps.clock.now);
  const first = plan.candidates[0];
  if (!allowance || !first) return table;
  const endUser = deps.endUsers.hashOf(call.principal.projectId, request.endUser);
  const asked = { request, inputTokens: inputTokens() };
  return { ...table, limits: limitsTable(allowance, demandOf(asked, first.endpoint, endUser, deps.routing)) };
}

/** The limits that count a request, and whether it would begin now. */
function limitsTable(allowance: Allowance, demand: Demand): JsonObject {
  const { refusal, standings } = allowance.explain(demand);
  const shown = ({ kind }: Standing['limit']['rule'], amount: number): number =>
    kind === 'usd' ? usdOf(amount) : amount;
  return {
    refused: refusal && {
      status: refusal.status,
      code: refusal.code ?? null,
      message: refusal.message,
      retry_after_ms: refusal.retryAfterMs ?? null,
    },
    expected: {
      tokens: demand.tokens,
      usd: demand.nanoUsd === null ? null : usdOf(demand.nanoUsd),
    },
    limits: standings.map(({ limit: { owner, rule }, used, reserved, remaining }) => ({
      owner: owner.kind,
      name: owner.name,
      limit: limitText(rule),
      used: shown(rule, used),
      reserved: shown(rule, reserved),
      remaining: shown(rule, remaining),
    })),
  };
}

interface Explained {
  readonly request: CanonicalRequest;
  readonly inputChars: number;
  /** Of the prompt, by estimate. */
  readonly inputTokens: () => number;
}

function textOf({ protocol, json, route, bodyChars }: ExplainCall, settings: EngineSettings): Explained {
  const asked = (settings.config.compatibility.ignoreStreamOptions && withoutStreamOptions(json)) || json;
  const request = protocol.server.decodeRequest(asked, route);
  return { request, inputChars: bodyChars, inputTokens: () => estimatedInputTokens(request) };
}

function embeddingsOf(call: ExplainCall): Explained {
  const { request, asked } = decodeEmbeddings(call);
  return { request, inputChars: longestInput(asked), inputTokens: () => inputTokensOf(asked) };
}
