// One request.
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { Page, Waiting } from '../ui/card.tsx';
import { Problem } from '../ui/problem.tsx';

const here = getRouteApi('/requests/$id');

export function DetailPage(): ReactNode {
  const { id } = here.useParams();
  const { data, error } = useRead('GET /generations/{id}', { params: { id } });
  return (
    <Page title={data?.model ?? 'Request'} about={<code className="font-mono">{id}</code>}>
      {error && <Problem error={error} />}
      {!data && !error && <Waiting />}
    </Page>
  );
}
