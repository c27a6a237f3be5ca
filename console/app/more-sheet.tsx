// Sheet on phones with the pages that do not fit into the navigation bar.
import { Popover } from '@base-ui/react/popover';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { GUIDE } from '../ui/guide.tsx';
import { Icon } from '../ui/icon.tsx';
import { FOOT, GROUPS, ON_PHONE } from './places.ts';

const ROW = 'target flex min-h-11 min-w-44 items-center gap-2.5 rounded-md px-3 text-base hover:bg-sunk';

export function MoreSheet(): ReactNode {
  const [isOpen, setOpen] = useState(true);
  const others = [...GROUPS.flatMap(({ places }) => [...places]), ...FOOT].filter(
    ({ to }) => !ON_PHONE.includes(to),
  );
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className="flex flex-col items-center gap-0.5 px-1 py-1.5 text-xs text-soft md:hidden">
        <Icon name="more" />
        More
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={8} side="top" align="end" className="z-50">
          <Popover.Popup aria-label="More pages" className="rounded-lg border bg-card p-1 shadow-lg">
            {others.map(({ to, label, icon }) => (
              <Link key={to} to={to} onClick={() => setOpen(false)} className={ROW}>
                <Icon name={icon} />
                {label}
              </Link>
            ))}
            <a href={GUIDE} target="_blank" rel="noreferrer" className={ROW}>
              <Icon name="guide" />
              Documentation
            </a>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
