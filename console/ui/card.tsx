// Basic layout: pages with headings, cards, empty states and loading placeholders.
import { createContext, useContext, useEffect, useState, type ReactNode } from 'react';
import { cx } from './cx.ts';
import { Icon, type IconName } from './icon.tsx';

/** Tools at the right of every page heading. The argument says whether the page has a time range. */
export const PageTools = createContext<(isOverTime: boolean) => ReactNode>(() => null);

interface PageProps {
  readonly title: string;
  /** Before the title: a back link, or a state. */
  readonly before?: ReactNode;
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  /** True: the time range in the header applies to the page. */
  readonly overTime?: boolean;
  readonly children: ReactNode;
}

export function Page({ title, before, beside, actions, overTime = false, children }: PageProps): ReactNode {
  const tools = useContext(PageTools);
  return (
    <div className="mx-auto w-full max-w-[105rem] px-4 pb-24 sm:px-6 md:pb-10">
      <title>{`${title} – Dragoman`}</title>
      <header className="flex min-h-14 flex-wrap items-center gap-x-3 gap-y-2 py-3">
        {before}
        <h1 className="min-w-0 text-xl font-semibold tracking-tight break-words">{title}</h1>
        {beside}
        <div className="ml-auto flex flex-wrap items-center gap-2">
          {actions}
          {tools(overTime)}
        </div>
      </header>
      <div id="content" tabIndex={-1} className="outline-none">
        {children}
      </div>
    </div>
  );
}

interface CardProps {
  readonly title?: ReactNode;
  readonly aside?: ReactNode;
  readonly className?: string;
  /** True: the content has no padding. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

export function Card({ title, aside, className, flush, children }: CardProps): ReactNode {
  return (
    <section
      className={cx(
        'min-w-0 rounded-lg border bg-card',
        flush === true && 'overflow-clip',
        // A card without content, as after an error, would be a mere line.
        title == null && aside == null && 'has-[.card-content:empty]:hidden',
        className,
      )}
    >
      {(title != null || aside != null) && (
        <div className="flex min-h-12 flex-wrap items-center justify-between gap-2 px-4 pt-3 pb-2">
          <h2 className="min-w-0 text-lg font-semibold">{title}</h2>
          {aside}
        </div>
      )}
      <div
        className={
          flush === true ? 'card-content relative' : cx('px-4 pb-4', title == null && aside == null && 'pt-4')
        }
      >
        {children}
      </div>
    </section>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  /** Why there is nothing to show. */
  readonly title: string;
  /** Suggested next step. */
  readonly children?: ReactNode;
}

export function Empty({ icon, title, children }: EmptyProps): ReactNode {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <span className="mb-1 text-faint">
        <Icon name={icon} size={24} />
      </span>
      <p className="text-lg font-semibold">{title}</p>
      {children != null && <div className="max-w-prose text-base text-soft">{children}</div>}
    </div>
  );
}

/** Milliseconds before a placeholder is shown, so that short waits do not flicker. */
const UNSEEN_MS = 150;

/** Placeholder rows with the height of the rows that are loading. */
export function Waiting({
  rows = 4,
  tall = false,
}: {
  readonly rows?: number;
  readonly tall?: boolean;
}): ReactNode {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSeen(true), UNSEEN_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" aria-label="Loading" className={cx('flex flex-col px-4', !isSeen && 'invisible')}>
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} className={cx('flex items-center', tall ? 'h-15' : 'h-9')}>
          <div className="h-3 w-full animate-pulse rounded bg-line" />
        </div>
      ))}
    </div>
  );
}
