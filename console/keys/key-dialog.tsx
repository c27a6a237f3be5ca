// Dialogs that create, change, rotate and revoke a key. A new secret cannot be dismissed by accident.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { toast } from '../ui/toast.ts';
import { SelectField } from '../ui/field.tsx';
import { HandOver } from './hand-over.tsx';
import { KeyFields } from './key-fields.tsx';
import { settingsOf, textsOf, type Key } from './key-texts.ts';

export type KeyAction =
  | { readonly type: 'create'; readonly project: string | undefined }
  | { readonly type: 'change' | 'rotate' | 'revoke'; readonly key: Key };

interface KeyDialogProps {
  readonly action: KeyAction;
  readonly onClose: () => void;
  /** Called with the id of the created key. */
  readonly onMade?: (id: string) => void;
}

const GRACES = [
  ['0', 'none: the old secret stops working now'],
  ['3600000', 'an hour'],
  ['86400000', 'a day'],
  ['604800000', 'a week'],
] as const;

export function KeyDialog({ action, onClose, onMade }: KeyDialogProps): ReactNode {
  const queries = useQueryClient();
  const [texts, setTexts] = useState(textsOf(action.type === 'change' ? action.key : null));
  const [project, setProject] = useState(action.type === 'create' ? (action.project ?? '') : '');
  const [grace, setGrace] = useState<string>(GRACES[1][0]);
  const doing = useMutation({
    mutationFn: async (): Promise<string | null> => {
      if (action.type === 'create') {
        const body = { ...settingsOf(texts), project: project || null };
        const made = await ask('POST /keys', { body });
        onMade?.(made.id);
        return made.key;
      }
      const { id, version } = action.key;
      const params = { id };
      if (action.type === 'rotate')
        return (await ask('POST /keys/{id}/rotate', { params, version, body: { grace_ms: Number(grace) } }))
          .key;
      if (action.type === 'change')
        await ask('PATCH /keys/{id}', { params, version, body: settingsOf(texts) });
      else await ask('DELETE /keys/{id}', { params, version });
      return null;
    },
    onSuccess: async (secret) => {
      // Refreshed before the dialog closes, so that the next edit starts from the current version.
      await queries.invalidateQueries({
        predicate: ({ queryKey }) => /\/(keys|limits|problems|audit)/.test(String(queryKey[0])),
      });
      if (action.type === 'revoke') toast({ title: `Key "${action.key.name}" revoked` });
      if (secret === null) onClose();
    },
  });
  if (doing.data != null)
    return (
      <HandOver
        secret={doing.data}
        name={action.type === 'create' ? texts.name : action.key.name}
        models={action.type === 'create' ? texts.models : (action.key.models ?? [])}
        onDone={onClose}
      />
    );
  const { title, about, verb } = wordsOf(action);
  return (
    <FormDialog
      title={title}
      about={about}
      verb={verb}
      danger={action.type === 'revoke'}
      busy={doing.isPending}
      error={doing.error}
      onSubmit={() => doing.mutate()}
      onClose={onClose}
    >
      {action.type === 'create' && (
        <KeyFields texts={texts} onChange={setTexts}>
          <ProjectField value={project} onChange={setProject} />
        </KeyFields>
      )}
      {action.type === 'change' && <KeyFields texts={texts} onChange={setTexts} />}
      {action.type === 'rotate' && (
        <SelectField label="Keep the old secret valid for" value={grace} onChange={setGrace}>
          {GRACES.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </SelectField>
      )}
    </FormDialog>
  );
}

function wordsOf(action: KeyAction): { title: string; about?: string; verb: string } {
  switch (action.type) {
    case 'create':
      return { title: 'New key', verb: 'Create key' };
    case 'change':
      return {
        title: `Change the key "${action.key.name}"`,
        about: 'Changes apply immediately.',
        verb: 'Save',
      };
    case 'rotate':
      return {
        title: `Rotate the key "${action.key.name}"?`,
        about: 'Replaces the secret. Limits, budgets and records are kept.',
        verb: 'Rotate key',
      };
    case 'revoke':
      return {
        title: `Revoke the key "${action.key.name}"?`,
        about:
          'Programs that use this key are refused immediately. Its records are kept. This cannot be undone.',
        verb: 'Revoke key',
      };
  }
}

function ProjectField({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const { data } = useRead('GET /projects', { query: { limit: 100, state: 'active' } });
  return (
    <SelectField
      label="Project"
      hint="Cannot be changed later. Keys of a project share stored data and the budget."
      value={value}
      onChange={(text) => onChange(text)}
    >
      <option value="">None</option>
      {data?.data.map(({ id }) => (
        <option key={id}>{id}</option>
      ))}
    </SelectField>
  );
}
