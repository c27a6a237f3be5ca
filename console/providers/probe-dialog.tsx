// Dialog that probes a model at a provider. Shows the maximum cost before it starts.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { count, exactUsd } from '../format/numbers.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { SelectField } from '../ui/field.tsx';
import { toast } from '../ui/toast.ts';

interface ProbeDialogProps {
  readonly provider: string;
  /** Models of the provider; at least one. */
  readonly models: readonly string[];
  readonly onClose: () => void;
}

export function ProbeDialog({ provider, models, onClose }: ProbeDialogProps): ReactNode {
  const [model, setModel] = useState(models[0] ?? '');
  const plan = useRead('GET /doctor/plan', { query: { provider, model } });
  const queries = useQueryClient();
  const probing = useMutation({
    mutationFn: () => ask('POST /doctor/probes', { body: { provider, model } }),
    onSuccess: async ({ findings }) => {
      await queries.invalidateQueries({
        predicate: ({ queryKey }) => String(queryKey[0]).startsWith('GET /doctor'),
      });
      const yes = findings.filter(({ outcome }) => outcome === 'yes').length;
      toast({ title: `${model}: ${count(yes)} of ${count(findings.length)} probes passed` });
      onClose();
    },
  });
  return (
    <FormDialog
      title="Probe now"
      about={<Cost plan={plan.data} />}
      verb={probing.isPending ? 'Probing…' : 'Probe'}
      busy={probing.isPending}
      error={probing.error ?? plan.error}
      onSubmit={() => probing.mutate()}
      onClose={onClose}
    >
      <SelectField label="Model" value={model} onChange={setModel}>
        {models.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </SelectField>
      {probing.isPending && (
        <p role="status" className="text-soft">
          This can take minutes. The results are stored even if you close this dialog.
        </p>
      )}
    </FormDialog>
  );
}

interface Plan {
  readonly requests: number;
  readonly tokens: number;
  readonly cost_usd: number | null;
  readonly stored: boolean;
}

/** Maximum cost of the probes. @param plan undefined while loading */
function Cost({ plan }: { readonly plan: Plan | undefined }): ReactNode {
  if (!plan) return 'Estimating the cost…';
  const { requests, tokens, cost_usd: usd, stored } = plan;
  const price =
    usd === null
      ? 'The price of this model is unknown.'
      : usd === 0
        ? 'It is free.'
        : `It costs at most ${exactUsd(usd)}.`;
  return `At most ${count(requests)} requests and ${count(tokens)} tokens. ${price}${
    stored ? '' : ' Results of the simulated provider are not stored.'
  }`;
}
