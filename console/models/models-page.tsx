// Models and providers: who serves what, how well, and for how much.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { count, duration, rate, share, short, usd } from '../format/numbers.ts';
import { Badge } from '../ui/badge.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Problem } from '../ui/problem.tsx';
import { HealthBadge } from './health-badge.tsx';

const here = getRouteApi('/models');
const WEEK_MS = 7 * 86_400_000;

export function ModelsPage(): ReactNode {
  const { search = '', provider } = here.useSearch();
  const navigate = here.useNavigate();
  const models = useRead('GET /models', {
    query: { limit: 100, search: search || undefined, provider },
  });
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
          {models.isPending && <Waiting />}
          {models.error && <Problem error={models.error} />}
          {models.data?.data.length === 0 && (
            <Empty icon="models" title="No model has such a name">
              Models that no list knows work all the same: ask for{' '}
              <code className="font-mono">provider/name</code>.
            </Empty>
          )}
          {models.data && models.data.data.length > 0 && (
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">Model</th>
                  <th scope="col">Served by</th>
                  <th scope="col">Health</th>
                  {['Context', 'In per 1M', 'Out per 1M', 'First token', 'Speed', 'Good'].map((name) => (
                    <th key={name} scope="col" className="number">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {models.data.data.flatMap(({ id, endpoints }) =>
                  endpoints.map(({ slug, provider: by, protocol, health, price, facts }, at) => (
                    <tr key={`${id} ${slug} ${protocol}`}>
                      <td className="font-medium">
                        {at === 0 && (
                          <Link to="/playground" search={{ model: id }} className="hover:underline">
                            {id}
                          </Link>
                        )}
                      </td>
                      <td>
                        <Link to="/models/$provider" params={{ provider: by }} className="hover:underline">
                          {slug}
                        </Link>{' '}
                        <span className="text-faint">{protocol}</span>
                      </td>
                      <td>
                        <HealthBadge health={health} />
                      </td>
                      <td className="number">{short(facts.context_length)}</td>
                      <td className="number">{rate(price?.input)}</td>
                      <td className="number">{rate(price?.output)}</td>
                      <td className="number">{duration(health.first_token_ms)}</td>
                      <td className="number">
                        {health.tokens_per_second === null ? '–' : `${count(health.tokens_per_second)}/s`}
                      </td>
                      <td className="number">{share(health.success_rate)}</td>
                    </tr>
                  )),
                )}
              </tbody>
            </table>
          )}
          {models.data?.has_more === true && (
            <p className="border-t px-4 py-3 text-sm text-soft">
              The first hundred are shown: search for others.
            </p>
          )}
        </Card>
      </div>
    </Page>
  );
}

function Providers({ selected }: { readonly selected: string | undefined }): ReactNode {
  const providers = useRead('GET /providers', { query: { limit: 100 } }, { every: 30_000 });
  const from = new Date(Math.floor((Date.now() - WEEK_MS) / 3_600_000) * 3_600_000).toISOString();
  const usage = useRead('GET /usage', { query: { from, group_by: 'provider' } });
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
              {count(models)} models · {protocols.join(', ') || 'no protocol'}
              {running > 0 && ` · ${running} running`}
            </span>
            <span className="figures mt-2 block text-sm">
              {row ? (
                <>
                  {count(row.requests)} requests · {usd(row.usd)} · caches saved {usd(row.cache_saved_usd)}
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
