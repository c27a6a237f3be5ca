// Page of one key: budgets with their pace, spend, failures, permissions and change history.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { field } from '../api/sums.ts';
import { SpendChart } from '../charts/spend-chart.tsx';
import { count, counted, exactUsd } from '../format/numbers.ts';
import { words } from '../format/states.ts';
import { fullTime } from '../format/times.ts';
import { useSpan } from '../time/use-span.ts';
import { buttonClass, Button } from '../ui/button.tsx';
import { Card, Page, Waiting } from '../ui/card.tsx';
import { Facts } from '../ui/facts.tsx';
import { Money } from '../ui/money.tsx';
import { Problem } from '../ui/problem.tsx';
import { UsedBar } from '../ui/spark.tsx';
import { KeyStatus } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { When } from '../ui/when.tsx';
import { KeyDialog, type KeyAction } from './key-dialog.tsx';

const here = getRouteApi('/keys/$id');
const USD = field('usd');
const MONTH = { range: '30d' } as const;

type Detail = Answer<'GET /keys/{id}'>;
type LimitUsage = Detail['standings'][number];

export function KeyPage(): ReactNode {
  const { id } = here.useParams();
  const [action, setAction] = useState<KeyAction | null>(null);
  const { data, error } = useRead('GET /keys/{id}', { params: { id } }, { pauseMs: 2_000 });
  const isOurs = data?.source === 'database' && data.state !== 'revoked';
  return (
    <Page
      title={data?.name ?? id}
      before={
        <Link to="/keys" className="link target inline-flex items-center">
          Keys
        </Link>
      }
      beside={data && <KeyStatus state={data.state} />}
      actions={
        <>
          <Link to="/requests" search={{ key: data?.id ?? id }} className={buttonClass()}>
            Requests
          </Link>
          {data && isOurs && (
            <>
              <Button onClick={() => setAction({ type: 'change', key: data })}>Change…</Button>
              <Button onClick={() => setAction({ type: 'rotate', key: data })}>Rotate…</Button>
              <Button className="text-bad!" onClick={() => setAction({ type: 'revoke', key: data })}>
                Revoke…
              </Button>
            </>
          )}
        </>
      }
    >
      {error && <Problem error={error} />}
      {!data && !error && <Waiting rows={10} />}
      {data && (
        <div className="flex flex-col gap-4">
          {data.source === 'file' && <p className="text-soft">Defined in dragoman.yaml. Change it there.</p>}
          <Card>
            <Facts
              facts={[
                [
                  'Spent this month',
                  data.requests === 0 ? (
                    '$0'
                  ) : (
                    <Money key="spent" value={data.spent_usd} unpriced={data.spent_unpriced_requests} />
                  ),
                ],
                ['Requests this month', count(data.requests)],
                [
                  'Last used',
                  data.last_used_at === null ? 'never' : <When key="used" at={data.last_used_at} as="ago" />,
                ],
                [
                  'Expires',
                  data.expires_at === null ? 'never' : <When key="ends" at={data.expires_at} as="ahead" />,
                ],
                ['Project', data.project ?? 'its own'],
                ['May', data.roles.map((role) => (role === 'models' ? 'call models' : 'manage')).join(', ')],
                ['Models', data.models?.join(', ') ?? 'all'],
                [
                  'Key',
                  <code key="hint" className="font-mono text-xs">
                    {data.hint}
                  </code>,
                ],
                [
                  'Content',
                  data.log_content === null ? 'as configured' : data.log_content ? 'kept' : 'not kept',
                ],
                ['Made', data.created_at === null ? 'in the file' : fullTime(data.created_at)],
              ]}
            />
            {data.previous_valid_until !== null && Date.parse(data.previous_valid_until) > Date.now() && (
              <p className="mt-3 text-warn">
                The previous secret is still valid and expires{' '}
                <When at={data.previous_valid_until} as="ahead" />.
              </p>
            )}
          </Card>
          <LimitUsages standings={data.standings} />
          <div className="grid gap-4 xl:grid-cols-2">
            <SpendChart title="Spend, 30 days" range={MONTH} of={{ key: data.id }} />
            <Use id={data.id} />
          </div>
          <Audit id={data.id} />
        </div>
      )}
      {action && <KeyDialog action={action} onClose={() => setAction(null)} />}
    </Page>
  );
}

