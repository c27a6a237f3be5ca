// Relative times that keep themselves up to date.
import { useSyncExternalStore, type ReactNode } from 'react';
import { ago, ahead, fullTime, since } from '../format/times.ts';

const STEP_MS = 10_000;
const watchers = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of watchers) each();
  }, STEP_MS);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Unix milliseconds, updated every ten seconds. */
function useNow(): number {
  return useSyncExternalStore(watch, () => now);
}

const WAYS = { ago, ahead, since } as const;

interface WhenProps {
  readonly at: string;
  /** `ago`: 3 min ago. `ahead`: in 10 h. `since`: since 14:09 (3 min). */
  readonly as: keyof typeof WAYS;
}

export function When({ at, as }: WhenProps): ReactNode {
  useNow();
  return (
    <time dateTime={at} title={fullTime(at)} className="whitespace-nowrap">
      {WAYS[as](at)}
    </time>
  );
}

/** ISO timestamp within a message of the gateway. */
const INSTANT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A message of the gateway, with its timestamps in the user's time zone. */
export function Timed({ text }: { readonly text: string }): ReactNode {
  return text.split(INSTANT).map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      <time key={at} dateTime={part} title={part}>
        {fullTime(part)}
      </time>
    ),
  );
}
