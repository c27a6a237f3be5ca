// What is not as it should be just now: endpoints that are left alone, providers that fail, limits that are nearly used up.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useEvents } from '../api/events.ts';
import { useLimits } from '../api/limits.ts';
import { useRead } from '../api/queries.ts';
import { share } from '../format/numbers.ts';
import { ago } from '../format/times.ts';
import { Badge } from '../ui/badge.tsx';
import { Card, Waiting } from '../ui/card.tsx';
import { Icon } from '../ui/icon.tsx';
import { useState } from 'react';

/** Of a limit or budget; from here on it is shown. */
const NEARLY = 0.8;
const MOST_ALERTS = 5;

export function Unwell(): ReactNode {
  const providers = useRead('GET /providers', { query: { limit: 100 } }, { pauseMs: 5_000 });
  const limits = useLimits();
  const [alerts, setAlerts] = useState<readonly { message: string; at: string }[]>([]);
  useEvents('alert', true, ({ message }) =>
    setAlerts([{ message, at: new Date().toISOString() }, ...alerts].slice(0, MOST_ALERTS)),
  );
  const open = providers.data?.data.filter(({ open: count }) => count > 0) ?? [];
  const near = (limits.data?.data ?? []).flatMap(({ owner, limits: standings }) =>
    standings
      .map((standing) => ({
        owner,
        standing,
        used: standing.used / Math.max(1e-9, standing.used + standing.remaining),
      }))
      .filter(({ used, standing }) => used >= NEARLY && standing.used > 0),
  );
  const isWell = open.length + near.length + alerts.length === 0;
  return (
    <Card title="Now">
      {providers.isPending && <Waiting rows={2} />}
      {!providers.isPending && isWell && (
        <p className="flex items-center gap-2 text-good">
          <Icon name="good" /> Everything is well: no endpoint is left alone, no limit is nearly used up.
        </p>
      )}
      <ul className="flex flex-col gap-2">
        {open.map(({ id, open: count, name }) => (
          <li key={id} className="flex flex-wrap items-center gap-2">
            <Badge tone="bad">unwell</Badge>
            <Link to="/models/$provider" params={{ provider: id }} className="font-medium hover:underline">
              {name}
            </Link>
            <span className="text-soft">
              {count} {count === 1 ? 'endpoint is' : 'endpoints are'} left alone
            </span>
          </li>
        ))}
        {near.map(({ owner, standing, used }) => (
          <li
            key={`${owner.kind} ${owner.id} ${standing.text}`}
            className="flex flex-wrap items-center gap-2"
          >
            <Badge tone={used >= 1 ? 'bad' : 'warn'}>{share(Math.min(1, used))}</Badge>
            <span className="font-medium">{owner.name || owner.kind}</span>
            <span className="text-soft">
              {standing.text}
              {standing.clears_at !== null && `, clears ${ago(standing.clears_at)}`}
            </span>
          </li>
        ))}
        {alerts.map(({ message, at }) => (
          <li key={at + message} className="flex flex-wrap items-center gap-2">
            <Badge tone="warn">alert</Badge>
            <span>{message}</span>
            <span className="text-faint">{ago(at)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