function LimitUsages({ standings }: { readonly standings: readonly LimitUsage[] }): ReactNode {
  return (
    <Card title="Budgets and limits" flush>
      {standings.length === 0 ? (
        <p className="px-4 pb-4 text-soft">This key has no limits or budgets of its own.</p>
      ) : (
        <Table
          label="Budgets and limits"
          rows={standings}
          keyOf={({ of, text }) => `${of} ${text}`}
          columns={[
            { name: 'Limit', cell: ({ text }) => <span className="font-medium">{text}</span> },
            { name: 'Of', cell: ({ of }) => (of === 'key' ? 'this key' : 'its project') },
            {
              name: 'Used',
              cell: (each) => (
                <span className="flex items-center gap-2">
                  <UsedBar part={each.used / Math.max(1e-9, each.allowed)} className="w-32" />
                  <span className="figures">{amount(each, each.used)}</span>
                </span>
              ),
            },
            {
              name: 'Left',
              number: true,
              cell: (each) => amount(each, Math.max(0, each.allowed - each.used)),
            },
            {
              name: 'Resets',
              cell: ({ resets_at: at }) =>
                at === null ? <span className="text-faint">never</span> : <When at={at} as="ahead" />,
            },
            {
              name: 'At this pace',
              cell: ({ used, allowed, lasts_until: until }) =>
                used >= allowed ? (
                  'used up'
                ) : until === null ? (
                  <span className="text-faint">lasts</span>
                ) : (
                  <>
                    lasts until <time dateTime={until}>{fullTime(until)}</time>
                  </>
                ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function amount({ unit }: LimitUsage, value: number): string {
  return unit === 'usd' ? exactUsd(value) : count(value);
}

function Use({ id }: { readonly id: string }): ReactNode {
  const { times } = useSpan(MONTH);
  const { data } = useRead(
    'GET /usage',
    {
      query: {
        ...times,
        key: id,
        group_by: 'model',
        totals: 'true',
        columns: 'requests,usd,unpriced_requests,failed,refused,errors_by_kind',
      },
    },
    { pauseMs: 15_000 },
  );
  const kinds = Object.entries(data?.totals?.all?.errors_by_kind ?? {}).toSorted(([, a], [, b]) => b - a);
  return (
    <Card title="Models, 30 days" flush>
      {!data && <Waiting rows={4} />}
      {data?.data.length === 0 && <p className="px-4 pb-4 text-soft">No requests in this period.</p>}
      {data && data.data.length > 0 && (
        <Table
          label="Models"
          rows={data.data}
          keyOf={({ model }) => model ?? ''}
          columns={[
            {
              name: 'Model',
              cell: ({ model }) => (
                <Link
                  to="/requests"
                  search={{ key: id, ...(model != null && { model }), range: '30d' }}
                  data-row
                  className="row-link font-medium"
                >
                  {model ?? 'No model'}
                </Link>
              ),
            },
            {
              name: 'Spend',
              number: true,
              cell: (row) => <Money value={USD(row)} unpriced={field('unpriced_requests')(row)} />,
            },
            { name: 'Requests', number: true, cell: (row) => count(field('requests')(row)) },
            { name: 'Failed', number: true, cell: (row) => count(field('failed')(row)) },
            { name: 'Refused', number: true, cell: (row) => count(field('refused')(row)) },
          ]}
        />
      )}
      {kinds.length > 0 && (
        <p className="figures border-t px-4 py-2 text-soft">
          {kinds.map(([kind, number]) => `${words(kind)}: ${count(number)}`).join(' · ')}
        </p>
      )}
    </Card>
  );
}

function Audit({ id }: { readonly id: string }): ReactNode {
  const { data } = useRead('GET /audit', { query: { target: id, limit: 20 } }, { pauseMs: 5_000 });
  if (!data || data.data.length === 0) return null;
  return (
    <Card
      title="Changes"
      aside={
        <span className="text-soft">{counted(data.data.length, 'entry').replace('entrys', 'entries')}</span>
      }
      flush
    >
      <Table
        label="Changes"
        rows={data.data}
        keyOf={(entry) => entry.id}
        columns={[
          { name: 'What', cell: ({ action }) => <span className="font-medium">{action}</span> },
          { name: 'Who', cell: ({ actor }) => actor.name },
          { name: 'When', cell: ({ created_at: at }) => fullTime(at) },
        ]}
      />
    </Card>
  );
}
