// Keys page: keys and projects with their spend and budget use.
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import type { Query } from '../api/client.ts';
import { useList, useRead } from '../api/queries.ts';
import { useSettled } from '../api/use-settled.ts';
import { counted } from '../format/numbers.ts';
import { KEY_STATES } from '../format/states.ts';
import { Button } from '../ui/button.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Choice } from '../ui/choice.tsx';
import { More } from '../ui/more.tsx';
import { readOrder } from '../ui/order.ts';
import { Problem } from '../ui/problem.tsx';
import { KeyDialog, type KeyAction } from './key-dialog.tsx';
import { KeysTable } from './keys-table.tsx';
import { ProjectDialog, type Project } from './project-dialog.tsx';
import { ProjectsCard } from './projects-card.tsx';

const here = getRouteApi('/keys');

export function KeysPage(): ReactNode {
  const { project, view = 'keys' } = here.useSearch();
  const navigate = here.useNavigate();
  const [action, setAction] = useState<KeyAction | null>(null);
  /** The project in the dialog. `null`: a new one; undefined: the dialog is closed. */
  const [edited, setEdited] = useState<Project | null | undefined>(undefined);
  const [made, setMade] = useState<string | null>(null);
  const isKeys = view !== 'projects';
  return (
    <Page
      title="Keys"
      actions={
        isKeys ? (
          <Button look="primary" icon="plus" onClick={() => setAction({ type: 'create', project })}>
            New key
          </Button>
        ) : (
          <Button look="primary" icon="plus" onClick={() => setEdited(null)}>
            New project
          </Button>
        )
      }
    >
      <div role="group" aria-label="View" className="mb-3 inline-flex rounded-md border bg-card p-0.5">
        {(
          [
            ['keys', 'Keys'],
            ['projects', 'Projects'],
          ] as const
        ).map(([id, label]) => (
          <button
            key={id}
            type="button"
            aria-pressed={(id === 'keys') === isKeys}
            onClick={() => void navigate({ search: id === 'keys' ? {} : { view: id }, replace: true })}
            className={`target min-h-7 rounded px-3 font-medium ${(id === 'keys') === isKeys ? 'bg-sunk text-ink' : 'text-soft hover:text-ink'}`}
          >
            {label}
          </button>
        ))}
      </div>
      {isKeys ? <KeyList made={made} onAction={setAction} /> : <ProjectsCard onChange={setEdited} />}
      {action && <KeyDialog action={action} onMade={setMade} onClose={() => setAction(null)} />}
      {edited !== undefined && <ProjectDialog project={edited} onClose={() => setEdited(undefined)} />}
    </Page>
  );
}

interface KeyListProps {
  /** Id of the key that was just created. It is listed first and highlighted. */
  readonly made: string | null;
  readonly onAction: (action: KeyAction) => void;
}

function KeyList({ made, onAction }: KeyListProps): ReactNode {
  const { project, state, search = '', order = '' } = here.useSearch();
  const navigate = here.useNavigate();
  const [text, setText] = useState(search);
  const settled = useSettled(text.trim());
  const show = (changes: Readonly<Record<string, string | undefined>>): void =>
    void navigate({
      search: (before) =>
        Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value)),
      replace: true,
    });
  useEffect(() => {
    if (settled !== search) show({ search: settled });
  });
  const { by, isDescending } = readOrder(order);
  const query: Omit<Query<'GET /keys'>, 'after' | 'limit'> = {
    project,
    state,
    search: search || undefined,
    ...(by !== '' && {
      order_by: by as NonNullable<Query<'GET /keys'>['order_by']>,
      order: isDescending ? ('desc' as const) : ('asc' as const),
    }),
  };
  const keys = useList('GET /keys', query, { pauseMs: 2_000 });
  const projects = useRead('GET /projects', { query: { limit: 100 } });
  const mine = useRead('GET /keys', { query: { id: made ?? '' } }, { when: made !== null, pauseMs: 2_000 });
  const first = made === null ? [] : (mine.data?.data ?? []);
  const rows = keys.rows && [...first, ...keys.rows.filter(({ id }) => id !== made)];
  const isNarrowed = [project, state, search || undefined].some((each) => each !== undefined);
  return (
    <>
      <search className="mb-3 flex flex-wrap items-center gap-2">
        <input
          className="field max-w-64"
          type="search"
          aria-label="Name or last four characters"
          placeholder="Name or last four characters"
          data-search
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Choice
          label="State"
          value={state ?? ''}
          options={[
            ['', 'All states'],
            ...Object.entries(KEY_STATES).map(([id, { word }]) => [id, word] as const),
          ]}
          onChange={(next) => show({ state: next })}
        />
        <Choice
          label="Project"
          value={project ?? ''}
          options={[['', 'All projects'], ...(projects.data?.data ?? []).map(({ id }) => [id, id] as const)]}
          onChange={(next) => show({ project: next })}
        />
        <span className="figures ml-auto text-soft">
          {rows && (keys.hasMore ? `Showing the first ${rows.length}` : counted(rows.length, 'key'))}
        </span>
      </search>
      <Card flush>
        {!rows && !keys.error && <Waiting rows={8} />}
        {keys.error && <Problem error={keys.error} />}
        {rows?.length === 0 && (
          <Empty icon="keys" title={isNarrowed ? 'No keys match these filters' : 'No keys yet'}>
            {isNarrowed ? (
              <Button
                onClick={() => {
                  setText('');
                  void navigate({ search: {}, replace: true });
                }}
              >
                Show all keys
              </Button>
            ) : (
              <Button look="primary" onClick={() => onAction({ type: 'create', project })}>
                New key
              </Button>
            )}
          </Empty>
        )}
        {rows && rows.length > 0 && (
          <KeysTable
            keys={rows}
            made={made}
            order={order}
            onOrder={(next) => show({ order: next })}
            onAction={onAction}
          />
        )}
        <More list={keys} />
      </Card>
    </>
  );
}
