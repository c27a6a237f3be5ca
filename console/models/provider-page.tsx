// One provider: every endpoint with its health, putting it aside by hand, and what doctor found.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { counted } from '../format/numbers.ts';
import { Button } from '../ui/button.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Problem } from '../ui/problem.tsx';
import { DoctorCard } from './doctor-card.tsx';
import { EndpointsTable } from './endpoints-table.tsx';

const here = getRouteApi('/models/$provider');

export function ProviderPage(): ReactNode {
  const { provider: id } = here.useParams();
  const { data, error } = useRead('GET /providers/{id}', { params: { id } }, { pauseMs: 2_000 });
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
      about={data && `${counted(data.models, 'model')} over ${data.protocols.join(', ') || 'no protocol'}`}
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
      <div className="flex flex-col gap-4">
        <Card flush title="Endpoints">
          {!data && !error && <Waiting />}
          {data?.endpoints.length === 0 && <Empty icon="models" title="No endpoint is listed or was asked" />}
          {data && data.endpoints.length > 0 && (
            <EndpointsTable endpoints={data.endpoints} busy={breaker.isPending} onMove={breaker.mutate} />
          )}
        </Card>
        <DoctorCard provider={id} />
      </div>
    </Page>
  );
}
