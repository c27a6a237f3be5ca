// Dialog that shows the configuration for a new provider and the file to add it to. The gateway validates it.
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, SelectField, TextField } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Problem } from '../ui/problem.tsx';
import { PRESETS, yamlOf } from './presets.ts';

const ADDRESS = 'http://10.0.0.5:8000/v1';

export function AddDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [id, setId] = useState(PRESETS[0]?.id ?? '');
  const [address, setAddress] = useState(ADDRESS);
  const [own, setOwn] = useState<string | null>(null);
  const config = useRead('GET /config');
  const preset = PRESETS.find((each) => each.id === id);
  const text = own ?? (preset ? yamlOf(preset, address) : '');
  const checking = useMutation({ mutationFn: () => ask('POST /config/check', { body: { config: text } }) });
  const { data: found } = checking;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Add provider"
      about="Providers are defined in the configuration file. Changes take effect immediately."
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          checking.mutate();
        }}
      >
        <SelectField
          label="Provider"
          value={id}
          onChange={(next) => {
            setId(next);
            setOwn(null);
            checking.reset();
          }}
        >
          {PRESETS.map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </SelectField>
        {preset?.variable === null && (
          <TextField
            label="Address"
            type="url"
            value={address}
            onChange={(next) => {
              setAddress(next);
              setOwn(null);
            }}
          />
        )}
        <Field
          label={`Add to ${config.data?.path ?? 'dragoman.yaml in the folder where you start the gateway'}`}
          hint={
            preset?.variable == null ? undefined : `Set ${preset.variable} in the environment of the gateway.`
          }
        >
          {(control) => (
            <textarea
              {...control}
              className="field font-mono"
              rows={5}
              spellCheck={false}
              value={text}
              onChange={({ target }) => setOwn(target.value)}
            />
          )}
        </Field>
        {checking.error && <Problem error={checking.error} />}
        {found && !found.valid && <Problem error={found.problems.join(' ')} />}
        {found?.valid === true && (
          <p className="flex items-start gap-2" role="status">
            <Icon name="good" />
            <span>
              The configuration is valid.
              {found.unchecked.length > 0 &&
                ` Not validated, because the value comes from a variable: ${found.unchecked.join(', ')}.`}
            </span>
          </p>
        )}
        <div className="flex justify-end gap-2">
          <CopyButton text={text} label="Copy YAML" />
          <Button type="submit" look="primary" busy={checking.isPending}>
            Check
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
