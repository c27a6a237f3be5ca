// Form fields of a key: common settings first, the others behind "More".
import { useState, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { useSettled } from '../api/use-settled.ts';
import { Field, SelectField, TextField } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Picker, type Option } from '../ui/picker.tsx';
import { BudgetFields, LimitFields } from './allowance-fields.tsx';
import type { KeyTexts } from './key-texts.ts';

interface KeyFieldsProps {
  readonly texts: KeyTexts;
  readonly onChange: (texts: KeyTexts) => void;
  /** Placed after the name. */
  readonly children?: ReactNode;
}

export function KeyFields({ texts, onChange, children }: KeyFieldsProps): ReactNode {
  const set = (changes: Partial<KeyTexts>): void => onChange({ ...texts, ...changes });
  return (
    <>
      <TextField
        label="Name"
        required
        maxLength={256}
        placeholder="Program or person that will use it"
        value={texts.name}
        onChange={(text) => set({ name: text })}
      />
      {children}
      <BudgetFields allowance={texts.allowance} onChange={(allowance) => set({ allowance })} />
      <ModelsField
        models={texts.models}
        onChange={(models) => set({ models })}
        refuses={texts.allowance.usd !== '' && texts.allowance.unpriced === 'refuse'}
      />
      <details className="rounded-md border">
        <summary className="target px-3 py-2 font-medium">More: limits, expiry, role, content</summary>
        <div className="flex flex-col gap-4 border-t p-3">
          <LimitFields allowance={texts.allowance} onChange={(allowance) => set({ allowance })} />
          <TextField
            label="Expires"
            hint="Empty: never."
            type="datetime-local"
            value={texts.expires}
            onChange={(text) => set({ expires: text })}
          />
          <fieldset className="flex flex-wrap gap-x-5 gap-y-1">
            <legend className="mb-1 text-sm font-medium text-soft">May</legend>
            {(['models', 'admin'] as const).map((role) => (
              <label key={role} className="target flex items-center gap-2">
                <input
                  type="checkbox"
                  className="size-4 accent-accent"
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
          <SelectField
            label="Log prompts and responses"
            hint="Required for the conversation and changes of a request."
            value={texts.logContent}
            onChange={(text) => set({ logContent: text as KeyTexts['logContent'] })}
          >
            <option value="as configured">as configured</option>
            <option value="yes">yes</option>
            <option value="no">no</option>
          </SelectField>
        </div>
      </details>
    </>
  );
}

/** Maximum number of suggested models. */
const MOST = 30;

interface ModelsFieldProps {
  readonly models: readonly string[];
  readonly onChange: (models: readonly string[]) => void;
  /** True: models without a price are rejected. */
  readonly refuses: boolean;
}

function ModelsField({ models, onChange, refuses }: ModelsFieldProps): ReactNode {
  const [text, setText] = useState('');
  const [unpriced, setUnpriced] = useState<readonly string[]>([]);
  const search = useSettled(text);
  const { data } = useRead('GET /models', { query: { limit: MOST, search: search || undefined } });
  const found = (data?.data ?? [])
    .filter(({ id }) => !models.includes(id) && id.toLowerCase().includes(text.toLowerCase()))
    .map(({ id, endpoints }): Option => ({
      id,
      name: id,
      note: endpoints.every(({ price }) => price === null) ? 'no price' : null,
    }));
  const isPattern = text.includes('*') || (text !== '' && !found.some(({ id }) => id === text));
  const options = isPattern ? [...found, { id: text, name: text, note: 'as a pattern' }] : found;
  const wrong = models.filter((model) => unpriced.includes(model));
  return (
    <div>
      <Field
        label="Models"
        hint={models.length === 0 ? 'Empty: all models. * is a wildcard, as in openai/*.' : null}
      >
        {() => (
          <Picker
            key={models.length}
            label="Models"
            value={null}
            options={options}
            onSearch={setText}
            onChange={(option) => {
              setText('');
              if (!option || models.includes(option.id)) return;
              if (option.note === 'no price') setUnpriced([...unpriced, option.id]);
              onChange([...models, option.id]);
            }}
          />
        )}
      </Field>
      {models.length > 0 && (
        <ul className="mt-2 flex flex-wrap gap-1.5">
          {models.map((model) => (
            <li key={model}>
              <button
                type="button"
                aria-label={`Remove ${model}`}
                onClick={() => onChange(models.filter((each) => each !== model))}
                className="target inline-flex min-h-7 items-center gap-1.5 rounded-md border bg-sunk px-2 hover:border-edge"
              >
                {model} <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {wrong.length > 0 && refuses && (
        <p role="status" className="mt-2 rounded-md bg-warn-wash px-3 py-2 text-warn">
          {wrong.join(', ')}: price unknown, so the budget refuses {wrong.length === 1 ? 'it' : 'them'}. Set a
          price in dragoman.yaml, or allow models without a price under “More”.
        </p>
      )}
    </div>
  );
}
