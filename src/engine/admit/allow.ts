// Lets a planned request begin, as far as limits and budgets are concerned.
import { demandOf } from '../demand.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Planned } from './planned.ts';

/**
 * Reserves what the request is expected to use at the endpoint that is asked first. Models in limits are those of the
 * catalog: whatever name the request had for it.
 * @param inputTokens estimates the prompt; asked only where something is limited
 * @returns a promise where other processes share a limit and have to be asked
 * @throws GatewayError 429 `rate_limit_exceeded` or 402 `budget_exceeded`; nothing is reserved then
 */
export function allow(
  { arrival, request, plan, deadlineAt }: Planned,
  inputTokens: () => number,
  { routing, endUsers }: Pick<GatewayDependencies, 'routing' | 'endUsers'>,
): void | Promise<void> {
  const { allowance, call } = arrival;
  const first = plan.candidates[0];
  if (!allowance || !first) return;
  const endUser = endUsers.hashOf(call.principal.projectId, request.endUser);
  return allowance.admit(
    demandOf({ request, inputTokens: inputTokens() }, first.endpoint, endUser, routing),
    deadlineAt,
  );
}
