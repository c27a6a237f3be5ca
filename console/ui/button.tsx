// Buttons in four styles, with a busy state.
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { cx } from './cx.ts';
import { Icon, type IconName } from './icon.tsx';

const LOOKS = {
  primary: 'border-transparent bg-accent text-on-accent hover:opacity-90',
  plain: 'border-line bg-card text-ink hover:bg-sunk',
  quiet:
    'border-transparent text-soft hover:bg-sunk hover:text-ink aria-pressed:bg-sunk aria-pressed:text-ink',
  danger: 'border-transparent bg-bad text-card hover:opacity-90',
} as const;

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: keyof typeof LOOKS;
  readonly icon?: IconName;
  /** True: an action is running, and clicks are ignored. Not `disabled`, because a disabled button loses focus. */
  readonly busy?: boolean;
}

export function Button({
  look = 'plain',
  icon,
  busy = false,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={busy}
      aria-disabled={busy || undefined}
      // Also prevents a second submit of the form.
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={cx(buttonClass(look), children === undefined && 'px-1.5', className)}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** Classes of a button, also for links that look like one. */
export function buttonClass(look: keyof typeof LOOKS = 'plain'): string {
  return cx(
    'target inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1 text-sm font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-not-allowed aria-disabled:opacity-55',
    LOOKS[look],
  );
}
