// Layout of every page: navigation, tools in the heading, and keyboard shortcuts.
import { Link, Outlet, useNavigate, useRouterState, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState, type ReactNode } from 'react';
import { setLive, useIsAway, useIsReceiving, useIsLive } from '../api/events.ts';
import { AWAY_MS } from '../api/live.ts';
import { useRead } from '../api/queries.ts';
import { readRange, type RangeSearch } from '../time/range.ts';
import { RangePicker } from '../time/range-picker.tsx';
import { Button } from '../ui/button.tsx';
import { PageTools } from '../ui/card.tsx';
import { cx } from '../ui/cx.ts';
import { GUIDE } from '../ui/guide.tsx';
import { Icon } from '../ui/icon.tsx';
import { Mark } from '../ui/mark.tsx';
import { useHasToasts } from '../ui/toast.ts';
import { Account } from './account.tsx';
import { FOOT, GROUPS, ON_PHONE, type PLACES } from './places.ts';
import { useShortcuts } from './shortcuts.ts';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const ShortcutsDialog = lazy(async () => ({
  default: (await import('./shortcuts-dialog.tsx')).ShortcutsDialog,
}));
const MoreSheet = lazy(async () => ({ default: (await import('./more-sheet.tsx')).MoreSheet }));
const Toasts = lazy(async () => ({ default: (await import('../ui/toasts.tsx')).Toasts }));

/** Last time range, which links of the navigation to pages over time keep. */
let lastRange: RangeSearch = {};

export function Shell(): ReactNode {
  const search = useSearch({ strict: false });
  const range = readRange(search);
  const key = JSON.stringify(range);
  useEffect(() => {
    lastRange = JSON.parse(key) as RangeSearch;
  }, [key]);
  const [isPalette, setPalette] = useState(false);
  const [isHelp, setHelp] = useState(false);
  const hasToasts = useHasToasts();
  useShortcuts({ onPalette: () => setPalette(true), onHelp: () => setHelp(true), rangeOf: () => lastRange });
  const tools = useCallback(
    (isOverTime: boolean) => (
      <Tools
        isOverTime={isOverTime}
        range={JSON.parse(key) as RangeSearch}
        onSearch={() => setPalette(true)}
      />
    ),
    [key],
  );
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[13rem_minmax(0,1fr)]">
      <a
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('content')?.focus();
        }}
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-card focus:px-3 focus:py-2"
      >
        Skip to content
      </a>
      <header className="z-20 flex items-center gap-3 border-b bg-card px-4 py-2 md:sticky md:top-0 md:h-dvh md:flex-col md:items-stretch md:border-r md:border-b-0 md:px-3 md:py-4">
        <Link to="/" className="target flex items-center gap-2.5 rounded-md md:px-2">
          <Mark />
          <span className="text-base font-semibold tracking-tight">Dragoman</span>
        </Link>
        <nav
          aria-label="Pages"
          className="fixed inset-x-0 bottom-0 z-20 grid grid-cols-5 border-t bg-card md:static md:mt-3 md:flex md:flex-1 md:flex-col md:gap-4 md:overflow-y-auto md:border-0"
        >
          {GROUPS.map(({ name, places }) => (
            <div
              key={name}
              role="group"
              aria-label={name}
              className="contents md:flex md:flex-col md:gap-0.5"
            >
              <span aria-hidden="true" className="hidden px-2 pb-1 text-xs font-medium text-faint md:block">
                {name}
              </span>
              {places.map((place) => (
                <PlaceLink key={place.to} place={place} range={lastRange} />
              ))}
            </div>
          ))}
          <div className="contents md:mt-auto md:flex md:flex-col md:gap-0.5">
            {FOOT.map((place) => (
              <PlaceLink key={place.to} place={place} range={{}} />
            ))}
            <a href={GUIDE} target="_blank" rel="noreferrer" className={cx(PLACE, 'hidden')}>
              <Icon name="guide" />
              <span className="flex-1">Documentation</span>
            </a>
          </div>
          <MorePages />
        </nav>
        <Account />
      </header>
      <main id="main" tabIndex={-1} className="min-w-0 outline-none">
        <PageTools value={tools}>
          <Outlet />
        </PageTools>
      </main>
      <Suspense>
        {isPalette && <Palette onClose={() => setPalette(false)} />}
        {isHelp && <ShortcutsDialog onClose={() => setHelp(false)} />}
        {hasToasts && <Toasts />}
      </Suspense>
    </div>
  );
}

