// The attempts of a request on one line of time: who was asked when, how long it took to the first content, and how it ended.
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { duration, usd } from '../format/numbers.ts';
import { Badge } from '../ui/badge.tsx';

type Generation = Answer<'GET /generations/{id}'>;
type Attempt = Generation['attempts'][number];

export function Waterfall({ generation }: { readonly generation: Generation }): ReactNode {
  const from = Date.parse(generation.created_at);
  const end = Math.max(
    from + 1,
    from + (generation.latency ?? 0) + (generation.generation_time ?? 0),
    ...generation.attempts.map(({ ended_at }) => Date.parse(ended_at)),
  );
  if (generation.attempts.length === 0)
    return <p className="text-soft">Nobody was asked: the request ended in the gateway.</p>;
  const percent = (at: number): number => ((at - from) / (end - from)) * 100;
  return (
    <ol className="flex flex-col gap-3">
      {generation.attempts.map((attempt, at) => (
        <li key={attempt.id}>
          <div className="mb-1 flex flex-wrap items-baseline gap-x-2 gap-y-1 text-sm">
            <span className="figures text-faint">{at + 1}</span>
            <span className="font-medium">{attempt.endpoint}</span>
            <span className="text-soft">{attempt.model}</span>
            <OutcomeBadge attempt={attempt} />
            <span className="figures ml-auto text-soft">
              {attempt.latency !== null && `first ${duration(attempt.latency)} · `}
              {duration(attempt.duration)}
              {attempt.cost?.usd != null && ` · ${usd(attempt.cost.usd)}`}
            </span>
          </div>
          <Bar attempt={attempt} percent={percent} />
          {attempt.error && <p className="mt-1 text-sm break-words text-bad">{attempt.error.message}</p>}
        </li>
      ))}
      <li aria-hidden="true" className="figures flex justify-between border-t pt-1 text-xs text-faint">
        <span>0 ms</span>
        <span>{duration((end - from) / 2)}</span>
        <span>{duration(end - from)}</span>
      </li>
    </ol>
  );
}

function OutcomeBadge({ attempt: { outcome, status } }: { readonly attempt: Attempt }): ReactNode {
  const tone = outcome === 'completed' ? 'good' : outcome === 'cancelled' ? 'warn' : 'bad';
  return (
    <Badge tone={tone}>
      {outcome}
      {status !== null && ` ${status}`}
    </Badge>
  );
}

interface BarProps {
  readonly attempt: Attempt;
  readonly percent: (at: number) => number;
}

/** Light: waiting for the first content. Full: content. */
function Bar({ attempt, percent }: BarProps): ReactNode {
  const start = percent(Date.parse(attempt.started_at));
  const end = percent(Date.parse(attempt.ended_at));
  const first = attempt.first_content_at === null ? end : percent(Date.parse(attempt.first_content_at));
  const isGood = attempt.outcome === 'completed';
  return (
    <div className="relative h-3 rounded bg-sunk" aria-hidden="true">
      <div
        className={`absolute inset-y-0 rounded opacity-35 ${isGood ? 'bg-accent' : 'bg-bad'}`}
        style={{ left: `${start}%`, width: `max(3px, ${first - start}%)` }}
      />
      <div
        className={`absolute inset-y-0 rounded ${isGood ? 'bg-accent' : 'bg-bad'}`}
        style={{ left: `${first}%`, width: `${Math.max(0, end - first)}%` }}
      />
    </div>
  );
}
