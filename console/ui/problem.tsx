// Shows an error with its original message.
import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

export function Problem({
  error,
  children,
}: {
  readonly error: unknown;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div role="alert" className="flex items-start gap-2 rounded-md bg-bad-wash px-3 py-2 text-bad">
      <span className="mt-0.5">
        <Icon name="warn" />
      </span>
      <div className="min-w-0 break-words">
        {sentence(error instanceof Error ? error.message : String(error))}
        {children}
      </div>
    </div>
  );
}

/** True if a page already shows the message of an error. @param shown error that it shows */
export function isRepeated(error: unknown, shown: Error | null | undefined): boolean {
  return error instanceof Error && error.message === shown?.message;
}

/** Capitalises a message that begins with a word. Names of fields, such as `max_tokens` or `url:`, stay as they are. */
function sentence(message: string): string {
  return message.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase());
}
