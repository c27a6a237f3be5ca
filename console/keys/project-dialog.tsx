// Dialog that creates or changes a project.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask, type Answer } from '../api/client.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { allowanceOf, ownerOf } from './allowance.ts';
import { BudgetFields, LimitFields } from './allowance-fields.tsx';

export type Project = Answer<'GET /projects'>['data'][number];

interface ProjectDialogProps {
  /** Project to change; null: a new one. */
  readonly project: Project | null;
  readonly onClose: () => void;
}

export function ProjectDialog({ project, onClose }: ProjectDialogProps): ReactNode {
  const [name, setName] = useState('');
  const [allowance, setAllowance] = useState(allowanceOf(project));
  const queries = useQueryClient();
  const doing = useMutation<unknown, Error>({
    mutationFn: () =>
      project === null
        ? ask('POST /projects', { body: { name, ...ownerOf(allowance) } })
        : ask('PATCH /projects/{id}', {
            params: { id: project.id },
            version: project.version,
            body: ownerOf(allowance),
          }),
    onSuccess: async () => {
      await queries.invalidateQueries({
        predicate: ({ queryKey }) => /\/(projects|limits|keys|problems)/.test(String(queryKey[0])),
      });
      onClose();
    },
  });
  return (
    <FormDialog
      title={project === null ? 'New project' : `Change the project "${project.id}"`}
      about="The keys of a project share its budget and its stored data."
      verb={project === null ? 'Create project' : 'Save'}
      busy={doing.isPending}
      error={doing.error}
      onSubmit={() => doing.mutate()}
      onClose={onClose}
    >
      {project === null && (
        <TextField label="Name" hint="Cannot be changed later." required value={name} onChange={setName} />
      )}
      <BudgetFields allowance={allowance} onChange={setAllowance} />
      <LimitFields allowance={allowance} onChange={setAllowance} />
    </FormDialog>
  );
}
