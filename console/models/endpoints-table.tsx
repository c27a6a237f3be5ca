// A provider's endpoints with their health, and putting one aside by hand.
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { count, duration, rate, share, speed } from '../format/numbers.ts';
import { Button } from '../ui/button.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { HealthBadge } from './health-badge.tsx';

type Endpoint = Answer<'GET /providers/{id}'>['endpoints'][number];

interface EndpointsTableProps {
  readonly endpoints: readonly Endpoint[];
  readonly busy: boolean;
  readonly onMove: (change: { readonly state: 'open' | 'closed'; readonly model: string }) => void;
}

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    name: 'Model',
    className: 'md:whitespace-nowrap',
    cell: ({ model_id: model, protocol }) => (
      <>
        <span className="font-medium">{model}</span>
        <p className="text-xs font-normal text-faint">{protocol}</p>
      </>
    ),
  },
  {
    name: 'Health',
    cell: ({ health }) => (
      <>
        <HealthBadge health={health} />
        {health.reason !== null && <p className="text-xs text-faint">{health.reason}</p>}
        {Object.entries(health.failures).map(([kind, number]) => (
          <p key={kind} className="figures text-xs text-warn">
            {kind} {number.toFixed(1)}
          </p>
        ))}
      </>
    ),
  },
  { name: 'Running', number: true, cell: ({ health }) => count(health.running) },
  {
    name: 'First token, p50 / p95',
    number: true,
    cell: ({ health }) => (
      <>
        {duration(health.first_token_ms)} / {duration(health.p95_first_token_ms)}
      </>
    ),
  },
  { name: 'Speed', number: true, cell: ({ health }) => speed(health.tokens_per_second) },
  { name: 'Success', number: true, cell: ({ health }) => share(health.success_rate) },
  { name: 'Cache hits', number: true, cell: ({ health }) => share(health.cache_hit_rate) },
  {
    name: '$ in / out per 1M',
    number: true,
    cell: ({ price }) => (
      <>
        {rate(price?.input)} / {rate(price?.output)}
      </>
    ),
  },
];

export function EndpointsTable({ endpoints, busy, onMove }: EndpointsTableProps): ReactNode {
  return (
    <Table
      label="Endpoints"
      rows={endpoints}
      keyOf={({ model_id: model, slug, protocol }) => `${model} ${slug} ${protocol}`}
      columns={[
        ...COLUMNS,
        {
          name: 'Actions',
          unnamed: true,
          className: 'text-right',
          cell: ({ model_id: model, health }) => (
            <Button
              look="quiet"
              className="-my-1 -mr-3"
              busy={busy}
              aria-label={`${health.state === 'open' ? 'Take back' : 'Put aside'} ${model}`}
              onClick={() => onMove({ state: health.state === 'open' ? 'closed' : 'open', model })}
            >
              {health.state === 'open' ? 'Take back' : 'Put aside'}
            </Button>
          ),
        },
      ]}
    />
  );
}
