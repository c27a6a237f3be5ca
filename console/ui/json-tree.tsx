// JSON as a collapsible tree.
import { useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';

interface JsonTreeProps {
  readonly value: unknown;
  /** JSON as it was sent. */
  readonly text: string;
  readonly label: string;
}

/** Depth to which branches are initially open. */
const DEEP = 3;
/** Entries of a branch that are shown initially. */
const MOST = 100;
const LONG = 600;

export function JsonTree({ value, text, label }: JsonTreeProps): ReactNode {
  return (
    <div className="rounded-md border bg-sunk">
      <div className="flex items-center justify-between border-b pl-3">
        <span className="text-xs text-faint">{label}</span>
        <CopyButton text={text} />
      </div>
      <div
        tabIndex={0}
        role="region"
        aria-label={label}
        className="max-h-[32rem] overflow-auto p-3 font-mono text-xs leading-6"
      >
        <Node value={value} depth={0} />
      </div>
    </div>
  );
}

function Node({
  name,
  value,
  depth,
}: {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}): ReactNode {
  const head = name !== undefined && <span className="text-soft">{name}: </span>;
  if (typeof value !== 'object' || value === null)
    return (
      <div>
        {head}
        <Leaf value={value} />
      </div>
    );
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  const size = isList ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0)
    return (
      <div>
        {head}
        {isList ? '[]' : '{}'}
      </div>
    );
  return <Branch head={head} size={size} entries={entries} depth={depth} />;
}

interface BranchProps {
  readonly head: ReactNode;
  readonly size: string;
  readonly entries: readonly (readonly [string, unknown])[];
  readonly depth: number;
}

function Branch({ head, size, entries, depth }: BranchProps): ReactNode {
  const [isOpen, setOpen] = useState(depth < DEEP);
  const [most, setMost] = useState(MOST);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="min-h-6">
        {head}
        <span className="text-faint">{size}</span>
      </summary>
      {isOpen && (
        <div className="border-l pl-4">
          {entries.slice(0, most).map(([key, each]) => (
            <Node key={key} name={key} value={each} depth={depth + 1} />
          ))}
          {entries.length > most && (
            <Button look="quiet" onClick={() => setMost(most + 10 * MOST)}>
              Show more
            </Button>
          )}
        </div>
      )}
    </details>
  );
}

function Leaf({ value }: { readonly value: unknown }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const text = JSON.stringify(value) ?? '';
  const tone = typeof value === 'string' ? '' : 'text-info';
  return (
    <>
      <span className={`break-words whitespace-pre-wrap ${tone}`}>
        {isWhole ? text : text.slice(0, LONG)}
      </span>
      {text.length > LONG && !isWhole && (
        <button type="button" className="link ml-1" onClick={() => setWhole(true)}>
          … {text.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  );
}
