// Roving tabindex: a group of controls is a single Tab stop, and the left and right arrow keys move within it.
import { useEffect, useRef, type KeyboardEvent, type RefObject } from 'react';

const CONTROLS = 'button:not(:disabled), a[href]';

interface Roving<E extends HTMLElement> {
  readonly ref: RefObject<E | null>;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

export function useRoving<E extends HTMLElement>(): Roving<E> {
  const ref = useRef<E>(null);
  const at = useRef(0);
  useEffect(() => {
    const all = controlsOf(ref.current);
    all.forEach((each, index) => (each.tabIndex = index === Math.min(at.current, all.length - 1) ? 0 : -1));
  });
  return {
    ref,
    onKeyDown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const all = controlsOf(ref.current);
      const from = all.indexOf(event.target as HTMLElement);
      if (step === undefined || from < 0) return;
      const to = (from + step + all.length) % all.length;
      event.preventDefault();
      all.forEach((each, index) => (each.tabIndex = index === to ? 0 : -1));
      at.current = to;
      all[to]?.focus();
    },
  };
}

function controlsOf(group: HTMLElement | null): readonly HTMLElement[] {
  return [...(group?.querySelectorAll<HTMLElement>(CONTROLS) ?? [])];
}
