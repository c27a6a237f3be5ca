// Pages of the navigation in groups, with their shortcuts.
import type { IconName } from '../ui/icon.tsx';

interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Pressed after `g`. */
  readonly key: string;
  /** True: its address has a time range. */
  readonly isOverTime?: boolean;
  /** Prefix of addresses of single objects, if it differs from `to`. */
  readonly ofOne?: string;
}

export const GROUPS = [
  {
    name: 'Monitor',
    places: [
      { to: '/', label: 'Overview', icon: 'overview', key: 'o', isOverTime: true },
      { to: '/requests', label: 'Requests', icon: 'requests', key: 'r', isOverTime: true },
      { to: '/usage', label: 'Usage', icon: 'usage', key: 'u', isOverTime: true },
      { to: '/jobs', label: 'Jobs', icon: 'jobs', key: 'b' },
      { to: '/batches', label: 'Batches', icon: 'batches', key: 'h' },
    ],
  },
  {
    name: 'Build',
    places: [
      { to: '/playground', label: 'Playground', icon: 'playground', key: 'y' },
      { to: '/routing', label: 'Routing', icon: 'routing', key: 't' },
    ],
  },
  {
    name: 'Manage',
    places: [
      { to: '/providers', label: 'Providers', icon: 'providers', key: 'p' },
      { to: '/models', label: 'Models', icon: 'models', key: 'm', ofOne: '/model/' },
      { to: '/keys', label: 'Keys', icon: 'keys', key: 'k' },
    ],
  },
] as const satisfies readonly { readonly name: string; readonly places: readonly Place[] }[];

export const FOOT = [
  { to: '/alerts', label: 'Alerts', icon: 'alerts', key: 'a' },
  { to: '/settings', label: 'Settings', icon: 'settings', key: 's' },
] as const satisfies readonly Place[];

export const PLACES: readonly ((typeof GROUPS)[number]['places'][number] | (typeof FOOT)[number])[] = [
  ...GROUPS.flatMap(({ places }) => [...places]),
  ...FOOT,
];

/** Pages that a phone shows in its navigation bar, before "More". */
export const ON_PHONE: readonly string[] = ['/', '/requests', '/keys', '/alerts'];
