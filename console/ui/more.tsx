// "Show more" button at the end of a list that was only partly loaded.
import type { ReactNode } from 'react';
import { Button } from './button.tsx';

interface MoreProps {
  readonly list: {
    readonly hasMore: boolean;
    readonly isFetching: boolean;
    readonly more: () => void;
  };
}

export function More({ list: { hasMore, isFetching, more } }: MoreProps): ReactNode {
  if (!hasMore) return null;
  return (
    <div className="flex justify-center border-t p-2">
      <Button look="quiet" busy={isFetching} onClick={more}>
        {isFetching ? 'Loading…' : 'Show more'}
      </Button>
    </div>
  );
}
