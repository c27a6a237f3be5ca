// Providers page, ordered from worst to best: health, requests and spend of the last day.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { count, counted, duration, share } from '../format/numbers.ts';
import { ENDPOINT_STATES } from '../format/states.ts';
import { Button } from '../ui/button.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Money } from '../ui/money.tsx';
import { Problem } from '../ui/problem.tsx';
import { Spark } from '../ui/spark.tsx';
import { EndpointStatus } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { When } from '../ui/when.tsx';
import { AddDialog } from './add-dialog.tsx';

const here = getRouteApi('/providers');

type Row = Answer<'GET /providers'>['data'][number];
const ORDER = Object.keys(ENDPOINT_STATES);

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Provider',
    id: 'name',
    className: 'min-w-[24ch]',
    sort: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link to="/providers/$provider" params={{ provider: id }} data-row className="row-link font-medium">
        {name}
      </Link>
    ),
  },
  {
    name: 'State',
    id: 'state',
    sort: ({ state }) => ORDER.indexOf(state),
    cell: (row) => (
      <span className="flex flex-wrap items-center gap-x-2">
        <EndpointStatus state={row.state} />
        <Reason row={row} />
      </span>
    ),
  },
  {
    name: 'Attempts 24 h',
    id: 'attempts',
    number: true,
    sort: ({ day }) => day.attempts,
    cell: ({ day }) => count(day.attempts),
  },
  {
    name: 'Good',
    id: 'good',
    number: true,
    sort: ({ day }) => day.good_share,
    cell: ({ day }) =>
      day.good_share === null ? (
        '–'
      ) : (
        <span className={day.good_share < 0.95 ? 'text-bad' : ''}>{share(day.good_share)}</span>
      ),
  },
  {
    name: 'First token p95',
    id: 'p95',
    number: true,
    sort: ({ day }) => day.first_content_ms_p95,
    cell: ({ day }) => (day.first_content_ms_p95 === null ? '–' : duration(day.first_content_ms_p95)),
  },
  {
    name: 'Spend',
    id: 'spend',
    number: true,
    sort: ({ day }) => day.usd,
    cell: ({ day }) =>
      day.requests === 0 ? '$0' : <Money value={day.usd} unpriced={day.unpriced_requests} />,
  },
  {
    name: 'Trend',
    className: 'w-28',
    cell: ({ trend, name }) => (
      <Spark
        values={trend.map(({ attempts }) => attempts)}
        bad={trend.map(({ failed_attempts: failed }) => failed)}
        label={`Hourly attempts at ${name}`}
      />
    ),
  },
];

const WRONG: ReadonlySet<string> = new Set(['failing', 'recovering', 'degraded']);

function Reason({ row }: { readonly row: Row }): ReactNode {
  const { state, problem, endpoints_by_state: states, state_until: until } = row;
  const number = states[state] ?? 0;
  const all = Object.values(states).reduce((sum, each) => sum + each, 0);
  const which = all > 1 && number > 0 && number < all ? `${number} of ${all} endpoints` : null;
  if (state === 'healthy') return null;
  return (
    <span className="text-soft">
      {WRONG.has(state) ? (
        <>
          {problem?.text ?? 'slower than usual'}
          {problem?.since != null && (
            <>
              {' '}
              <When at={problem.since} as="since" />
            </>
          )}
          {which !== null && ` · ${which}`}
        </>
      ) : state === 'disabled' && until !== null ? (
        <>
          by {row.disabled_by?.name ?? 'an operator'}, ends <When at={until} as="ahead" />
        </>
      ) : (
        state === 'no_traffic' &&
        row.last_attempt_at !== null && (
          <>
            last <When at={row.last_attempt_at} as="ago" />
          </>
        )
      )}
    </span>
  );
}

export function ProvidersPage(): ReactNode {
  const { order } = here.useSearch();
  const navigate = here.useNavigate();
  const [isAdding, setAdding] = useState(false);
  const { data, error } = useRead('GET /providers', { query: { limit: 100 } }, { pauseMs: 2_000 });
  const wrong = (data?.data ?? []).filter(({ state }) => WRONG.has(state));
  return (
    <Page
      title="Providers"
      actions={
        <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
          Add provider
        </Button>
      }
    >
      {error && <Problem error={error} />}
      {data && (
        <p className="mb-3 text-base">
          {wrong.length === 0
            ? data.data.some(({ day }) => day.attempts > 0)
              ? 'No provider has a problem.'
              : 'No provider was called in the last 24 hours.'
            : `${wrong.length} of ${counted(data.data.length, 'provider')} ${wrong.length === 1 ? 'has a problem' : 'have problems'}: ${wrong.map(({ name }) => name).join(', ')}.`}
        </p>
      )}
      <Card flush>
        {!data && !error && <Waiting rows={6} />}
        {data?.data.length === 0 && (
          <Empty icon="providers" title="No provider is configured">
            <Button look="primary" onClick={() => setAdding(true)}>
              Add provider
            </Button>
          </Empty>
        )}
        {data && data.data.length > 0 && (
          <Table
            label="Providers"
            rows={data.data}
            keyOf={({ id }) => id}
            columns={COLUMNS}
            order={order}
            onOrder={(next) => void navigate({ search: { order: next }, replace: true })}
          />
        )}
      </Card>
      {isAdding && <AddDialog onClose={() => setAdding(false)} />}
    </Page>
  );
}
