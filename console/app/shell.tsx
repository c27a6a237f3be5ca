// The frame of every page: where one can go, who is signed in, and light or dark.
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { signOut } from '../api/client.ts';
import { sessionQuery } from '../api/queries.ts';
import { chooseTheme, chosenTheme, THEMES, type Theme } from '../session/theme.ts';
import { Button } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Mark } from '../ui/mark.tsx';

const PLACES = [
  { to: '/', label: 'Overview', short: 'Overview', icon: 'overview' },
  { to: '/requests', label: 'Requests', short: 'Requests', icon: 'requests' },
  { to: '/playground', label: 'Playground', short: 'Play', icon: 'playground' },
  { to: '/models', label: 'Models and providers', short: 'Models', icon: 'models' },
  { to: '/keys', label: 'Projects and keys', short: 'Keys', icon: 'keys' },
  { to: '/routing', label: 'Routing', short: 'Routing', icon: 'routing' },
] as const satisfies readonly { to: string; label: string; short: string; icon: IconName }[];

export function Shell(): ReactNode {
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[15rem_1fr]">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-card focus:px-3 focus:py-2"
      >
        Skip to the page
      </a>
      <header className="sticky top-0 z-20 flex items-center justify-between gap-3 border-b bg-card px-4 py-2 md:h-dvh md:flex-col md:items-stretch md:border-r md:border-b-0 md:px-3 md:py-4">
        <Link to="/" className="flex items-center gap-2.5 rounded-md md:px-2">
          <Mark />
          <span className="font-semibold tracking-tight">Dragoman</span>
        </Link>
        <nav
          aria-label="Pages"
          className="fixed inset-x-0 bottom-0 z-20 grid grid-cols-6 border-t bg-card md:static md:mt-4 md:flex md:flex-1 md:flex-col md:gap-0.5 md:border-0"
        >
          {PLACES.map(({ to, label, short, icon }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              className="flex flex-col items-center gap-0.5 px-1 py-2 text-xs text-soft hover:text-ink data-[status=active]:text-accent md:flex-row md:gap-2.5 md:rounded-md md:px-2 md:py-1.5 md:text-base md:hover:bg-sunk md:data-[status=active]:bg-wash md:data-[status=active]:font-medium"
            >
              <Icon name={icon} size={18} />
              <span className="md:hidden">{short}</span>
              <span className="hidden md:inline">{label}</span>
            </Link>
          ))}
        </nav>
        <Account />
      </header>
      <main id="main" tabIndex={-1} className="min-w-0 outline-none">
        <Outlet />
      </main>
    </div>
  );
}

const THEME_ICONS: Readonly<Record<Theme, IconName>> = { system: 'screen', light: 'sun', dark: 'moon' };

function Account(): ReactNode {
  const { data } = useSuspenseQuery(sessionQuery);
  const [theme, setTheme] = useState(chosenTheme);
  const queries = useQueryClient();
  const choose = (next: Theme): void => {
    chooseTheme(next);
    setTheme(next);
  };
  const leave = (): void => {
    // First: what the pages still ask and hear would be refused without a session.
    queries.setQueryData(sessionQuery.queryKey, { signed_in: false });
    // What was read belongs to who was signed in.
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
    void signOut().catch(() => queries.invalidateQueries({ queryKey: sessionQuery.queryKey }));
  };
  return (
    <div className="flex items-center gap-1 md:flex-col md:items-stretch md:gap-2 md:border-t md:pt-3">
      <div role="group" aria-label="Theme" className="flex rounded-md border bg-sunk p-0.5">
        {THEMES.map((each) => (
          <button
            key={each}
            type="button"
            aria-label={`Theme: ${each}`}
            aria-pressed={theme === each}
            onClick={() => choose(each)}
            className="flex flex-1 justify-center rounded px-1.5 py-1 text-faint aria-pressed:bg-card aria-pressed:text-ink"
          >
            <Icon name={THEME_ICONS[each]} size={14} />
          </button>
        ))}
      </div>
      <div className="flex min-w-0 items-center justify-between gap-1 md:pl-2">
        <span className="hidden truncate text-sm text-soft md:inline" title={data.actor?.id}>
          {data.actor?.name}
        </span>
        <Button look="quiet" icon="leave" aria-label="Sign out" onClick={leave} />
      </div>
    </div>
  );
}
