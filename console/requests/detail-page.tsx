// One request: what became of it, why it went where it went, what it cost, and what each side said.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useKeyNames } from '../api/key-names.ts';
import { useRead } from '../api/queries.ts';
import { count, duration, usd } from '../format/numbers.ts';
import { fullTime } from '../format/times.ts';
import { Badge, StatusBadge } from '../ui/badge.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Code } from '../ui/code.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Facts } from '../ui/facts.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { WhyHere } from '../ui/why-here.tsx';
import { Payloads } from './payloads.tsx';
import { Tokens } from './tokens.tsx';
import { Waterfall } from './waterfall.tsx';
import { WireDiff } from './wire-diff.tsx';

type Generation = Answer<'GET /generations/{id}'>;

const here = getRouteApi('/requests/$id');

export function DetailPage(): ReactNode {
  const { id } = here.useParams();
  const { data, error } = useRead('GET /generations/{id}', { params: { id } });
  return (
    <Page
      title={data ? (data.model ?? data.requested_model) : 'Request'}
      about={<code className="font-mono text-sm break-all">{id}</code>}
      actions={
        <>
          <CopyButton text={location.href} label="Copy link" />
          <CopyButton text={id} label="Copy id" />
        </>
      }
    >
      {error && (
        <Problem error={error}>
          {' '}
          <Link to="/requests" className="underline">
            Back to the list
          </Link>
        </Problem>
      )}
      {!data && !error && <Waiting rows={8} />}
      {data && <Detail generation={data} />}
    </Page>
  );
}

function Detail({ generation }: { readonly generation: Generation }): ReactNode {
  const { view = 'why' } = here.useSearch();
  const navigate = here.useNavigate();
  const tabs = [
    { id: 'why', label: 'Why here', content: <Why generation={generation} /> },
    { id: 'cost', label: 'Tokens and cost', content: <Tokens generation={generation} /> },
    {
      id: 'report',
      label: `Translation (${generation.report.length})`,
      content: <Report generation={generation} />,
    },
    { id: 'diff', label: 'Wire diff', content: <WireDiff generation={generation} /> },
    { id: 'payloads', label: 'Payloads', content: <Payloads id={generation.id} /> },
    {
      id: 'record',
      label: 'Record',
      content: <Code text={JSON.stringify(generation)} label="The whole record" />,
    },
  ];
  return (
    <div className="flex flex-col gap-4">
      {generation.error && <Problem error={`${generation.error.kind}: ${generation.error.message}`} />}
      <Card>
        <Summary generation={generation} />
      </Card>
      <Card title="Attempts">
        <Waterfall generation={generation} />
      </Card>
      <Card flush>
        <Tabs
          label="What is known of this request"
          tabs={tabs}
          value={tabs.some(({ id }) => id === view) ? view : 'why'}
          onChange={(next) => void navigate({ search: next === 'why' ? {} : { view: next }, replace: true })}
        />
      </Card>
    </div>
  );
}

function Summary({ generation: g }: { readonly generation: Generation }): ReactNode {
  const key = useKeyNames([g.key_id]).get(g.key_id) ?? g.key_id;
  const whole = g.latency === null ? null : g.latency + (g.generation_time ?? 0);
  return (
    <Facts
      facts={[
        ['Status', <StatusBadge key="status" status={g.status} cancelled={g.cancelled} />],
        ['When', fullTime(g.created_at)],
        ['Asked for', g.requested_model],
        ['Answered by', g.endpoint ?? '–'],
        ['Client speaks', `${g.protocol}${g.streamed ? ', streamed' : ''}`],
        ['Lane', g.lane],
        ['Finish', g.finish_reason],
        ['First content', duration(g.latency)],
        ['Whole answer', duration(whole)],
        [
          'Tokens',
          g.native_tokens
            ? `${count(g.native_tokens.prompt_tokens)} in, ${count(g.native_tokens.completion_tokens)} out`
            : '–',
        ],
        ['Cost', usd(g.cost?.usd)],
        [
          'Project and key',
          <Link key="key" to="/requests" search={{ key: g.key_id }} className="text-accent hover:underline">
            {g.project_id === g.key_id ? key : `${g.project_id} · ${key}`}
          </Link>,
        ],
      ]}
    />
  );
}

function Why({ generation: { route, attempts } }: { readonly generation: Generation }): ReactNode {
  if (!route)
    return (
      <Empty icon="routing" title="Nothing was decided">
        The request ended before a route was planned.
      </Empty>
    );
  return (
    <WhyHere route={route} asked={new Map(attempts.map(({ endpoint, outcome }) => [endpoint, outcome]))} />
  );
}

function Report({ generation: { report, lane } }: { readonly generation: Generation }): ReactNode {
  if (report.length === 0)
    return (
      <Empty icon="good" title="Nothing was lost">
        {lane === 'relay'
          ? 'Both sides speak the same protocol.'
          : 'Everything that was asked for could be said to the upstream.'}
      </Empty>
    );
  return (
    <Table
      label="Translation"
      rows={report.map((entry, at) => ({ ...entry, at }))}
      keyOf={({ at }) => String(at)}
      columns={[
        { name: 'Where', className: 'font-mono break-all', cell: ({ path }) => path },
        {
          name: 'What',
          cell: ({ action }) => <Badge tone={action === 'dropped' ? 'warn' : 'calm'}>{action}</Badge>,
        },
        { name: 'Why', cell: ({ reason }) => reason },
      ]}
    />
  );
}
