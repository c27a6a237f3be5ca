// States in a word, a drawing and a colour: never the colour alone.
import type { ReactNode } from 'react';
import { cx } from './cx.ts';
import { Icon, type IconName } from './icon.tsx';

const TONES = {
  good: 'bg-good-wash text-good',
  warn: 'bg-warn-wash text-warn',
  bad: 'bg-bad-wash text-bad',
  calm: 'bg-sunk text-soft',
  accent: 'bg-wash text-accent',
} as const;

export type Tone = keyof typeof TONES;

const ICONS: Readonly<Partial<Record<Tone, IconName>>> = { good: 'good', warn: 'warn', bad: 'bad' };

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }): ReactNode {
  const icon = ICONS[tone];
  return (
    <span
      className={cx(
        'figures inline-flex items-center gap-1 rounded px-1.5 py-px text-xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {icon && <Icon name={icon} size={12} />}
      {children}
    </span>
  );
}

/** An HTTP status as the client got it. */
export function StatusBadge({
  status,
  cancelled,
}: {
  readonly status: number;
  readonly cancelled?: boolean;
}): ReactNode {
  if (cancelled === true) return <Badge tone="warn">left</Badge>;
  const tone = status < 400 ? 'good' : status < 500 ? 'warn' : 'bad';
  return <Badge tone={tone}>{status}</Badge>;
}
