// Sign-in page. It replaces any page until the user has signed in.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode, type SyntheticEvent } from 'react';
import { signIn } from '../api/client.ts';
import { sessionQuery } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { Mark } from '../ui/mark.tsx';
import { Problem } from '../ui/problem.tsx';

export function SignIn({ problem }: { readonly problem: Error | null }): ReactNode {
  const [key, setKey] = useState('');
  const queries = useQueryClient();
  const signing = useMutation({
    mutationFn: () => signIn({ key: key.trim() }),
    onSuccess: (session) => queries.setQueryData(sessionQuery.queryKey, session),
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    signing.mutate();
  };
  const error = signing.error ?? problem;
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <title>Sign in – Dragoman</title>
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-3">
          <Mark size={36} />
          <div>
            <h1 className="text-xl font-semibold tracking-tight">Dragoman</h1>
            <p className="text-sm text-soft">Sign in to see requests, costs and keys</p>
          </div>
        </div>
        <form onSubmit={submit} className="flex flex-col gap-4 rounded-lg border bg-card p-5">
          {error && <Problem error={error} />}
          <Field label="Admin key" hint="A key with the role admin, or server.admin_key.">
            {(control) => (
              <input
                {...control}
                className="field font-mono"
                type="password"
                autoComplete="current-password"
                placeholder="sk-dm-v1-…"
                required
                value={key}
                onChange={(event) => setKey(event.target.value)}
              />
            )}
          </Field>
          <Button type="submit" look="primary" busy={signing.isPending}>
            Sign in
          </Button>
        </form>
        <p className="mt-4 text-sm text-soft">
          No admin key? Sign in with a link, which the first start prints in the terminal. Later,{' '}
          <code className="font-mono text-ink">npx --no dragoman console</code> prints a new link on the
          machine of the gateway. Keys without the role admin cannot sign in.
        </p>
      </div>
    </main>
  );
}
