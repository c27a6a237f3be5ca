// Alerts page: open and resolved problems, and the webhooks that receive alerts.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useList, useRead } from '../api/queries.ts';
import { ALERT_STATES, alertKind } from '../format/states.ts';
import { fullTime } from '../format/times.ts';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Segments } from '../ui/segments.tsx';
import { AlertStatus, EndpointStatus, KeyStatus, Signal } from '../ui/status.tsx';
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
        <Open />
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
              Alerts are raised when a provider fails, a budget is nearly used up, or costs jump.
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

/** Open problems. */
function Open(): ReactNode {
  const { data } = useRead('GET /problems', {}, { pauseMs: 2_000 });
  if (!data) return null;
  return (
    <section aria-label="Open now">
      <p className="text-base">{data.sentence.text}</p>
      <ul className="mt-2 flex flex-col gap-1">
        {data.data.map((problem, at) => (
          <li key={at} className="flex flex-wrap items-center gap-2">
            <State problem={problem} />
            <Owner problem={problem} />
            <span>{problem.text}</span>
            {problem.since !== null && (
              <span className="text-soft">
                <When at={problem.since} as="since" />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

type Trouble = Answer<'GET /problems'>['data'][number];

/** State of a problem, in the same words as on the overview. */
function State({ problem: { kind, state } }: { readonly problem: Trouble }): ReactNode {
  switch (kind) {
    case 'provider':
      return <EndpointStatus state={state ?? 'failing'} />;
    case 'budget':
      return <KeyStatus state="budget_used_up" />;
    case 'key_expiry':
      return <KeyStatus state="expires_soon" />;
    case 'ledger':
      return (
        <Signal tone="bad" icon="bad">
          Ledger
        </Signal>
      );
  }
}

/** Owner of a problem, with a link to its page. */
function Owner({
  problem: { provider, provider_name: name, limit, key },
}: {
  readonly problem: Trouble;
}): ReactNode {
  const look = 'target inline-flex items-center font-medium hover:underline';
  if (provider !== undefined)
    return (
      <Link to="/providers/$provider" params={{ provider }} className={look}>
        {name ?? provider}
      </Link>
    );
  const owner = key ?? (limit?.owner.kind === 'key' ? limit.owner : null);
  if (owner)
    return (
      <Link to="/keys/$id" params={{ id: owner.id }} className={look}>
        {owner.name}
      </Link>
    );
  return limit ? <span className="font-medium">{limit.owner.name || limit.owner.kind}</span> : null;
}
