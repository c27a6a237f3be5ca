// One request on its own page, with the same details as the panel.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { Card, Page, Waiting } from '../ui/card.tsx';
import { Problem } from '../ui/problem.tsx';
import { Actions } from './actions.tsx';
import { Detail } from './detail.tsx';

const here = getRouteApi('/requests/$id');

export function DetailPage(): ReactNode {
  const { id } = here.useParams();
  const { view } = here.useSearch();
  const navigate = here.useNavigate();
  const { data, error } = useRead('GET /generations/{id}', { params: { id } });
  return (
    <Page
      title={data ? (data.model ?? data.requested_model) : 'Request'}
      before={
        <Link to="/requests" className="link target inline-flex items-center">
          Requests
        </Link>
      }
      actions={data && <Actions generation={data} />}
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
      {data && (
        <Card>
          <Detail
            generation={data}
            view={view}
            onView={(next) => void navigate({ search: { view: next }, replace: true })}
            isWide
          />
        </Card>
      )}
    </Page>
  );
}
