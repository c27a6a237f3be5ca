// Models and providers: who serves what, how well, and for how much.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useList, useRead } from '../api/queries.ts';
import { counted, duration, rate, share, short, speed, usd } from '../format/numbers.ts';
import { useHour } from '../format/use-hour.ts';
import { Badge } from '../ui/badge.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { HealthBadge } from './health-badge.tsx';

const here = getRouteApi('/models');
const WEEK_MS = 7 * 86_400_000;

interface Served {
  readonly id: string;
  readonly endpoint: Answer<'GET /models'>['data'][number]['endpoints'][number];
}

const COLUMNS: readonly Column<Served>[] = [
  {
    name: 'Model',
    cell: ({ id }) => (
      <Link to="/playground" search={{ model: id }} className="font-medium hover:underline">
        {id}
      </Link>
    ),
  },
  {
    name: 'Served by',
    cell: ({ endpoint: { slug, provider, protocol } }) => (
      <>
        <Link to="/models/$provider" params={{ provider }} className="hover:underline">
          {slug}
        </Link>{' '}
        <span className="text-faint">{protocol}</span>
      </>
    ),
  },
  { name: 'Health', cell: ({ endpoint }) => <HealthBadge health={endpoint.health} /> },
  { name: 'Context', number: true, cell: ({ endpoint }) => short(endpoint.facts.context_length) },
  { name: '$ in per 1M', number: true, cell: ({ endpoint }) => rate(endpoint.price?.input) },
  { name: '$ out per 1M', number: true, cell: ({ endpoint }) => rate(endpoint.price?.output) },
  { name: 'First token', number: true, cell: ({ endpoint }) => duration(endpoint.health.first_token_ms) },
  { name: 'Speed', number: true, cell: ({ endpoint }) => speed(endpoint.health.tokens_per_second) },
  { name: 'Success', number: true, cell: ({ endpoint }) => share(endpoint.health.success_rate) },
];

export function ModelsPage(): ReactNode {
  const { search = '', provider } = here.useSearch();
  const navigate = here.useNavigate();
  const models = useList('GET /models', { search: search || undefined, provider }, { pauseMs: 15_000 });
  return (
    <Page title="Models and providers" about="Who serves what, how well it goes, and what it costs.">
      <div className="flex flex-col gap-4">
        <Providers selected={provider} />
        <Card
          flush
          title={provider === undefined ? 'Models' : `Models of ${provider}`}
          aside={
            <div className="flex items-center gap-2">
              {provider !== undefined && (
                <Link to="/models" search={{}} className="text-sm text-accent hover:underline">
                  Show all
                </Link>
              )}
              <input
                className="field w-56"
                type="search"
                aria-label="Search models"
                placeholder="Search models"
                value={search}
                onChange={({ target }) =>
                  void navigate({
                    search: (before) => ({
                      ...(before.provider && { provider: before.provider }),
                      ...(target.value && { search: target.value }),
                    }),
                    replace: true,
                  })
                }
              />
            </div>
          }
        >
          {!models.rows && !models.error && <Waiting />}
          {models.error && <Problem error={models.error} />}
          {models.rows?.length === 0 && (
            <Empty icon="models" title="No model has such a name">
              Models that no list knows work all the same: ask for{' '}
              <code className="font-mono">provider/name</code>.
            </Empty>
          )}
          {models.rows && models.rows.length > 0 && (
            <Table
              label="Models"
              columns={COLUMNS}
              rows={models.rows.flatMap(({ id, endpoints }) =>
                endpoints.map((endpoint) => ({ id, endpoint })),
              )}
              keyOf={({ id, endpoint: { slug, protocol } }) => `${id} ${slug} ${protocol}`}
            />
          )}
          <More list={models} />
        </Card>
      </div>
    </Page>
  );
}

function Providers({ selected }: { readonly selected: string | undefined }): ReactNode {
  const providers = useRead('GET /providers', { query: { limit: 100 } }, { pauseMs: 5_000 });
  const from = new Date(useHour() - WEEK_MS).toISOString();
  const usage = useRead(
    'GET /usage',
    { query: { from, group_by: 'provider', columns: 'requests,usd,cache_saved_usd' } },
    { pauseMs: 15_000 },
  );
  if (providers.error) return <Problem error={providers.error} />;
  return (
    <section aria-label="Providers" className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {providers.data?.data.map(({ id, name, protocols, models, running, open }) => {
        const row = usage.data?.data.find((each) => each.provider === id);
        return (
          <Link
            key={id}
            to="/models/$provider"
            params={{ provider: id }}
            aria-current={id === selected}
            className="rounded-lg border bg-card p-4 hover:border-edge"
          >
            <span className="mb-1 flex items-center justify-between gap-2">
              <span className="font-semibold">{name}</span>
              {open > 0 ? <Badge tone="bad">{open} left alone</Badge> : <Badge tone="good">well</Badge>}
            </span>
            <span className="block text-sm text-soft">
              {counted(models, 'model')} · {protocols.join(', ') || 'no protocol'}
              {running > 0 && ` · ${running} running`}
            </span>
            <span className="figures mt-2 block text-sm">
              {row ? (
                <>
                  {counted(row.requests ?? 0, 'request')} · {usd(row.usd)} · caches saved{' '}
                  {usd(row.cache_saved_usd)}
                </>
              ) : (
                <span className="text-faint">No request this week</span>
              )}
            </span>
          </Link>
        );
      })}
    </section>
  );
}
