// Root of the console: the sign-in page, or the router once signed in.
import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { ApiError, signIn, whenSessionEnds } from '../api/client.ts';
import { sessionQuery } from '../api/queries.ts';
import { SignIn } from '../session/sign-in.tsx';
import { router } from './router.tsx';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Client errors would repeat, so only server errors are retried.
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.status >= 500,
    },
  },
});

export function App(): ReactNode {
  return (
    <QueryClientProvider client={queries}>
      <Gate />
    </QueryClientProvider>
  );
}

/**
 * Takes the code of a sign-in link from the fragment, which browsers do not send, and removes it from the address
 * immediately.
 */
function takeCode(): string | null {
  const [, code = null] = /^#code=(.+)$/.exec(location.hash) ?? [];
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

let code = takeCode();
/** Called when a sign-in link is pasted into an open page: a change of the fragment does not reload the page. */
let onCode = (): void => {};
window.addEventListener('hashchange', () => {
  code = takeCode() ?? code;
  onCode();
});

function Gate(): ReactNode {
  const client = useQueryClient();
  const [problem, setProblem] = useState<Error | null>(null);
  const [isSigning, setSigning] = useState(code !== null);
  // Disabled while a link signs in: an earlier response could arrive later and report that no session exists.
  const session = useQuery({ ...sessionQuery, enabled: !isSigning });
  useEffect(() => {
    whenSessionEnds(() => client.setQueryData(sessionQuery.queryKey, { signed_in: false }));
    onCode = () => {
      if (code === null) return;
      const once = code;
      code = null;
      setSigning(true);
      signIn({ code: once })
        .then((signed) => client.setQueryData(sessionQuery.queryKey, signed))
        .catch((error: unknown) => setProblem(error instanceof Error ? error : new Error(String(error))))
        .finally(() => setSigning(false));
    };
    onCode();
  }, [client]);
  if (isSigning || session.isPending) return null;
  if (session.data?.signed_in !== true) return <SignIn problem={session.error ?? problem} />;
  return <RouterProvider router={router} />;
}
