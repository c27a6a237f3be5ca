// Menu of actions behind a button.
import { Menu as Base } from '@base-ui/react/menu';
import type { ReactNode } from 'react';
import { cx } from './cx.ts';
import { Icon, type IconName } from './icon.tsx';

export interface MenuEntry {
  readonly label: string;
  readonly icon?: IconName;
  readonly danger?: boolean;
  readonly checked?: boolean;
  readonly onSelect: () => void;
}

interface MenuProps {
  /** Name of the button for screen readers. */
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  /** Content of the button; absent: three dots. */
  readonly children?: ReactNode;
  readonly className?: string;
}

const FLOATING = 'z-50 rounded-md border bg-card py-1 shadow-lg outline-none';

export function Menu({ label, entries, children, className }: MenuProps): ReactNode {
  return (
    <Base.Root modal={false}>
      <Base.Trigger
        aria-label={children == null ? label : undefined}
        className={cx(
          'target relative inline-flex min-h-7 min-w-7 items-center justify-center gap-1.5 rounded-md text-soft hover:bg-sunk hover:text-ink data-popup-open:bg-sunk',
          className,
        )}
      >
        {children ?? <Icon name="more" />}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="end" className="z-50">
          <Base.Popup className={cx(FLOATING, 'min-w-44')} aria-label={label}>
            {entries.map(({ label: text, icon, danger, checked, onSelect }) =>
              checked === undefined ? (
                <Base.Item
                  key={text}
                  onClick={onSelect}
                  className={cx(
                    'target flex min-h-8 cursor-default items-center gap-2 px-3 text-sm data-highlighted:bg-sunk',
                    danger === true && 'text-bad',
                  )}
                >
                  {icon && <Icon name={icon} size={14} />}
                  {text}
                </Base.Item>
              ) : (
                <Base.CheckboxItem
                  key={text}
                  checked={checked}
                  closeOnClick={false}
                  onCheckedChange={onSelect}
                  className="target flex min-h-8 cursor-default items-center gap-2 px-3 text-sm data-highlighted:bg-sunk"
                >
                  <span className="size-3.5">
                    <Base.CheckboxItemIndicator>
                      <Icon name="good" size={14} />
                    </Base.CheckboxItemIndicator>
                  </span>
                  {text}
                </Base.CheckboxItem>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
