// Projects and keys: what there is, what of limits and budgets is left, and when it runs out at this pace.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { ask, type Answer } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { ago, fullTime } from '../format/times.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Problem } from '../ui/problem.tsx';
import { KeyDialog, type KeyAction } from './key-dialog.tsx';
import { LimitsCard } from './limits-card.tsx';
import { ProjectDialog } from './project-dialog.tsx';

export type Key = Answer<'GET /keys'>['data'][number];

const here = getRouteApi('/keys');
const PAGE = 100;

export function KeysPage(): ReactNode {
  const { project } = here.useSearch();
  const keys = useRead('GET /keys', { query: { limit: PAGE, project } });
  const [action, setAction] = useState<KeyAction | null>(null);
  const [isMaking, setMaking] = useState(false);
  return (
    <Page
      title="Projects and keys"
      about="Who may ask, for how much, and what of it is left."
      actions={
        <>
          <Button icon="plus" onClick={() => setMaking(true)}>
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
        <Projects selected={project} />
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
          {keys.isPending && <Waiting />}
          {keys.error && <Problem error={keys.error} />}
          {keys.data?.data.length === 0 && (
            <Empty icon="keys" title="No keys here yet">
              Make one for each program that asks, so that each can be limited, followed and revoked alone.
            </Empty>
          )}
          {keys.data && keys.data.data.length > 0 && <Keys keys={keys.data.data} onAction={setAction} />}
        </Card>
      </div>
      {action && <KeyDialog action={action} onClose={() => setAction(null)} />}
      {isMaking && <ProjectDialog onClose={() => setMaking(false)} />}
    </Page>
  );
}

function Projects({ selected }: { readonly selected: string | undefined }): ReactNode {
  const { data } = useRead('GET /projects', { query: { limit: PAGE } });
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: ({ name, to }: { name: string; to: 'archive' | 'restore' }) =>
      ask(`POST /projects/{id}/${to}`, { params: { id: name } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['GET /projects'] }),
  });
  if (!data || data.data.length === 0) return null;
  return (
    <Card title="Projects" flush>
      {change.error && <Problem error={change.error} />}
      <table className="table">
        <tbody>
          {data.data.map(({ id, state, source }) => (
            <tr key={id} aria-current={id === selected}>
              <td>
                <Link to="/keys" search={{ project: id }} className="font-medium hover:underline">
                  {id}
                </Link>
              </td>
              <td>
                <Badge tone={state === 'active' ? 'good' : 'calm'}>{state}</Badge>
              </td>
              <td>
                <Link to="/requests" search={{ project: id }} className="text-accent hover:underline">
                  Requests
                </Link>
              </td>
              <td className="number">
                {source === 'file' ? (
                  <span className="text-faint">in the file</span>
                ) : (
                  <Button
                    look="quiet"
                    busy={change.isPending}
                    onClick={() =>
                      change.mutate({ name: id, to: state === 'active' ? 'archive' : 'restore' })
                    }
                  >
                    {state === 'active' ? 'Archive' : 'Restore'}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

interface KeysProps {
  readonly keys: readonly Key[];
  readonly onAction: (action: KeyAction) => void;
}

const TONES = { active: 'good', expired: 'warn', revoked: 'calm' } as const;

function Keys({ keys, onAction }: KeysProps): ReactNode {
  return (
    <table className="table">
      <thead>
        <tr>
          {['Name', 'State', 'Project', 'May', 'Key', 'Expires'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
          <th scope="col">
            <span className="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={key.id}>
            <td className="max-w-48 break-words">
              <Link to="/requests" search={{ key: key.id }} className="font-medium hover:underline">
                {key.name}
              </Link>
            </td>
            <td>
              <Badge tone={TONES[key.state]}>{key.state}</Badge>
            </td>
            <td>{key.project ?? <span className="text-faint">its own</span>}</td>
            <td>
              {key.roles.join(', ')}
              {key.models && <p className="text-xs break-words text-faint">{key.models.join(', ')}</p>}
            </td>
            <td className="font-mono text-xs">{key.hint}</td>
            <td title={key.expires_at === null ? undefined : fullTime(key.expires_at)}>
              {key.expires_at === null ? 'never' : ago(key.expires_at)}
              {key.previous_valid_until !== null && Date.parse(key.previous_valid_until) > Date.now() && (
                <p className="text-xs text-warn">old secret ends {ago(key.previous_valid_until)}</p>
              )}
            </td>
            <td className="text-right whitespace-nowrap">
              {key.source === 'file' ? (
                <span className="text-faint">in the file</span>
              ) : (
                key.state !== 'revoked' && (
                  <div className="-my-1 flex justify-end">
                    <Button
                      look="quiet"
                      onClick={() => onAction({ type: 'change', key })}
                      aria-label={`Change ${key.name}`}
                    >
                      Change
                    </Button>
                    <Button
                      look="quiet"
                      icon="rotate"
                      onClick={() => onAction({ type: 'rotate', key })}
                      aria-label={`Rotate ${key.name}`}
                    />
                    <Button
                      look="quiet"
                      icon="close"
                      onClick={() => onAction({ type: 'revoke', key })}
                      aria-label={`Revoke ${key.name}`}
                    />
                  </div>
                )
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
