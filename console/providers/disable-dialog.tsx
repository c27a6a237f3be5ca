// Dialog that disables a provider or one of its endpoints: duration, reason, and alternative providers.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { counted } from '../format/numbers.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { toast } from '../ui/toast.ts';
import type { Provider } from './provider.ts';

const TIMES = [
  ['900000', '15 minutes'],
  ['3600000', 'an hour'],
  ['14400000', '4 hours'],
  ['86400000', 'a day'],
] as const;

interface DisableDialogProps {
  readonly provider: Provider;
  /** Null: all endpoints of the provider. */
  readonly model: string | null;
  readonly onUndo: () => void;
  readonly onClose: () => void;
}

export function DisableDialog({ provider, model, onUndo, onClose }: DisableDialogProps): ReactNode {
  const { id, name, endpoints } = provider;
  const [time, setTime] = useState<string>(TIMES[1][0]);
  const [reason, setReason] = useState('');
  const queries = useQueryClient();
  const what = model ?? name;
  const doing = useMutation({
    mutationFn: () =>
      ask('POST /providers/{id}/breaker', {
        params: { id },
        body: {
          state: 'open',
          for_ms: Number(time),
          ...(reason.trim() !== '' && { reason: reason.trim() }),
          ...(model !== null && { model }),
        },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({
        predicate: ({ queryKey }) => /provider|problem/.test(String(queryKey[0])),
      });
      toast({ title: `${what} is disabled`, undo: onUndo });
      onClose();
    },
  });
  const models = model === null ? [...new Set(endpoints.map((each) => each.model_id))] : [model];
  return (
    <FormDialog
      title={`Disable ${what}`}
      about={<StandIns provider={id} models={models} />}
      verb="Disable"
      danger
      busy={doing.isPending}
      error={doing.error}
      onSubmit={() => doing.mutate()}
      onClose={onClose}
    >
      <SelectField label="For" value={time} onChange={setTime}>
        {TIMES.map(([ms, text]) => (
          <option key={ms} value={ms}>
            {text}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Why"
        hint="Shown to other operators."
        value={reason}
        maxLength={200}
        onChange={setReason}
      />
    </FormDialog>
  );
}

/** Providers that would serve the models instead. */
function StandIns({
  provider,
  models,
}: {
  readonly provider: string;
  readonly models: readonly string[];
}): ReactNode {
  const { data } = useRead('GET /models', { query: { limit: 100, provider } });
  if (!data) return 'Looking for replacements…';
  const of = new Map(
    data.data.map(({ id, endpoints }) => [
      id,
      [...new Set(endpoints.map((each) => each.provider).filter((each) => each !== provider))],
    ]),
  );
  const alone = models.filter((each) => (of.get(each) ?? []).length === 0);
  const others = [...new Set(models.flatMap((each) => of.get(each) ?? []))];
  const found = models.length - alone.length;
  return (
    <>
      {found > 0 && `${others.join(', ')} would replace it for ${counted(found, 'model')}. `}
      {alone.length > 0 &&
        `No replacement for ${alone.slice(0, 5).join(', ')}${alone.length > 5 ? ` and ${alone.length - 5} more` : ''}: requests for ${alone.length === 1 ? 'it' : 'them'} would fail, unless keys or requests specify another model.`}
    </>
  );
}
