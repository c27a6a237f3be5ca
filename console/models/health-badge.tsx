// How an endpoint does, in a word.
import type { ReactNode } from 'react';
import { ago } from '../format/times.ts';
import { Badge } from '../ui/badge.tsx';

interface HealthBadgeProps {
  readonly health: {
    readonly state: 'closed' | 'open' | 'half-open';
    readonly until: string | null;
    readonly reason: string | null;
    readonly measured_at: string | null;
  };
}

export function HealthBadge({
  health: { state, until, reason, measured_at: measured },
}: HealthBadgeProps): ReactNode {
  if (state === 'closed')
    return measured === null ? <Badge tone="calm">not asked yet</Badge> : <Badge tone="good">well</Badge>;
  return (
    <span title={reason ?? undefined}>
      <Badge tone={state === 'open' ? 'bad' : 'warn'}>
        {state === 'open' ? 'left alone' : 'on trial'}
        {until !== null && `, until ${ago(until)}`}
      </Badge>
    </span>
  );
}
