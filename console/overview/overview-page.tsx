// The first page.
import type { ReactNode } from 'react';
import { Page } from '../ui/card.tsx';

export function OverviewPage(): ReactNode {
  return <Page title="Overview">{null}</Page>;
}
