// Table of a provider's endpoints: health, measurements and actions.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count, duration, rate, share } from '../format/numbers.ts';
import { Menu } from '../ui/menu.tsx';
import { EndpointStatus } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { When } from '../ui/when.tsx';
import type { Provider } from './provider.ts';

type Endpoint = Provider['endpoints'][number];

interface EndpointsTableProps {
  readonly endpoints: readonly Endpoint[];
  readonly busy: boolean;
  readonly onDisable: (model: string) => void;
  readonly onEnable: (model: string) => void;
}

export function EndpointsTable({ endpoints, busy, onDisable, onEnable }: EndpointsTableProps): ReactNode {
  if (endpoints.length === 0)
    return <p className="px-4 pb-4 text-soft">No endpoints are listed or have been called.</p>;
  return (
    <Table
      label="Endpoints"
      rows={endpoints}
      keyOf={({ model_id: model, slug, protocol }) => `${model} ${slug} ${protocol}`}
      columns={[
        {
          name: 'Model',
          className: 'min-w-[24ch] break-words',
          cell: ({ model_id: model, protocol, listed }) => (
            <>
              <Link to="/model/$" params={{ _splat: model }} className="font-medium hover:underline">
                {model}
              </Link>
              <span className="block text-xs font-normal text-faint">
                {listed ? protocol : `${protocol}, not in the catalog`}
              </span>
            </>
          ),
        },
        {
          name: 'State',
          cell: ({ state, state_since: since, as_of: asOf }) => (
            <>
              <EndpointStatus state={state} />
              {since !== null && state !== 'healthy' && (
                <span className="block text-xs text-soft">
                  <When at={since} as="since" />
                </span>
              )}
              {asOf !== null && (
                <span className="block text-xs text-faint">
                  as of <When at={asOf} as="ago" />
                </span>
              )}
            </>
          ),
        },
        {
          name: 'Successful attempts',
          number: true,
          cell: ({ window: { attempts, good } }) =>
            attempts === 0 ? '–' : `${share(good / attempts)} of ${count(attempts)}`,
        },
        {
          name: 'First token p95',
          number: true,
          cell: ({ health: { p95_first_token_ms: p95 } }) => (p95 === null ? '–' : duration(p95)),
        },
        {
          name: 'In per 1M',
          number: true,
          cell: ({ price }) => rate(price?.input),
        },
        { name: 'Out per 1M', number: true, cell: ({ price }) => rate(price?.output) },
        {
          name: 'Actions',
          unnamed: true,
          className: 'w-12 text-right',
          cell: ({ model_id: model, state }) => (
            <span className="-my-1 inline-block" aria-busy={busy}>
              <Menu
                label={`Actions for ${model}`}
                entries={[
                  state === 'disabled'
                    ? { label: 'Enable', icon: 'good', onSelect: () => onEnable(model) }
                    : { label: 'Disable…', icon: 'disabled', onSelect: () => onDisable(model) },
                ]}
              />
            </span>
          ),
        },
      ]}
    />
  );
}
