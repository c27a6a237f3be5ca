// Making a project.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';

export function ProjectDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [name, setName] = useState('');
  const [usd, setUsd] = useState('');
  const queries = useQueryClient();
  const making = useMutation({
    mutationFn: () =>
      ask('POST /projects', {
        body: { name, ...(usd !== '' && { budgets: [{ usd: Number(usd), per: 'month' }] }) },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['GET /projects'] });
      onClose();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="New project"
      about="Keys of one project share what they store, and its budget."
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          making.mutate();
        }}
      >
        {making.error && <Problem error={making.error} />}
        <Field label="Name" hint="It is given once, and stays.">
          {(control) => (
            <input
              {...control}
              className="field"
              required
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
        <Field label="Budget in USD per month" hint="Empty: none.">
          {(control) => (
            <input
              {...control}
              className="field"
              type="number"
              min={0}
              step="any"
              value={usd}
              onChange={({ target }) => setUsd(target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={making.isPending}>
            Make the project
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
