// Waterfall chart of a request: time spent in the gateway, and the phases of each attempt.
import type { ReactNode } from 'react';
import { duration } from '../format/numbers.ts';
import { cx } from '../ui/cx.ts';
import type { Generation } from './generation.ts';

type Attempt = Generation['attempts'][number];

interface Phase {
  readonly name: string;
  readonly ms: number;
  readonly look: string;
}

/** Known phases of an attempt, in order. */
export function phasesOf(attempt: Attempt): readonly Phase[] {
  const isBad = attempt.outcome === 'failed';
  const parts: readonly (readonly [string, number | null | undefined, string])[] = [
    ['queue', attempt.queued_ms, 'fill-line'],
    ['connect', attempt.connect_ms, 'fill-edge opacity-60'],
    ['wait', waitOf(attempt), isBad ? 'fill-bad opacity-60' : 'fill-series-6 opacity-60'],
    ['answer', attempt.generation_ms, isBad ? 'fill-bad' : 'fill-series-6'],
  ];
  const known = parts.flatMap(([name, ms, look]) => (ms == null || ms <= 0 ? [] : [{ name, ms, look }]));
  const sum = known.reduce((total, { ms }) => total + ms, 0);
  if (attempt.duration - sum < 0.5 && known.length > 0) return known;
  // An attempt that failed before its first content has only a total duration.
  const rest = {
    name: known.length === 0 ? 'whole' : 'rest',
    ms: attempt.duration - sum,
    look: isBad ? 'fill-bad' : 'fill-series-6',
  };
  return rest.ms > 0 ? [...known, rest] : known;
}

function waitOf({ first_content_ms: first, queued_ms: queued, connect_ms: connect }: Attempt): number | null {
  return first === null ? null : Math.max(0, first - (queued ?? 0) - (connect ?? 0));
}

export function Waterfall({ generation }: { readonly generation: Generation }): ReactNode {
  const { attempts, gateway_ms: gateway } = generation;
  const ends = attempts.map((attempt) => attempt.started_ms + attempt.duration);
  const whole = Math.max(1, generation.duration_ms ?? 0, ...ends);
  if (attempts.length === 0) return null;
  return (
    <div className="flex flex-col gap-1" role="group" aria-label="Attempts over time">
      {attempts.map((attempt) => (
        <div key={attempt.id} className="grid grid-cols-[9rem_minmax(0,1fr)_5rem] items-center gap-3">
          <span className="truncate text-sm" title={attempt.endpoint}>
            {attempt.endpoint}
          </span>
          <Line attempt={attempt} whole={whole} />
          <span
            className={cx(
              'figures text-right text-xs',
              attempt.outcome === 'failed' ? 'text-bad' : 'text-soft',
            )}
          >
            {attempt.outcome === 'failed' && attempt.status !== null && `${attempt.status} · `}
            {duration(attempt.duration)}
          </span>
        </div>
      ))}
      <div className="grid grid-cols-[9rem_minmax(0,1fr)_5rem] gap-3 text-xs text-faint" aria-hidden="true">
        <span className="figures truncate">{gateway !== null && `gateway ${duration(gateway)}`}</span>
        <span className="figures flex justify-between border-t pt-0.5">
          <span>0</span>
          <span>{duration(whole)}</span>
        </span>
      </div>
    </div>
  );
}

function Line({ attempt, whole }: { readonly attempt: Attempt; readonly whole: number }): ReactNode {
  const phases = phasesOf(attempt);
  const text = phases.map(({ name, ms }) => `${name} ${duration(ms)}`).join(', ');
  let from = attempt.started_ms;
  return (
    <svg
      viewBox="0 0 1000 12"
      preserveAspectRatio="none"
      className="h-3 w-full rounded-sm bg-sunk"
      role="img"
      aria-label={text}
    >
      <title>{text}</title>
      {phases.map(({ name, ms, look }) => {
        const x = (from / whole) * 1_000;
        from += ms;
        return (
          <rect key={name} x={x} width={Math.max(3, (ms / whole) * 1_000)} height="12" className={look} />
        );
      })}
    </svg>
  );
}
