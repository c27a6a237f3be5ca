// Dialog for a secret that is shown only once. It closes only with "Done", and asks for confirmation if nothing was copied.
import { useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';
import { Dialog } from './dialog.tsx';

interface Row {
  readonly name: string;
  readonly text: string;
}

interface ShownOnceProps {
  readonly title: string;
  readonly about: string;
  readonly secret: Row;
  /** Further values to copy, such as a base URL; absent: none. */
  readonly rows?: readonly Row[];
  /** Content between the rows and the buttons. @param onCopied to be called when something with the secret was copied */
  readonly children?: (onCopied: () => void) => ReactNode;
  /** Buttons before "Done". @param copy copies a text that contains the secret */
  readonly actions?: (copy: (text: string) => void) => ReactNode;
  readonly onDone: () => void;
}

export function ShownOnce({
  title,
  about,
  secret,
  rows = [],
  children,
  actions,
  onDone,
}: ShownOnceProps): ReactNode {
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const onCopied = (): void => setCopied(true);
  const copy = (text: string): void => void copyText(text).then(onCopied);
  const isWarned = isAsking && !isCopied;
  return (
    <Dialog open isLocked onClose={onDone} title={title} about={about}>
      <div className="flex flex-col gap-4" onCopy={onCopied}>
        <div className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-2">
          <Copied row={secret} verb={`Copy ${secret.name.toLowerCase()}`} onCopy={() => copy(secret.text)} />
          {rows.map((row) => (
            <Copied key={row.name} row={row} verb="Copy" onCopy={() => void copyText(row.text)} />
          ))}
        </div>
        {children?.(onCopied)}
        <p className={isWarned ? 'min-h-4 text-xs text-bad' : 'min-h-4 text-xs text-soft'} role="status">
          {isCopied
            ? 'Copied.'
            : isWarned && `The ${secret.name.toLowerCase()} was not copied. It cannot be shown again.`}
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          {actions?.(copy)}
          <Button
            look={isWarned ? 'danger' : 'primary'}
            onClick={() => (isCopied || isAsking ? onDone() : setAsking(true))}
          >
            {isWarned ? 'Close without copying' : 'Done'}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

interface CopiedProps {
  readonly row: Row;
  /** Label of the button. */
  readonly verb: string;
  readonly onCopy: () => void;
}

function Copied({ row: { name, text }, verb, onCopy }: CopiedProps): ReactNode {
  return (
    <>
      <span className="text-soft">{name}</span>
      {/* Focusable, so that the keyboard can select it. */}
      <code
        tabIndex={0}
        role="region"
        aria-label={name}
        className="block rounded-md bg-sunk px-2 py-1.5 font-mono text-xs break-all"
      >
        {text}
      </code>
      <Button icon="copy" onClick={onCopy}>
        {verb}
      </Button>
    </>
  );
}
