// Making, changing, rotating and revoking a key. A new secret is shown once.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { Code } from '../ui/code.tsx';
import { Dialog, FormDialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { AllowanceFields } from './allowance-fields.tsx';
import { settingsOf, textsOf, type Key, type KeyTexts } from './key-texts.ts';

export type KeyAction =
  | { readonly type: 'create'; readonly project: string | undefined }
  | { readonly type: 'change' | 'rotate' | 'revoke'; readonly key: Key };

interface KeyDialogProps {
  readonly action: KeyAction;
  readonly onClose: () => void;
}

const GRACES = [
  ['0', 'none: the old secret ends now'],
  ['3600000', 'an hour'],
  ['86400000', 'a day'],
  ['604800000', 'a week'],
] as const;

export function KeyDialog({ action, onClose }: KeyDialogProps): ReactNode {
  const queries = useQueryClient();
  const [texts, setTexts] = useState(textsOf(action.type === 'change' ? action.key : null));
  const [project, setProject] = useState(action.type === 'create' ? (action.project ?? '') : '');
  const [grace, setGrace] = useState<string>(GRACES[1][0]);
  const doing = useMutation({
    mutationFn: async (): Promise<string | null> => {
      if (action.type === 'create') {
        const body = { ...settingsOf(texts), project: project || null };
        return (await ask('POST /keys', { body })).key;
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
      // First: whoever changes it once more changes what it is now.
      await queries.invalidateQueries({
        predicate: ({ queryKey }) => /\/(keys|limits)/.test(String(queryKey[0])),
      });
      if (secret === null) onClose();
    },
  });
  if (doing.data != null) return <Secret secret={doing.data} onClose={onClose} />;
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
      {action.type === 'create' && <ProjectField value={project} onChange={setProject} />}
      {(action.type === 'create' || action.type === 'change') && (
        <KeyFields texts={texts} onChange={setTexts} />
      )}
      {action.type === 'rotate' && (
        <SelectField label="Time in which the old secret is good, too" value={grace} onChange={setGrace}>
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

function wordsOf(action: KeyAction): { title: string; about: string; verb: string } {
  switch (action.type) {
    case 'create':
      return { title: 'New key', about: 'One for each program that asks.', verb: 'Make the key' };
    case 'change':
      return { title: `Change ${action.key.name}`, about: 'In force at once.', verb: 'Change it' };
    case 'rotate':
      return {
        title: `Rotate ${action.key.name}`,
        about: 'It gets another secret; its limits, budgets and records stay its own.',
        verb: 'Rotate it',
      };
    case 'revoke':
      return {
        title: `Revoke ${action.key.name}`,
        about: 'Programs that use it are refused from now on. Its records stay. This cannot be undone.',
        verb: 'Revoke it',
      };
  }
}

function Secret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }): ReactNode {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Here is the key"
      about="It is shown this once, and kept nowhere. Copy it now."
    >
      <Code text={secret} label="Key" />
      <div className="mt-4 flex justify-end">
        <Button look="primary" onClick={onClose}>
          I have it
        </Button>
      </div>
    </Dialog>
  );
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
      hint="It stays there. Keys of one project share what they store."
      value={value}
      onChange={(text) => onChange(text)}
    >
      <option value="">None: a project of its own</option>
      {data?.data.map(({ id }) => (
        <option key={id}>{id}</option>
      ))}
    </SelectField>
  );
}

function KeyFields({
  texts,
  onChange,
}: {
  readonly texts: KeyTexts;
  readonly onChange: (texts: KeyTexts) => void;
}): ReactNode {
  const set = (changes: Partial<KeyTexts>): void => onChange({ ...texts, ...changes });
  return (
    <>
      <TextField
        label="Name"
        required
        maxLength={256}
        value={texts.name}
        onChange={(text) => set({ name: text })}
      />
      <fieldset className="flex gap-5">
        <legend className="mb-1 text-sm font-medium text-soft">May</legend>
        {(['models', 'admin'] as const).map((role) => (
          <label key={role} className="flex items-center gap-2">
            <input
              type="checkbox"
              className="accent-accent"
              checked={texts.roles.includes(role)}
              onChange={({ target }) =>
                set({
                  roles: target.checked
                    ? [...texts.roles, role]
                    : texts.roles.filter((each) => each !== role),
                })
              }
            />
            {role === 'models' ? 'call models' : 'manage this gateway'}
          </label>
        ))}
      </fieldset>
      <TextField
        label="Models"
        hint="Behind commas, * stands for anything. Empty: all."
        placeholder="openai/*, sim/chat"
        value={texts.models}
        onChange={(text) => set({ models: text })}
      />
      <AllowanceFields allowance={texts.allowance} onChange={(allowance) => set({ allowance })} />
      <TextField
        label="Expires"
        hint="Empty: never."
        type="datetime-local"
        value={texts.expires}
        onChange={(text) => set({ expires: text })}
      />
      <SelectField
        label="Keep what its requests say"
        hint="For payloads and the wire diff."
        value={texts.logContent}
        onChange={(text) => set({ logContent: text as KeyTexts['logContent'] })}
      >
        <option value="as configured">as the configuration says</option>
        <option value="yes">yes</option>
        <option value="no">no</option>
      </SelectField>
    </>
  );
}
