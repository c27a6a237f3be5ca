// One sentence about the providers that have a problem now, for who looks at nothing else.

export interface ProblemCounts {
  /** Providers in each state. */
  readonly failing: number;
  readonly recovering: number;
  readonly degraded: number;
  /** Requests of 24 hours that another provider answered. */
  readonly rerouted: number;
  readonly failed: number;
}

/** `2 providers fail, 1 is recovering; 1 request was rerouted, 2 failed.` */
export function problemsSentence({ failing, recovering, degraded, rerouted, failed }: ProblemCounts): string {
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
  if (parts.length === 0) return 'All providers that were asked are healthy.';
  const moved = `${rerouted} ${rerouted === 1 ? 'request was' : 'requests were'} rerouted, ${failed} failed`;
  return `${parts.join(', ')}; ${moved}.`;
}
