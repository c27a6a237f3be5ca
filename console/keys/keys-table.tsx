// Table of keys: spend, the budget with the least remaining, and actions.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { exactUsd, count, limitWords, share, usd } from '../format/numbers.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu, type MenuEntry } from '../ui/menu.tsx';
import { Money } from '../ui/money.tsx';
import { UsedBar } from '../ui/spark.tsx';
import { KeyStatus, Signal } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { When } from '../ui/when.tsx';
import type { KeyAction } from './key-dialog.tsx';
import { shortLimit, type Key } from './key-texts.ts';

/** Shown for a key that is too short for a hint. */
const NO_HINT = '…';

const SPENT: Column<Key> = {
  name: 'Spent this month',
  id: 'spent',
  number: true,
  cell: (key) =>
    key.requests === 0 ? '$0' : <Money value={key.spent_usd} unpriced={key.spent_unpriced_requests} />,
};

const LAST_USED: Column<Key> = {
  name: 'Last used',
  id: 'last_used',
  number: true,
  cell: ({ last_used_at: at }) =>
    at === null ? <span className="text-faint">never</span> : <When at={at} as="ago" />,
};

interface KeysTableProps {
  readonly keys: readonly Key[];
  readonly made: string | null;
  readonly order: string;
  readonly onOrder: (order: string) => void;
  readonly onAction: (action: KeyAction) => void;
}

export function KeysTable({ keys, made, order, onOrder, onAction }: KeysTableProps): ReactNode {
  const columns: readonly Column<Key>[] = [
    {
      name: 'Name',
      id: 'name',
      className: 'min-w-[24ch] wrap-anywhere',
      cell: ({ id, name, hint, source }) => (
        <span className="flex flex-wrap items-center gap-x-2">
          <Link to="/keys/$id" params={{ id }} data-row className="row-link font-medium">
            {name}
          </Link>
          {hint !== NO_HINT && <code className="font-mono text-xs font-normal text-faint">{hint}</code>}
          {source === 'file' && (
            <span className="text-faint" title="Defined in dragoman.yaml">
              <Icon name="lock" size={12} />
              <span className="sr-only">Defined in dragoman.yaml</span>
            </span>
          )}
          {id === made && <Signal tone="info">New</Signal>}
        </span>
      ),
    },
    {
      name: 'Project',
      className: 'min-w-[12ch] wrap-anywhere',
      cell: ({ project }) => project ?? <span className="text-faint">–</span>,
    },
    { name: 'State', id: 'state', cell: ({ state }) => <KeyStatus state={state} /> },
    SPENT,
    { name: 'Budget', cell: (key) => <Budget of={key} /> },
    LAST_USED,
    {
      name: 'Actions',
      unnamed: true,
      className: 'w-12 text-right',
      cell: (key) => <Actions of={key} onAction={onAction} />,
    },
  ];
  return (
    <Table
      label="Keys"
      rows={keys}
      keyOf={({ id }) => id}
      isCurrent={({ id }) => id === made}
      columns={columns}
      order={order}
      onOrder={onOrder}
    />
  );
}

/** Use of the budget or limit with the least remaining, with its amount as text. */
function Budget({ of: { tightest } }: { readonly of: Pick<Key, 'tightest'> }): ReactNode {
  if (!tightest) return <span className="text-faint">None</span>;
  const { share: part, text, unit, used, allowed, resets_at: resets, of } = tightest;
  const amount =
    unit === 'usd' ? `${exactUsd(used)} of ${usd(allowed)}` : `${count(used)} of ${count(allowed)}`;
  const short = shortLimit(text);
  return (
    <span
      className="inline-flex items-center gap-x-2 align-top md:whitespace-nowrap"
      title={`${amount}: ${limitWords(text)}${of === 'project' ? ', of its project' : ''}`}
    >
      <UsedBar part={part} />
      <span className="figures">
        {part >= 1 && resets !== null ? (
          <>
            {short}, resets <When at={resets} as="ahead" />
          </>
        ) : used > 0 ? (
          `${share(Math.min(1, part))} of ${short}`
        ) : (
          short
        )}
      </span>
    </span>
  );
}

interface ActionsProps {
  readonly of: Key;
  readonly onAction: KeysTableProps['onAction'];
}

function Actions({ of: key, onAction }: ActionsProps): ReactNode {
  const entries = actionsFor(key, onAction);
  if (entries.length === 0) return null;
  return (
    <span className="-my-1 inline-block">
      <Menu label={`Actions for ${key.name}`} entries={entries} />
    </span>
  );
}

/** Actions for a key. None for keys from the configuration file and for revoked keys. */
function actionsFor(key: Key, onAction: KeysTableProps['onAction']): readonly MenuEntry[] {
  if (key.source === 'file' || key.state === 'revoked') return [];
  return [
    { label: 'Change…', icon: 'settings', onSelect: () => onAction({ type: 'change', key }) },
    { label: 'Rotate…', icon: 'rotate', onSelect: () => onAction({ type: 'rotate', key }) },
    { label: 'Revoke…', icon: 'reject', danger: true, onSelect: () => onAction({ type: 'revoke', key }) },
  ];
}
