// One provider: every endpoint with its health, and putting it aside by hand.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { count, duration, rate, share } from '../format/numbers.ts';
import { Button } from '../ui/button.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Problem } from '../ui/problem.tsx';
import { HealthBadge } from './health-badge.tsx';

const here = getRouteApi('/models/$provider');

export function ProviderPage(): ReactNode {
  const { provider: id } = here.useParams();
  const { data, error } = useRead('GET /providers/{id}', { params: { id } }, { every: 10_000 });
  const queries = useQueryClient();
  const breaker = useMutation({
    mutationFn: (body: { state: 'open' | 'closed'; model?: string }) =>
      ask('POST /providers/{id}/breaker', { params: { id }, body }),
    onSuccess: () =>
      queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).includes('/providers') }),
  });
  return (
    <Page
      title={data?.name ?? id}
      about={data && `${count(data.models)} models over ${data.protocols.join(', ') || 'no protocol'}`}
      actions={
        <>
          <Link to="/requests" search={{ provider: id }} className="text-accent hover:underline">
            Its requests
          </Link>
          <Button busy={breaker.isPending} onClick={() => breaker.mutate({ state: 'open' })}>
            Put all aside for an hour
          </Button>
          <Button busy={breaker.isPending} onClick={() => breaker.mutate({ state: 'closed' })}>
            Take all back
          </Button>
        </>
      }
    >
      {(error ?? breaker.error) && <Problem error={error ?? breaker.error} />}
      <Card flush title="Endpoints">
        {!data && !error && <Waiting />}
        {data?.endpoints.length === 0 && <Empty icon="models" title="No endpoint is listed or was asked" />}
        {data && data.endpoints.length > 0 && (
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Model</th>
                <th scope="col">Health</th>
                {['Running', 'First token', '95 %', 'Speed', 'Good', 'Cache hits', 'In / out per 1M'].map(
                  (name) => (
                    <th key={name} scope="col" className="number">
                      {name}
                    </th>
                  ),
                )}
                <th scope="col">Failures</th>
                <th scope="col">
                  <span className="sr-only">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.endpoints.map(({ model_id: model, slug, protocol, health, price }) => (
                <tr key={`${model} ${slug} ${protocol}`}>
                  <td>
                    <span className="font-medium">{model}</span>
                    <p className="text-xs text-faint">{protocol}</p>
                  </td>
                  <td>
                    <HealthBadge health={health} />
                    {health.reason !== null && <p className="text-xs text-faint">{health.reason}</p>}
                  </td>
                  <td className="number">{count(health.running)}</td>
                  <td className="number">{duration(health.first_token_ms)}</td>
                  <td className="number">{duration(health.p95_first_token_ms)}</td>
                  <td className="number">
                    {health.tokens_per_second === null ? '–' : `${count(health.tokens_per_second)}/s`}
                  </td>
                  <td className="number">{share(health.success_rate)}</td>
                  <td className="number">{share(health.cache_hit_rate)}</td>
                  <td className="number">
                    {rate(price?.input)} / {rate(price?.output)}
                  </td>
                  <td className="text-sm text-soft">
                    {Object.entries(health.failures)
                      .map(([kind, number]) => `${kind} ${number.toFixed(1)}`)
                      .join(', ') || '–'}
                  </td>
                  <td className="text-right">
                    <Button
                      look="quiet"
                      busy={breaker.isPending}
                      aria-label={`${health.state === 'open' ? 'Take back' : 'Put aside'} ${model}`}
                      onClick={() =>
                        breaker.mutate({ state: health.state === 'open' ? 'closed' : 'open', model })
                      }
                    >
                      {health.state === 'open' ? 'Take back' : 'Put aside'}
                    </Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Card>
    </Page>
  );
}
