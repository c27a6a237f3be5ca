// Explains the routing of a request. Nothing is sent, recorded or counted.
import type { JsonObject } from '../base/json/index.ts';
import { expandRoute } from '../canonical/index.ts';
import type { ExplainCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { type Estimate, limitText, type LimitUsage, usdOf } from '../accounts/limits/index.ts';
import { RequestQuota } from './request-quota.ts';
import { estimateOf } from './cost-estimate.ts';
import { routeRequest } from './admit/index.ts';
import type { Task } from './tasks/index.ts';

/** The route table. Throws the GatewayError with which the request itself would be refused. */
export function explainRoute(deps: GatewayDependencies, call: ExplainCall, task: Task): JsonObject {
  const settings = deps.settings();
  const explained = task.explain?.(call, settings);
  if (!explained) throw new TypeError(`requests of ${task.name} are not routed`);
  const { request, inputChars, inputTokens } = explained;
  const plan = routeRequest(request, {
    settings,
    principal: call.principal,
    state: deps.routing,
    limits: deps.limits,
    tasks: deps.tasks,
    nowMs: deps.clock.now(),
    inputChars,
    peek: true,
  });
  const table = expandRoute(plan.trace(), request.model);
  const quota = RequestQuota.of(deps.limits, call.principal, deps.clock.wall);
  const first = plan.candidates[0];
  if (!quota || !first) return table;
  const endUser = deps.endUsers.hashOf(call.principal.projectId, request.endUser);
  const asked = { request, inputTokens: inputTokens() };
  return { ...table, limits: limitsTable(quota, estimateOf(asked, first.endpoint, endUser, deps.routing)) };
}

/** The limits that apply to a request, and whether it could begin now. */
function limitsTable(quota: RequestQuota, estimate: Estimate): JsonObject {
  const { refusal, limitUsages } = quota.explain(estimate);
  const shown = ({ kind }: LimitUsage['limit']['rule'], amount: number): number =>
    kind === 'usd' ? usdOf(amount) : amount;
  return {
    refused: refusal && {
      status: refusal.status,
      code: refusal.code ?? null,
      message: refusal.message,
      retry_after_ms: refusal.retryAfterMs ?? null,
    },
    expected: {
      tokens: estimate.tokens,
      usd: estimate.nanoUsd === null ? null : usdOf(estimate.nanoUsd),
    },
    limits: limitUsages.map(({ limit: { owner, rule }, used, reserved, remaining }) => ({
      owner: owner.kind,
      name: owner.name,
      limit: limitText(rule),
      used: shown(rule, used),
      reserved: shown(rule, reserved),
      remaining: shown(rule, remaining),
    })),
  };
}
