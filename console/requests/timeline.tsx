// Attempts of a request with the duration of each phase, usual durations at the endpoint, and the provider's error
// message.
import type { ReactNode } from 'react';
import { duration } from '../format/numbers.ts';
import { words } from '../format/states.ts';
import { Money } from '../ui/money.tsx';
import { Signal } from '../ui/status.tsx';
import { phasesOf } from './waterfall.tsx';
import type { Generation } from './generation.ts';

type Attempt = Generation['attempts'][number];

export function Timeline({ generation }: { readonly generation: Generation }): ReactNode {
  if (generation.attempts.length === 0)
    return <p className="text-soft">No provider was called. The request ended in the gateway.</p>;
  return (
    <ol className="flex flex-col gap-5">
      {generation.attempts.map((attempt, at) => (
        <li key={attempt.id} className="flex flex-col gap-1.5">
          <p className="flex flex-wrap items-center gap-2">
            <span className="figures text-faint">{at + 1}</span>
            <span className="font-medium">{attempt.endpoint}</span>
            <span className="text-soft">{attempt.model}</span>
            <Outcome attempt={attempt} />
            <span className="figures ml-auto text-soft">
              {attempt.cost && <Money value={attempt.cost.usd} />}
            </span>
          </p>
          <dl className="grid grid-cols-[repeat(auto-fit,minmax(7rem,1fr))] gap-x-4 gap-y-1 rounded-md bg-sunk px-3 py-2">
            <Fact name="Started" value={`+${duration(attempt.started_ms)}`} />
            {phasesOf(attempt).map(({ name, ms }) => (
              <Fact key={name} name={words(name)} value={duration(ms)} />
            ))}
            <Fact name="Total" value={duration(attempt.duration)} />
          </dl>
          <Usual attempt={attempt} isStreamed={generation.streamed} />
          {attempt.error && (
            <p className="break-words text-bad">
              {words(attempt.error.kind)}: {attempt.error.message}
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  return (
    <div>
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="figures">{value}</dd>
    </div>
  );
}

function Outcome({ attempt: { outcome, status } }: { readonly attempt: Attempt }): ReactNode {
  const code = status === null ? '' : ` ${status}`;
  if (outcome === 'completed') return <Signal tone="quiet" icon="good">{`OK${code}`}</Signal>;
  if (outcome === 'cancelled')
    return (
      <Signal tone="idle" icon="left">
        Cancelled
      </Signal>
    );
  return <Signal tone="bad" icon="bad">{`Failed${code}`}</Signal>;
}

/** Usual durations at the endpoint in the last 24 hours. */
function Usual({
  attempt,
  isStreamed,
}: {
  readonly attempt: Attempt;
  readonly isStreamed: boolean;
}): ReactNode {
  const { streamed = null, whole = null } = attempt.baseline ?? {};
  const usual = isStreamed ? streamed : whole;
  if (!usual) return null;
  const first = isStreamed ? streamed?.first_content_ms : undefined;
  return (
    <p className="figures text-xs text-faint">
      Last 24 h at this endpoint:{' '}
      {first?.p50 != null && `first token p50 ${duration(first.p50)}, p95 ${duration(first.p95)} · `}
      {usual.duration_ms.p50 !== null &&
        `complete response p50 ${duration(usual.duration_ms.p50)}, p95 ${duration(usual.duration_ms.p95)}`}
    </p>
  );
}
