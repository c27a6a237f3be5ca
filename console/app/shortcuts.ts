// Keyboard shortcuts that work on every page.
import { useNavigate } from '@tanstack/react-router';
import { tinykeys } from 'tinykeys';
import { useEffect, useEffectEvent } from 'react';
import type { RangeSearch } from '../time/range.ts';
import { PLACES } from './places.ts';

interface Shortcuts {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
  readonly rangeOf: () => RangeSearch;
}

/** Shortcuts are disabled in elements that take text. */
function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

export function useShortcuts({ onPalette, onHelp, rangeOf }: Shortcuts): void {
  const navigate = useNavigate();
  const go = useEffectEvent((to: string, isOverTime: boolean) => {
    void navigate({ to, search: isOverTime ? rangeOf() : {} });
  });
  const palette = useEffectEvent(onPalette);
  const help = useEffectEvent(onHelp);
  useEffect(() => {
    const unless =
      (act: () => void) =>
      (event: KeyboardEvent): void => {
        if (isTyping(event) || document.querySelector('[role=dialog][data-open]')) return;
        event.preventDefault();
        act();
      };
    return tinykeys(window, {
      '$mod+k': (event) => {
        event.preventDefault();
        palette();
      },
      '/': unless(() => {
        const field = document.querySelector<HTMLElement>('[data-search]');
        if (field) field.focus();
        else palette();
      }),
      '?': unless(() => help()),
      'Shift+?': unless(() => help()),
      ...Object.fromEntries(
        PLACES.map((place) => [`g ${place.key}`, unless(() => go(place.to, 'isOverTime' in place))]),
      ),
      // Focuses the first row of the page's list.
      j: (event) => {
        if (isTyping(event) || (event.target as HTMLElement).closest('table, [role=table]')) return;
        document.querySelector<HTMLElement>('main [data-row]')?.focus();
      },
    });
  }, []);
}
