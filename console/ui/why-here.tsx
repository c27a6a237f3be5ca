// Table of a routing decision: candidates in their order with reasons, and excluded endpoints.
import type { ReactNode } from 'react';
import { duration, rate, share } from '../format/numbers.ts';
import type { Tone } from '../format/states.ts';
import { Signal } from './status.tsx';
import { Icon } from './icon.tsx';

interface Candidate {
  readonly position: number;
  readonly endpoint: string;
  readonly model: string;
  readonly score: number | null;
  readonly reason: string;
  readonly price: { readonly input: number | null; readonly output: number | null } | null;
  readonly first_token_ms: number | null;
  readonly tokens_per_second: number | null;
  readonly success_rate: number | null;
  readonly state: string;
}

export interface RouteTable {
  readonly requested_model?: string | undefined;
  readonly strategy?: { readonly type: string; readonly primary_factor: string | null } | undefined;
  readonly candidates?: readonly Candidate[] | undefined;
  readonly excluded?:
    | readonly { readonly model: string; readonly endpoint: string | null; readonly reason: string }[]
    | undefined;
}

interface WhyHereProps {
  readonly route: RouteTable;
  /** Result of each endpoint that was tried, by name; absent: the request was only planned. */
  readonly asked?: ReadonlyMap<string, string>;
}

export function WhyHere({ route, asked }: WhyHereProps): ReactNode {
  const { candidates = [], excluded = [], strategy } = route;
  return (
    <div>
      <p className="mb-3 text-sm text-soft">
        <span className="font-mono text-ink">{route.requested_model}</span>
        {strategy && ` · policy ${strategy.type}`}
        {strategy?.primary_factor != null && ` by ${strategy.primary_factor}`}
      </p>
      <ol className="relative ml-3 border-l-2 border-line">
        {candidates.map((candidate) => (
          <Step
            key={`${candidate.position}`}
            candidate={candidate}
            isPlanned={asked === undefined}
            outcome={asked?.get(candidate.endpoint)}
          />
        ))}
        {excluded.map(({ model, endpoint, reason }) => (
          <li key={`${model} ${endpoint ?? ''}`} className="relative pb-3 pl-5">
            <Dot tone="idle">
              <Icon name="close" size={10} />
            </Dot>
            <p className="text-sm text-faint line-through">
              {endpoint ?? model} {endpoint !== null && <span>{model}</span>}
            </p>
            <p className="text-sm text-soft">excluded: {reason}</p>
          </li>
        ))}
      </ol>
      {candidates.length === 0 && <p className="text-soft">No endpoint was available.</p>}
    </div>
  );
}

interface StepProps {
  readonly candidate: Candidate;
  /** True: no endpoint was asked, so there is nothing to say about it. */
  readonly isPlanned: boolean;
  readonly outcome: string | undefined;
}

function Step({ candidate, isPlanned, outcome }: StepProps): ReactNode {
  const tone: Tone = outcome === undefined ? 'idle' : outcome === 'completed' ? 'quiet' : 'bad';
  const facts = [
    candidate.price && `${rate(candidate.price.input)} in, ${rate(candidate.price.output)} out per 1M`,
    candidate.first_token_ms !== null && `first token ${duration(candidate.first_token_ms)}`,
    candidate.tokens_per_second !== null && `${Math.round(candidate.tokens_per_second)} tokens/s`,
    candidate.success_rate !== null && `${share(candidate.success_rate)} good`,
    candidate.score !== null && `score ${candidate.score.toFixed(3)}`,
  ].filter((fact) => typeof fact === 'string');
  return (
    <li className="relative pb-4 pl-5">
      <Dot tone={tone}>
        {outcome === undefined ? (
          candidate.position
        ) : (
          <Icon name={outcome === 'completed' ? 'good' : 'bad'} size={10} />
        )}
      </Dot>
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{candidate.endpoint}</span>
        <span className="text-sm text-soft">{candidate.model}</span>
        {outcome === undefined && !isPlanned && <span className="text-xs text-faint">not asked</span>}
        {outcome !== undefined && (
          <Signal tone={tone}>{outcome === 'completed' ? 'answered' : outcome}</Signal>
        )}
        {candidate.state !== 'closed' && <Signal tone="warn">breaker {candidate.state}</Signal>}
      </p>
      <p className="text-sm text-soft">{candidate.reason}</p>
      {facts.length > 0 && <p className="figures text-xs text-faint">{facts.join(' · ')}</p>}
    </li>
  );
}

const DOTS: Readonly<Partial<Record<Tone, string>>> = {
  quiet: 'bg-ink text-card',
  bad: 'bg-bad text-card',
  idle: 'bg-sunk text-soft border',
};

function Dot({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }): ReactNode {
  return (
    <span
      aria-hidden="true"
      className={`absolute top-0.5 -left-2.5 flex size-4.5 items-center justify-center rounded-full text-xs ${DOTS[tone] ?? ''}`}
    >
      {children}
    </span>
  );
}
