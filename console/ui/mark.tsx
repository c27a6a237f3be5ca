// The project's logo.
import type { ReactNode } from 'react';

export function Mark({ size = 26 }: { readonly size?: number }): ReactNode {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path
        d="M8 9h9a3 3 0 0 1 3 3v3a3 3 0 0 1-3 3h-4l-4 3.5V18H8z"
        className="fill-on-accent"
        opacity="0.95"
      />
      <path
        d="M22.5 13.5H24v9h-1v3.2L19.4 22.5H15a2.6 2.6 0 0 1-2.2-1.2"
        className="stroke-on-accent"
        fill="none"
        strokeWidth="1.8"
        strokeLinejoin="round"
      />
    </svg>
  );
}
