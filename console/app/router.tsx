// Which page is at which address. Each page is fetched when somebody goes there.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type ErrorComponentProps,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readFilters } from '../requests/filters.ts';
import { Page, Waiting } from '../ui/card.tsx';
import { Problem } from '../ui/problem.tsx';
import { Shell } from './shell.tsx';

const root = createRootRoute({ component: Shell });

const routes = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    component: lazyRouteComponent(() => import('../overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/requests',
    validateSearch: readFilters,
    component: lazyRouteComponent(() => import('../requests/list-page.tsx'), 'ListPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/requests/$id',
    component: lazyRouteComponent(() => import('../requests/detail-page.tsx'), 'DetailPage'),
  }),
];

function Broken({ error }: ErrorComponentProps): ReactNode {
  return (
    <Page title="This page broke">
      <Problem error={error} />
    </Page>
  );
}

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Waiting rows={8} />,
  defaultErrorComponent: Broken,
  defaultNotFoundComponent: () => (
    <Page title="Nothing here">
      <p>There is no page at this address.</p>
    </Page>
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
