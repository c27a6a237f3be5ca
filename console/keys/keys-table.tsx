// The keys, one in a line, and what can be done with each.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ago, fullTime } from '../format/times.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Table, type Column } from '../ui/table.tsx';
import type { KeyAction } from './key-dialog.tsx';
import type { Key } from './key-texts.ts';

interface KeysTableProps {
  readonly keys: readonly Key[];
  readonly onAction: (action: KeyAction) => void;
}

const TONES = { active: 'good', expired: 'warn', revoked: 'calm' } as const;

const COLUMNS: readonly Column<Key>[] = [
  {
    name: 'Name',
    className: 'max-w-60 break-words',
    cell: ({ id, name }) => (
      <Link to="/requests" search={{ key: id }} className="font-medium hover:underline">
        {name}
      </Link>
    ),
  },
  { name: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
  { name: 'Project', cell: ({ project }) => project ?? <span className="text-faint">its own</span> },
  {
    name: 'Roles',
    cell: ({ roles, models }) => (
      <>
        {roles.join(', ')}
        {models && <p className="text-xs break-words text-faint">{models.join(', ')}</p>}
      </>
    ),
  },
  { name: 'Key', cell: ({ hint }) => <span className="font-mono text-xs">{hint}</span> },
  {
    name: 'Expires',
    cell: ({ expires_at: at, previous_valid_until: previous }) => (
      <>
        {at === null ? 'never' : <span title={fullTime(at)}>{ago(at)}</span>}
        {previous !== null && Date.parse(previous) > Date.now() && (
          <p className="text-xs text-warn">old secret ends {ago(previous)}</p>
        )}
      </>
    ),
  },
];

export function KeysTable({ keys, onAction }: KeysTableProps): ReactNode {
  return (
    <Table
      label="Keys"
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        ...COLUMNS,
        {
          name: 'Actions',
          unnamed: true,
          className: 'text-right whitespace-nowrap',
          cell: (key) => <Actions of={key} onAction={onAction} />,
        },
      ]}
    />
  );
}

interface ActionsProps {
  readonly of: Key;
  readonly onAction: KeysTableProps['onAction'];
}

function Actions({ of: key, onAction }: ActionsProps): ReactNode {
  if (key.source === 'file') return <span className="text-faint">in the file</span>;
  if (key.state === 'revoked') return null;
  return (
    <div className="-my-1 -mr-3 flex justify-end">
      <Button
        look="quiet"
        onClick={() => onAction({ type: 'change', key })}
        aria-label={`Change ${key.name}`}
      >
        Change
      </Button>
      <Button
        look="quiet"
        onClick={() => onAction({ type: 'rotate', key })}
        aria-label={`Rotate ${key.name}`}
      >
        Rotate
      </Button>
      <Button
        look="quiet"
        onClick={() => onAction({ type: 'revoke', key })}
        aria-label={`Revoke ${key.name}`}
      >
        Revoke
      </Button>
    </div>
  );
}
