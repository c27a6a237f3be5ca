// Making a project.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
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
        <TextField
          label="Name"
          hint="It is given once, and stays."
          required
          value={name}
          onChange={setName}
        />
        <TextField
          label="Budget in USD per month"
          hint="Empty: none."
          type="number"
          min={0}
          step="any"
          value={usd}
          onChange={setUsd}
        />
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