/** The "More" button on phones. Its sheet is loaded when first opened. */
function MorePages(): ReactNode {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <button
      type="button"
      aria-haspopup="dialog"
      onClick={() => setWanted(true)}
      className="flex flex-col items-center gap-0.5 px-1 py-1.5 text-xs text-soft md:hidden"
    >
      <Icon name="more" />
      More
    </button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <MoreSheet />
    </Suspense>
  ) : (
    button
  );
}

/** Look of a link in the navigation. */
const PLACE =
  'flex-col items-center gap-0.5 px-1 py-1.5 text-xs text-soft hover:text-ink data-[status=active]:text-ink md:flex md:min-h-8 md:flex-row md:gap-2.5 md:rounded-md md:px-2 md:py-1 md:text-sm md:hover:bg-sunk md:data-[status=active]:bg-sunk md:data-[status=active]:font-medium';

interface PlaceLinkProps {
  readonly place: (typeof PLACES)[number];
  readonly range: RangeSearch;
}

function PlaceLink({ place, range }: PlaceLinkProps): ReactNode {
  const { to, label, icon } = place;
  const isOfOne = useRouterState({
    select: ({ location }) => 'ofOne' in place && location.pathname.includes(place.ofOne),
  });
  return (
    <Link
      to={to}
      search={'isOverTime' in place ? range : {}}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      {...(isOfOne && { 'data-status': 'active', 'aria-current': 'page' })}
      className={cx(PLACE, ON_PHONE.includes(to) ? 'flex' : 'hidden')}
    >
      <Icon name={icon} />
      <span className="flex-1">{label}</span>
      {to === '/alerts' && <OpenAlerts />}
    </Link>
  );
}

/** Number of open alerts that are counted; more are shown as `99+`. */
const MOST_ALERTS = 99;

/** Number of open alerts, as on their page. */
function OpenAlerts(): ReactNode {
  const { data } = useRead(
    'GET /alerts',
    { query: { state: 'open', limit: MOST_ALERTS } },
    { pauseMs: 5_000 },
  );
  const open = data?.data.length ?? 0;
  if (open === 0) return null;
  return (
    <span className="figures absolute ml-10 rounded-full bg-bad-wash px-1.5 text-xs font-medium text-bad md:static md:ml-0">
      {open}
      {data?.has_more === true && '+'}
      <span className="sr-only"> open</span>
    </span>
  );
}

interface ToolsProps {
  readonly isOverTime: boolean;
  readonly range: RangeSearch;
  readonly onSearch: () => void;
}

const AWAY_WORDS = `Live events do not arrive, so pages are read every ${AWAY_MS / 1_000} seconds.`;
const PAUSED_WORDS = 'Live updates are paused. Click to resume.';

function Tools({ isOverTime, range, onSearch }: ToolsProps): ReactNode {
  const navigate = useNavigate();
  const isLive = useIsLive();
  const isReceiving = useIsReceiving();
  const isAway = useIsAway();
  const take = (next: RangeSearch): void =>
    void navigate({
      to: '.',
      search: (before: Record<string, unknown>) => {
        const { range: _, from: __, to: ___, ...rest } = before;
        return { ...rest, ...next };
      },
      replace: true,
    });
  return (
    <>
      <Button icon="search" onClick={onSearch} className="text-soft!">
        <span className="sr-only">Search </span>
        <kbd className="hidden font-sans text-xs text-faint sm:inline">Ctrl K</kbd>
      </Button>
      {isOverTime && <RangePicker value={range} onChange={take} />}
      <Button
        aria-pressed={isLive}
        title={isLive ? `${isAway ? AWAY_WORDS : 'Live updates are on.'} Click to pause.` : PAUSED_WORDS}
        onClick={() => setLive(!isLive)}
      >
        <span
          aria-hidden="true"
          className={cx('size-2 rounded-full', isLive && isReceiving ? 'bg-ok' : 'border border-edge')}
        />
        {isLive ? (isAway ? `Every ${AWAY_MS / 1_000} s` : 'Live') : 'Paused'}
      </Button>
    </>
  );
}
