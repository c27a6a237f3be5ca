// Table of projects: spend of this month, budget use, and disabling.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ask, type Answer } from '../api/client.ts';
import { useList, useRead } from '../api/queries.ts';
import { field } from '../api/sums.ts';
import { count, share } from '../format/numbers.ts';
import { useSpan } from '../time/use-span.ts';
import { Card, Empty, Waiting } from '../ui/card.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { Money } from '../ui/money.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { UsedBar } from '../ui/spark.tsx';
import { Signal } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.ts';
import { When } from '../ui/when.tsx';
import { shortLimit } from './key-texts.ts';
import type { Project } from './project-dialog.tsx';

type LimitUsage = Answer<'GET /limits'>['data'][number]['limits'][number];

export function ProjectsCard({ onChange }: { readonly onChange: (project: Project) => void }): ReactNode {
  const list = useList('GET /projects', {}, { pauseMs: 2_000 });
  const limits = useRead('GET /limits', { query: { kind: 'project', limit: 100 } }, { pauseMs: 2_000 });
  const { times } = useSpan({ range: 'month' });
  const usage = useRead(
    'GET /usage',
    { query: { from: times.from, group_by: 'project', columns: 'requests,usd,unpriced_requests' } },
    { pauseMs: 15_000 },
  );
  const queries = useQueryClient();
  const move = useMutation({
    mutationFn: ({ id, to }: { id: string; to: 'archive' | 'restore' }) =>
      ask(`POST /projects/{id}/${to}`, { params: { id } }),
    onSuccess: async (_, { id, to }) => {
      await queries.invalidateQueries({
        predicate: ({ queryKey }) => /\/(projects|keys)/.test(String(queryKey[0])),
      });
      const back = to === 'archive' ? 'restore' : 'archive';
      toast({ title: `${id} was ${to}d`, undo: () => move.mutate({ id, to: back }) });
    },
  });
  const row = (id: string): Parameters<ReturnType<typeof field>>[0] | undefined =>
    usage.data?.data.find((each) => each.project === id);
  const tightest = (id: string): LimitUsage | undefined =>
    limits.data?.data
      .find(({ owner }) => owner.id === id)
      ?.limits.toSorted((a, b) => partOf(b) - partOf(a))[0];
  return (
    <Card flush>
      {(move.error ?? list.error) && <Problem error={move.error ?? list.error} />}
      {!list.rows && !list.error && <Waiting rows={4} />}
      {list.rows?.length === 0 && (
        <Empty icon="keys" title="No projects yet">
          Keys of a project share stored data and a budget. Create one with “New project”.
        </Empty>
      )}
      {list.rows && list.rows.length > 0 && (
        <Table
          label="Projects"
          rows={list.rows}
          keyOf={({ id }) => id}
          columns={[
            {
              name: 'Name',
              className: 'min-w-[24ch] wrap-anywhere',
              cell: ({ id, source }) => (
                <span className="flex items-center gap-2">
                  <Link to="/keys" search={{ project: id }} data-row className="row-link font-medium">
                    {id}
                  </Link>
                  {source === 'file' && (
                    <span className="text-faint" title="Defined in dragoman.yaml">
                      <Icon name="lock" size={12} />
                      <span className="sr-only">Defined in dragoman.yaml</span>
                    </span>
                  )}
                </span>
              ),
            },
            {
              name: 'State',
              cell: ({ state }) =>
                state === 'active' ? (
                  <Signal tone="quiet" icon="good">
                    Active
                  </Signal>
                ) : (
                  <Signal tone="idle" icon="disabled">
                    Archived
                  </Signal>
                ),
            },
            {
              name: 'Spent this month',
              number: true,
              cell: ({ id }) => {
                const sums = row(id);
                return sums ? (
                  <Money value={field('usd')(sums)} unpriced={field('unpriced_requests')(sums)} />
                ) : (
                  '$0'
                );
              },
            },
            {
              name: 'Requests',
              number: true,
              cell: ({ id }) => {
                const sums = row(id);
                return sums ? count(field('requests')(sums)) : '0';
              },
            },
            { name: 'Budget', cell: ({ id }) => <Used limitUsage={tightest(id)} /> },
            {
              name: 'Actions',
              unnamed: true,
              className: 'w-12 text-right',
              cell: (project) =>
                project.source === 'database' && (
                  <span className="-my-1 inline-block">
                    <Menu
                      label={`Actions for ${project.id}`}
                      entries={
                        project.state === 'active'
                          ? [
                              { label: 'Change…', icon: 'settings', onSelect: () => onChange(project) },
                              {
                                label: 'Archive',
                                icon: 'disabled',
                                onSelect: () => move.mutate({ id: project.id, to: 'archive' }),
                              },
                            ]
                          : [
                              {
                                label: 'Restore',
                                icon: 'rotate',
                                onSelect: () => move.mutate({ id: project.id, to: 'restore' }),
                              },
                            ]
                      }
                    />
                  </span>
                ),
            },
          ]}
        />
      )}
      <More list={list} />
    </Card>
  );
}

function partOf({ used, remaining }: LimitUsage): number {
  return used / Math.max(1e-9, used + remaining);
}

function Used({ limitUsage }: { readonly limitUsage: LimitUsage | undefined }): ReactNode {
  if (!limitUsage) return <span className="text-faint">None</span>;
  const part = partOf(limitUsage);
  const text = shortLimit(limitUsage.text);
  return (
    <span className="inline-flex items-center gap-2 align-top md:whitespace-nowrap">
      <UsedBar part={part} />
      <span className="figures">
        {part >= 1 && limitUsage.clears_at !== null ? (
          <>
            {text}, resets <When at={limitUsage.clears_at} as="ahead" />
          </>
        ) : limitUsage.used > 0 ? (
          `${share(part)} of ${text}`
        ) : (
          text
        )}
      </span>
    </span>
  );
}
