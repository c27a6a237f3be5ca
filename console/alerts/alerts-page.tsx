// Alerts page: open and resolved problems, and the webhooks that receive alerts.
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useList } from '../api/queries.ts';
import { ALERT_STATES, alertKind } from '../format/states.ts';
import { fullTime } from '../format/times.ts';
import { OpenProblems } from '../problems/open-problems.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Segments } from '../ui/segments.tsx';
import { AlertStatus } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { When } from '../ui/when.tsx';
import { WebhooksCard } from './webhooks-card.tsx';

type Alert = Answer<'GET /alerts'>['data'][number];

const here = getRouteApi('/alerts');
const STATES = ['open', 'resolved'] as const;

const COLUMNS: readonly Column<Alert>[] = [
  {
    name: 'Alert',
    className: 'min-w-[24ch] break-words',
    cell: ({ message }) => <span className="block font-medium first-letter:uppercase">{message}</span>,
  },
  {
    name: 'State',
    cell: ({ state }) => <AlertStatus state={state} />,
  },
  { name: 'Kind', cell: ({ type }) => <span className="text-soft">{alertKind(type)}</span> },
  {
    name: 'Raised',
    cell: ({ raised_at: at }) => (
      <>
        {fullTime(at)}{' '}
        <span className="text-faint">
          (<When at={at} as="ago" />)
        </span>
      </>
    ),
  },
  {
    name: 'Resolved',
    cell: ({ state, resolved_at: at }) =>
      at === null ? (
        <span className="text-faint">{state === 'open' ? '–' : 'Unknown'}</span>
      ) : (
        <>
          {fullTime(at)}{' '}
          <span className="text-faint">
            (<When at={at} as="ago" />)
          </span>
        </>
      ),
  },
];

export function AlertsPage(): ReactNode {
  const { state } = here.useSearch();
  const navigate = here.useNavigate();
  const known = STATES.find((each) => each === state);
  const alerts = useList('GET /alerts', { ...(known && { state: known }) }, { pauseMs: 2_000 });
  return (
    <Page title="Alerts">
      <div className="flex flex-col gap-4">
        <OpenProblems />
        <div className="flex">
          <Segments
            label="State"
            options={[['', 'All'], ...STATES.map((each) => [each, ALERT_STATES[each].word] as const)]}
            isChosen={(each) => each === (known ?? '')}
            onChoose={(each) => void navigate({ search: each === '' ? {} : { state: each }, replace: true })}
          />
        </div>
        {alerts.error && <Problem error={alerts.error} />}
        <Card flush>
          {!alerts.rows && !alerts.error && <Waiting rows={6} />}
          {alerts.rows?.length === 0 && (
            <Empty icon="alerts" title={known ? 'No alert is in this state' : 'No alert was raised yet'}>
              Alerts are raised when an endpoint fails, a provider rejects its key, a budget is nearly used
              up, or a webhook is disabled.
            </Empty>
          )}
          {alerts.rows && alerts.rows.length > 0 && (
            <Table label="Alerts" rows={alerts.rows} keyOf={({ id }) => id} columns={COLUMNS} />
          )}
          <More list={alerts} />
        </Card>
        <WebhooksCard />
      </div>
    </Page>
  );
}
