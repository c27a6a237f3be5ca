// Routes of the console. Each page is loaded on its first visit.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  type ErrorComponentProps,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readView } from '../overview/view.ts';
import { readFilters } from '../requests/filters.ts';
import { readPivot } from '../usage/view.ts';
import { Page, Waiting } from '../ui/card.tsx';
import { Problem } from '../ui/problem.tsx';
import { textsOf } from './search.ts';
import { Shell } from './shell.tsx';

const root = createRootRoute({ component: Shell });

const routes = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    validateSearch: readView,
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
    validateSearch: textsOf('view'),
    component: lazyRouteComponent(() => import('../requests/detail-page.tsx'), 'DetailPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/playground',
    validateSearch: textsOf('model', 'protocol', 'model2', 'protocol2', 'request'),
    component: lazyRouteComponent(() => import('../playground/playground-page.tsx'), 'PlaygroundPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/models',
    validateSearch: textsOf('search', 'provider', 'order'),
    component: lazyRouteComponent(() => import('../models/models-page.tsx'), 'ModelsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/model/$',
    component: lazyRouteComponent(() => import('../models/model-page.tsx'), 'ModelPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/providers',
    validateSearch: textsOf('order'),
    component: lazyRouteComponent(() => import('../providers/list-page.tsx'), 'ProvidersPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/providers/$provider',
    component: lazyRouteComponent(() => import('../providers/provider-page.tsx'), 'ProviderPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/usage',
    validateSearch: readPivot,
    component: lazyRouteComponent(() => import('../usage/usage-page.tsx'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/jobs',
    validateSearch: textsOf('state', 'kind'),
    component: lazyRouteComponent(() => import('../jobs/jobs-page.tsx'), 'JobsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/batches',
    validateSearch: textsOf('status'),
    component: lazyRouteComponent(() => import('../batches/batches-page.tsx'), 'BatchesPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/batches/$id',
    component: lazyRouteComponent(() => import('../batches/batch-page.tsx'), 'BatchPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/alerts',
    validateSearch: textsOf('state'),
    component: lazyRouteComponent(() => import('../alerts/alerts-page.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings',
    validateSearch: textsOf('view'),
    component: lazyRouteComponent(() => import('../settings/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/keys',
    validateSearch: textsOf('project', 'state', 'search', 'order', 'view'),
    component: lazyRouteComponent(() => import('../keys/keys-page.tsx'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/keys/$id',
    component: lazyRouteComponent(() => import('../keys/key-page.tsx'), 'KeyPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/routing',
    validateSearch: textsOf('view'),
    component: lazyRouteComponent(() => import('../routing/routing-page.tsx'), 'RoutingPage'),
  }),
];

function Broken({ error }: ErrorComponentProps): ReactNode {
  return (
    <Page title="This page failed to load">
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
    <Page title="Page not found">
      <p>
        The console has no page at this address.{' '}
        <Link to="/" className="text-accent underline">
          Go to the overview
        </Link>
      </p>
    </Page>
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
