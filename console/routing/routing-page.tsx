// Routing page: explains the decision for a request, and estimates recorded traffic under other rules.
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Card, Page } from '../ui/card.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Explain } from './explain.tsx';
import { WhatIf } from './what-if.tsx';

const here = getRouteApi('/routing');

export function RoutingPage(): ReactNode {
  const { view = 'explain' } = here.useSearch();
  const navigate = here.useNavigate();
  return (
    <Page title="Routing">
      <Card flush>
        <Tabs
          label="Routing"
          value={view === 'what-if' ? view : 'explain'}
          onChange={(next) =>
            void navigate({ search: next === 'explain' ? {} : { view: next }, replace: true })
          }
          tabs={[
            { id: 'explain', label: 'Explain routing', content: <Explain /> },
            { id: 'what-if', label: 'What if?', content: <WhatIf /> },
          ]}
        />
      </Card>
    </Page>
  );
}
