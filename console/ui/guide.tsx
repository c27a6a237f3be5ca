// Link to a page of the documentation, which every gateway serves. It opens in a new tab, so that the page stays as it is.
import type { ReactNode } from 'react';

/** Address of the first page of the documentation. */
export const GUIDE = '/docs/guide';

interface GuideLinkProps {
  /** End of the address, after that of the first page: `/sim#responses`. */
  readonly to: string;
  readonly children: ReactNode;
}

export function GuideLink({ to, children }: GuideLinkProps): ReactNode {
  return (
    <a href={`${GUIDE}${to}`} target="_blank" rel="noreferrer" className="text-accent underline">
      {children}
    </a>
  );
}
