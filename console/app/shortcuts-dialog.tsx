// Dialog that lists the keyboard shortcuts.
import type { ReactNode } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { PLACES } from './places.ts';

const EVERYWHERE: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', 'Search pages, providers, keys, models and request ids'],
  ['/', 'Search on this page'],
  ['j or ↓, k or ↑', 'Next row, previous row'],
  ['Enter', 'Open row'],
  ['Esc', 'Close panel or dialog'],
  ['← →', 'In a chart: read values'],
  ['?', 'This list'],
];

export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const all = [...EVERYWHERE, ...PLACES.map(({ key, label }) => [`g ${key}`, `Go to ${label}`] as const)];
  return (
    <Dialog open onClose={onClose} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 sm:grid-cols-[auto_1fr_auto_1fr]">
        {all.map(([keys, what]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="rounded border bg-sunk px-1.5 py-0.5 font-mono text-xs whitespace-nowrap">
                {keys}
              </kbd>
            </dt>
            <dd className="text-soft">{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
