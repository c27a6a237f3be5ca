// The list of requests: live, narrowed by filters that are in the address, and as long as there are records.
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Problem } from '../ui/problem.tsx';
import { FilterBar } from './filter-bar.tsx';
import { RequestRows } from './request-rows.tsx';
import { useRequests } from './use-requests.ts';

const here = getRouteApi('/requests');

export function ListPage(): ReactNode {
  const filters = here.useSearch();
  const [isLive, setLive] = useState(true);
  const list = useRequests(filters, isLive);
  const isNarrowed = Object.keys(filters).length > 0;
  return (
    <Page
      title="Requests"
      about="What was asked, who answered, and what it came to."
      actions={
        <>
          <CopyButton text={location.href} label="Copy link" />
          <Button
            icon={isLive ? 'live' : 'pause'}
            aria-pressed={isLive}
            onClick={() => setLive(!isLive)}
            className={list.isHeard ? 'text-accent!' : 'text-soft!'}
          >
            {isLive ? 'Live' : 'Paused'}
          </Button>
        </>
      }
    >
      <FilterBar filters={filters} />
      {list.error && <Problem error={list.error} />}
      <Card flush className="mt-3">
        {list.isPending && <Waiting rows={10} />}
        {list.rows.length > 0 && (
          <RequestRows
            rows={list.rows}
            hasMore={list.hasMore}
            isFetching={list.isFetching}
            onMore={list.more}
          />
        )}
        {!list.isPending && !list.error && list.rows.length === 0 && (
          <Empty icon="requests" title={isNarrowed ? 'No request fits these filters' : 'No requests yet'}>
            {isNarrowed
              ? 'Take one of them off, or look further back.'
              : 'Send one in the playground, or point a program at this gateway. It shows up here by itself.'}
          </Empty>
        )}
      </Card>
    </Page>
  );
}
