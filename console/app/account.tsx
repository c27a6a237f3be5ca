// Name of the signed-in account, and the button to sign out.
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { signOut } from '../api/client.ts';
import { sessionQuery } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';

export function Account(): ReactNode {
  const { data } = useSuspenseQuery(sessionQuery);
  const queries = useQueryClient();
  const leave = (): void => {
    // Before the request, because queries and events of the open page would fail without a session.
    queries.setQueryData(sessionQuery.queryKey, { signed_in: false });
    // Cached data belongs to the account that was signed in.
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
    void signOut().catch(() => queries.invalidateQueries({ queryKey: sessionQuery.queryKey }));
  };
  return (
    <div className="ml-auto flex min-w-0 items-center justify-between gap-1 md:ml-0 md:border-t md:pt-2 md:pl-2">
      <span className="truncate text-xs text-soft" title={data.actor?.id}>
        {data.actor?.name}
      </span>
      <Button look="quiet" icon="leave" aria-label="Sign out" title="Sign out" onClick={leave} />
    </div>
  );
}
