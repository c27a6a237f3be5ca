// Projects and keys: what there is, what of limits and budgets is left, and when it runs out at this pace.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useList } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { KeyDialog, type KeyAction } from './key-dialog.tsx';
import { KeysTable } from './keys-table.tsx';
import { LimitsCard } from './limits-card.tsx';
import { ProjectDialog, type Project } from './project-dialog.tsx';
import { ProjectsCard } from './projects-card.tsx';

const here = getRouteApi('/keys');

export function KeysPage(): ReactNode {
  const { project } = here.useSearch();
  const keys = useList('GET /keys', { project }, { pauseMs: 2_000 });
  const [action, setAction] = useState<KeyAction | null>(null);
  /** Null: a new one; undefined: none. */
  const [edited, setEdited] = useState<Project | null | undefined>(undefined);
  return (
    <Page
      title="Projects and keys"
      about="Who may ask, for how much, and what of it is left."
      actions={
        <>
          <Button icon="plus" onClick={() => setEdited(null)}>
            New project
          </Button>
          <Button look="primary" icon="plus" onClick={() => setAction({ type: 'create', project })}>
            New key
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <LimitsCard />
        <ProjectsCard selected={project} onChange={setEdited} />
        <Card
          flush
          title={project === undefined ? 'Keys' : `Keys of ${project}`}
          aside={
            project !== undefined && (
              <Link to="/keys" search={{}} className="text-sm text-accent hover:underline">
                Show all
              </Link>
            )
          }
        >
          {!keys.rows && !keys.error && <Waiting />}
          {keys.error && <Problem error={keys.error} />}
          {keys.rows?.length === 0 && (
            <Empty icon="keys" title="No keys here yet">
              Make one for each program that asks, so that each can be limited, followed and revoked alone.
            </Empty>
          )}
          {keys.rows && keys.rows.length > 0 && <KeysTable keys={keys.rows} onAction={setAction} />}
          <More list={keys} />
        </Card>
      </div>
      {action && <KeyDialog action={action} onClose={() => setAction(null)} />}
      {edited !== undefined && <ProjectDialog project={edited} onClose={() => setEdited(undefined)} />}
    </Page>
  );
}
