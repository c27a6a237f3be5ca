// The drawings: lines on a field of 24, in the colour of the text beside them. They say nothing that no text says.
import type { ReactNode } from 'react';

const PATHS = {
  overview: 'M4 19V10M10 19V5M16 19v-7M21 19H3',
  requests: 'M4 6h16M4 12h16M4 18h10',
  playground: 'M5 5h14v10H9l-4 4z',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  keys: 'M14.5 9.5a4 4 0 1 1-2.6-3.7 4 4 0 0 1 2.6 3.7zM13.4 12l7 7M17.5 16.1l2-2',
  routing:
    'M5 6h4c6 0 4 12 10 12M5 18h4c2 0 3-1.4 3.7-3M19 6h-3c-1.4 0-2.4.7-3.1 1.8M17 4l2 2-2 2M17 16l2 2-2 2',
  good: 'M5 12.5l4.5 4.5L19 7.5',
  warn: 'M12 4l9 16H3zM12 10v4.5M12 17.2v.3',
  bad: 'M6 6l12 12M18 6L6 18',
  wait: 'M12 3a9 9 0 1 0 9 9M12 7v5l3 2',
  stop: 'M6 6h12v12H6z',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  back: 'M15 5l-7 7 7 7',
  next: 'M9 5l7 7-7 7',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M18.4 5.6L17 7M7 17l-1.4 1.4',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z',
  screen: 'M4 5h16v11H4zM9 20h6M12 16v4',
  leave: 'M14 4h5v16h-5M4 12h11M8 8l-4 4 4 4',
  rotate: 'M20 11a8 8 0 0 0-14-4L4 9M4 4v5h5M4 13a8 8 0 0 0 14 4l2-2M20 20v-5h-5',
  attach:
    'M19 11l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4L13 4.3a3 3 0 0 1 4.3 4.2l-7.8 7.8a1.5 1.5 0 0 1-2.2-2.1L14 7.6',
  send: 'M4 12l16-8-6 16-3-7z',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7L12 6.3M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1',
  live: 'M12 10.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zM8 8a5.6 5.6 0 0 0 0 8M16 8a5.6 5.6 0 0 1 0 8M5 5a10 10 0 0 0 0 14M19 5a10 10 0 0 1 0 14',
  pause: 'M8 5v14M16 5v14',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg
      className="shrink-0"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
