// One sentence that summarises the current problems.

export interface ProblemCounts {
  /** Number of providers in each state. */
  readonly failing: number;
  readonly recovering: number;
  readonly degraded: number;
  /** Providers with attempts in the last 24 hours. */
  readonly asked: number;
  /** Requests of the last 24 hours that another provider served. */
  readonly rerouted: number;
  readonly failed: number;
  /** Used-up budgets. */
  readonly budgets: number;
  /** Budgets that are too low for a request that they refused. */
  readonly low_budgets: number;
  /** Keys that expire within a week. */
  readonly expiring: number;
}

/** `2 providers fail, 1 is recovering; 1 request was rerouted, 2 failed. 1 budget is used up.` */
export function problemsSentence(counts: ProblemCounts): string {
  const { budgets, low_budgets: low, expiring } = counts;
  const budgetsAre = (count: number): string => `${count} ${count === 1 ? 'budget is' : 'budgets are'}`;
  const others = [
    ...(budgets > 0 ? [`${budgetsAre(budgets)} used up`] : []),
    ...(low > 0 ? [`${budgetsAre(low)} too low`] : []),
    ...(expiring > 0 ? [`${expiring} ${expiring === 1 ? 'key expires' : 'keys expire'} soon`] : []),
  ];
  return ofProviders(counts) + (others.length > 0 ? ` ${others.join(', ')}.` : '');
}

function ofProviders({ failing, recovering, degraded, asked, rerouted, failed }: ProblemCounts): string {
  const states = [
    [failing, 'fails', 'fail'],
    [recovering, 'is recovering', 'are recovering'],
    [degraded, 'is degraded', 'are degraded'],
  ] as const;
  const parts = states
    .filter(([count]) => count > 0)
    .map(([count, one, several], at) => {
      const providers = at > 0 ? '' : count === 1 ? ' provider' : ' providers';
      return `${count}${providers} ${count === 1 ? one : several}`;
    });
  // Providers without attempts are neither healthy nor failing.
  if (parts.length === 0)
    return asked === 0
      ? 'No provider was called in the last 24 hours.'
      : 'All providers called in the last 24 hours are healthy.';
  const moved = `${rerouted} ${rerouted === 1 ? 'request was' : 'requests were'} rerouted, ${failed} failed`;
  return `${parts.join(', ')}; ${moved}.`;
}
