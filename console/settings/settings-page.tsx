// Settings page: theme, effective configuration without secrets, sessions, audit log and version.
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useList, useRead } from '../api/queries.ts';
import { chooseTheme, chosenTheme, THEMES, type Theme } from '../session/theme.ts';
import { fullTime } from '../format/times.ts';
import { Card, Page, Waiting } from '../ui/card.tsx';
import { Facts } from '../ui/facts.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Sessions } from './sessions.tsx';

const here = getRouteApi('/settings');

export function SettingsPage(): ReactNode {
  const { view = 'general' } = here.useSearch();
  const navigate = here.useNavigate();
  return (
    <Page title="Settings">
      <Card flush>
        <Tabs
          label="Settings"
          value={view}
          onChange={(next) =>
            void navigate({ search: next === 'general' ? {} : { view: next }, replace: true })
          }
          tabs={[
            { id: 'general', label: 'General', content: <General /> },
            { id: 'configuration', label: 'Configuration', content: <Configuration /> },
            { id: 'sessions', label: 'Sessions', content: <Sessions /> },
            { id: 'audit', label: 'Audit log', content: <Audit /> },
          ]}
        />
      </Card>
    </Page>
  );
}

const ICONS: Readonly<Record<Theme, IconName>> = { system: 'screen', light: 'sun', dark: 'moon' };
const NAMES: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };

function General(): ReactNode {
  const [theme, setTheme] = useState(chosenTheme);
  const about = useRead('GET /about');
  return (
    <div className="flex flex-col gap-6">
      <section aria-labelledby="theme">
        <h2 id="theme" className="mb-2 text-lg font-semibold">
          Theme
        </h2>
        <div role="group" aria-label="Theme" className="inline-flex rounded-md border bg-card p-0.5">
          {THEMES.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={theme === each}
              onClick={() => {
                chooseTheme(each);
                setTheme(each);
              }}
              className={`target inline-flex min-h-8 items-center gap-2 rounded px-3 font-medium ${theme === each ? 'bg-sunk text-ink' : 'text-soft hover:text-ink'}`}
            >
              <Icon name={ICONS[each]} size={14} /> {NAMES[each]}
            </button>
          ))}
        </div>
      </section>
      <section aria-labelledby="gateway">
        <h2 id="gateway" className="mb-2 text-lg font-semibold">
          Gateway
        </h2>
        {about.error && <Problem error={about.error} />}
        {about.data && (
          <Facts
            facts={[
              ['Version', about.data.version],
              ['Days begin at midnight in', about.data.timezone],
              ['Address', location.origin],
            ]}
          />
        )}
      </section>
    </div>
  );
}

function Configuration(): ReactNode {
  const { data, error } = useRead('GET /config');
  if (error) return <Problem error={error} />;
  if (!data) return <Waiting rows={8} />;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-soft">
        {data.path === null ? 'No file: only defaults and environment variables.' : data.path}, revision{' '}
        {data.revision}. Secrets are masked.
      </p>
      <JsonTree
        value={data.config}
        text={JSON.stringify(data.config, null, 2)}
        label="Current configuration"
      />
    </div>
  );
}

type Entry = Answer<'GET /audit'>['data'][number];

function Audit(): ReactNode {
  const list = useList('GET /audit', {}, { pauseMs: 5_000 });
  if (list.error) return <Problem error={list.error} />;
  if (!list.rows) return <Waiting rows={8} />;
  if (list.rows.length === 0) return <p className="text-soft">No changes yet.</p>;
  return (
    <div className="-m-4">
      <Table
        label="Audit log"
        rows={list.rows}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'When',
            className: 'whitespace-nowrap',
            cell: ({ created_at: at }) => <span className="figures">{fullTime(at)}</span>,
          },
          { name: 'Who', cell: ({ actor }) => actor.name },
          { name: 'What', cell: ({ action }) => action },
          {
            name: 'Of',
            className: 'break-all',
            cell: (entry) => <Target entry={entry} />,
          },
          { name: 'Change', className: 'break-words', cell: (entry) => <Change entry={entry} /> },
        ]}
      />
      <More list={list} />
    </div>
  );
}

/** Name, if there is one, and id of the changed object. */
function Target({ entry: { target, before, after } }: { readonly entry: Entry }): ReactNode {
  const name = after?.['name'] ?? before?.['name'];
  return (
    <>
      {typeof name === 'string' && name !== target && <span>{name} </span>}
      <code className="font-mono text-xs text-faint">{target}</code>
    </>
  );
}

/** Members that differ, before and after. */
function Change({ entry: { before, after } }: { readonly entry: Entry }): ReactNode {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (name) =>
      !['version', 'updated_at'].includes(name) &&
      JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]),
  );
  if (!before || !after || names.length === 0) return null;
  return (
    <ul className="text-xs">
      {names.slice(0, 6).map((name) => (
        <li key={name}>
          {name}: <span className="text-soft">{written(before[name])}</span> → {written(after[name])}
        </li>
      ))}
    </ul>
  );
}

function written(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
