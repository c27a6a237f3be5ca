// Button that copies a text.
import { useEffect, useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';

const COPIED_MS = 1_600;

export function CopyButton({
  text,
  label = 'Copy',
  onCopied,
}: {
  readonly text: string;
  readonly label?: string;
  readonly onCopied?: () => void;
}): ReactNode {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    onCopied?.();
    void copyText(text).then(() => setCopied(true));
  };
  return (
    <Button look="quiet" icon={copied ? 'good' : 'copy'} onClick={copy} aria-label={label}>
      <span aria-live="polite">{copied ? 'Copied' : label}</span>
    </Button>
  );
}
