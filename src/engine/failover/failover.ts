// Tries the candidates of a plan until one answers: decides when to wait, hedge, move on and stop.
import type { GatewayError } from '../../canonical/index.ts';
import type { Planned } from '../admit/index.ts';
import type { Cancellation } from '../cancellation.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { actionFor } from '../failure-table.ts';
import { CandidateQueue, type Entry, type Trial, tryAlone } from './candidate-queue.ts';
import { type Failure, finalError } from './final-error.ts';
import { hedge } from './hedge.ts';
import { mayHoldMore } from './larger-context.ts';
import type { DurationMs } from '../../base/units.ts';

export interface FailoverInput {
  readonly planned: Planned;
  readonly deps: Pick<GatewayDependencies, 'clock' | 'random' | 'routing' | 'limits'>;
  /** Cancellation of the whole request. */
  readonly cancellation: Cancellation;
}

/** @returns undefined when one answered, otherwise the error for the client. Never rejects */
export async function tryCandidates(trial: Trial, input: FailoverInput): Promise<GatewayError | undefined> {
  const { planned, deps, cancellation } = input;
  const { plan, deadlineAt, arrival } = planned;
  const { clock } = deps;
  const queue = new CandidateQueue(plan, { deps, settings: arrival.settings.config.routing, deadlineAt });
  const failures: Failure[] = [];
  for (let entry = queue.take(); entry; entry = queue.take()) {
    const waitMs = entry.notBefore - clock.now();
    if (waitMs > 0) await pause(waitMs, input);
    if (cancellation.reason) return cancellation.reason;

    const patienceMs = patienceFor(entry, input);
    const tried =
      patienceMs === null
        ? [await tryAlone(trial, entry, { cancellation, others: queue })]
        : await hedge(trial, entry, { queue, clock, patienceMs, cancellation });
    const broken = tried.find(({ error }) => error !== undefined);
    if (!broken?.error) return undefined;
    if (cancellation.reason) return cancellation.reason;
    if (trial.committed) return trial.resume(broken.entry.candidate, broken.error, queue.candidates);

    for (const { entry: unanswered, error } of tried) if (!error) queue.putBack(unanswered);
    for (const { entry: done, error } of tried) {
      if (!error) continue;
      const { endpoint } = done.candidate;
      if (trial.learn(endpoint, error)) {
        queue.putBack(done);
        continue;
      }
      failures.push({ endpoint: endpoint.slug, error });
      if (!plan.failover || clock.now() >= deadlineAt) return finalError(failures);
      switch (actionFor(error)) {
        case 'return':
          return finalError(failures);
        case 'retry':
          queue.retry(done, error);
          break;
        case 'larger-context':
          queue.keep(mayHoldMore(endpoint, error, trial.neededTokens(), deps));
          break;
        case 'other-model':
          queue.keep(({ modelId }) => modelId !== endpoint.modelId);
          break;
        case 'next':
      }
    }
  }
  return finalError(failures);
}

/**
 * Milliseconds without content after which a second endpoint is tried as well. `null`: hedging is off, or the usual
 * latency is unknown.
 */
function patienceFor({ candidate }: Entry, { planned, deps }: FailoverInput): number | null {
  const { plan, request } = planned;
  return plan.wishes.hedge === true ? deps.routing.health(candidate.endpoint).p95Ms(request.stream) : null;
}

function pause(ms: DurationMs, { deps, cancellation }: FailoverInput): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      stop();
      cancellation.remove(waiting);
      resolve();
    };
    const waiting = { cancel: over };
    const stop = deps.clock.after(ms, over);
    cancellation.add(waiting);
  });
}
