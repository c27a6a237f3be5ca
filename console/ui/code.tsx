// Block of text or formatted JSON. Long text is cut until expanded.
import { useMemo, useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';

/** Characters that are rendered without a noticeable delay. */
const MOST_CHARS = 20_000;

interface CodeProps {
  readonly text: string;
  /** Name of the block for screen readers. */
  readonly label: string;
  readonly onCopied?: () => void;
}

export function Code({ text, label, onCopied }: CodeProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const pretty = useMemo(() => inLines(text), [text]);
  const shown = isWhole ? pretty : pretty.slice(0, MOST_CHARS);
  return (
    <div className="rounded-md border bg-sunk">
      <div className="flex items-center justify-between border-b pl-3">
        <span className="text-xs text-faint">{label}</span>
        <CopyButton text={text} {...(onCopied && { onCopied })} />
      </div>
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className="max-h-96 overflow-auto p-3 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {shown}
      </pre>
      {shown.length < pretty.length && (
        <Button look="quiet" onClick={() => setWhole(true)}>
          Show all {pretty.length.toLocaleString('en')} characters
        </Button>
      )}
    </div>
  );
}

function inLines(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
