// The projects, one in a line: whose keys are shown, what it may use, and taking it out of use.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useList } from '../api/queries.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table } from '../ui/table.tsx';
import type { Project } from './project-dialog.tsx';

interface ProjectsCardProps {
  /** The one whose keys are shown; undefined: those of all. */
  readonly selected: string | undefined;
  readonly onChange: (project: Project) => void;
}

export function ProjectsCard({ selected, onChange }: ProjectsCardProps): ReactNode {
  const list = useList('GET /projects', {}, { pauseMs: 2_000 });
  const queries = useQueryClient();
  const move = useMutation({
    mutationFn: ({ id, to }: { id: string; to: 'archive' | 'restore' }) =>
      ask(`POST /projects/{id}/${to}`, { params: { id } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['GET /projects'] }),
  });
  if (!list.rows || list.rows.length === 0) return null;
  return (
    <Card title="Projects" flush>
      {move.error && <Problem error={move.error} />}
      <Table
        label="Projects"
        rows={list.rows}
        keyOf={({ id }) => id}
        isCurrent={({ id }) => id === selected}
        columns={[
          {
            name: 'Name',
            cell: ({ id }) => (
              <Link to="/keys" search={{ project: id }} className="font-medium hover:underline">
                {id}
              </Link>
            ),
          },
          {
            name: 'State',
            cell: ({ state }) => <Badge tone={state === 'active' ? 'good' : 'calm'}>{state}</Badge>,
          },
          {
            name: 'Requests',
            unnamed: true,
            cell: ({ id }) => (
              <Link to="/requests" search={{ project: id }} className="text-accent hover:underline">
                Its requests
              </Link>
            ),
          },
          {
            name: 'Actions',
            unnamed: true,
            className: 'text-right whitespace-nowrap',
            cell: (project) =>
              project.source === 'file' ? (
                <span className="text-faint">in the file</span>
              ) : (
                <Actions
                  of={project}
                  busy={move.isPending}
                  onChange={() => onChange(project)}
                  onMove={(to) => move.mutate({ id: project.id, to })}
                />
              ),
          },
        ]}
      />
      <More list={list} />
    </Card>
  );
}

interface ActionsProps {
  readonly of: Project;
  readonly busy: boolean;
  readonly onChange: () => void;
  readonly onMove: (to: 'archive' | 'restore') => void;
}

function Actions({ of: { id, state }, busy, onChange, onMove }: ActionsProps): ReactNode {
  const isActive = state === 'active';
  return (
    <div className="-my-1 -mr-3 flex justify-end">
      {isActive && (
        <Button look="quiet" aria-label={`Change ${id}`} onClick={onChange}>
          Change
        </Button>
      )}
      <Button
        look="quiet"
        busy={busy}
        aria-label={`${isActive ? 'Archive' : 'Restore'} ${id}`}
        onClick={() => onMove(isActive ? 'archive' : 'restore')}
      >
        {isActive ? 'Archive' : 'Restore'}
      </Button>
    </div>
  );
}
