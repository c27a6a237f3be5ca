// The surfaces on which everything stands: pages with their heading, cards, and what is shown while there is nothing.
import type { ReactNode } from 'react';
import { cx } from './cx.ts';
import { Icon, type IconName } from './icon.tsx';

interface PageProps {
  readonly title: string;
  /** One sentence. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, about, actions, children }: PageProps): ReactNode {
  return (
    <div className="mx-auto w-full max-w-7xl px-4 pt-5 pb-24 sm:px-6 md:pb-10">
      <title>{`${title} – Dragoman`}</title>
      <header className="mb-5 flex flex-wrap items-end justify-between gap-x-4 gap-y-3">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          {about != null && <p className="mt-0.5 max-w-prose text-soft">{about}</p>}
        </div>
        {actions != null && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface CardProps {
  readonly title?: ReactNode;
  readonly aside?: ReactNode;
  readonly className?: string;
  /** True: what is in it goes to its edges. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

export function Card({ title, aside, className, flush, children }: CardProps): ReactNode {
  return (
    <section className={cx('min-w-0 rounded-lg border bg-card', className)}>
      {(title != null || aside != null) && (
        <div className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b px-4 py-2">
          <h2 className="min-w-0 font-semibold">{title}</h2>
          {aside}
        </div>
      )}
      <div className={flush === true ? 'relative overflow-x-auto' : 'p-4'}>{children}</div>
    </section>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  /** What to do next. */
  readonly children?: ReactNode;
}

export function Empty({ icon, title, children }: EmptyProps): ReactNode {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <span className="mb-1 rounded-full bg-wash p-3 text-accent">
        <Icon name={icon} size={22} />
      </span>
      <p className="font-semibold">{title}</p>
      {children != null && <div className="max-w-prose text-soft">{children}</div>}
    </div>
  );
}

export function Waiting({ rows = 4 }: { readonly rows?: number }): ReactNode {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-3 p-4">
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} className="h-4 animate-pulse rounded bg-sunk" />
      ))}
    </div>
  );
}
