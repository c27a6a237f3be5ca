// Form for a request whose routing decision is then shown. Nothing is sent to a provider.
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/card.tsx';
import { Field, SelectField, TextField } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { WhyHere } from '../ui/why-here.tsx';
import { explainRoute } from './explain-route.ts';

/** Factors by which endpoints can be ordered. Empty: the order of the key and the configuration. */
const FACTORS = ['price', 'latency', 'throughput', 'quality'] as const;

interface Wish {
  readonly model: string;
  readonly factor: string;
  /** Provider to exclude; empty: none. */
  readonly without: string;
}

const FIRST: Wish = { model: 'sim/chat', factor: '', without: '' };

/** Body of a Chat Completions request for the form. */
function bodyOf({ model, factor, without }: Wish): string {
  const provider = {
    ...(factor !== '' && { routing: { type: 'priority', primary_factor: factor } }),
    ...(without !== '' && { ignore: [without] }),
  };
  const request = {
    model,
    messages: [{ role: 'user', content: 'Hello' }],
    ...(Object.keys(provider).length > 0 && { provider }),
  };
  return JSON.stringify(request, null, 2);
}

export function Explain(): ReactNode {
  const [wish, setWish] = useState(FIRST);
  const [own, setOwn] = useState<string | null>(null);
  const [key, setKey] = useState('');
  const body = own ?? bodyOf(wish);
  const providers = useRead('GET /providers', { query: { limit: 100 } });
  const keys = useRead('GET /keys', { query: { limit: 100, state: 'unrevoked' } });
  const models = useRead('GET /models', { query: { limit: 100 } });
  const unread = providers.error ?? keys.error ?? models.error;
  const asking = useMutation({ mutationFn: () => explainRoute(body, key) });
  const set = (changes: Partial<Wish>): void => {
    setWish({ ...wish, ...changes });
    setOwn(null);
  };
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          asking.mutate();
        }}
      >
        {unread && <Problem error={unread}> Some choices are missing here.</Problem>}
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Model"
            list="routing-models"
            value={wish.model}
            onChange={(text) => set({ model: text.trim() })}
          />
          <datalist id="routing-models">
            {models.data?.data.map(({ id }) => (
              <option key={id} value={id} />
            ))}
          </datalist>
          <SelectField label="Key" value={key} onChange={setKey}>
            <option value="">Key of the console</option>
            {keys.data?.data
              .filter(({ roles }) => roles.includes('models'))
              .map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
          </SelectField>
          <SelectField label="Order endpoints by" value={wish.factor} onChange={(factor) => set({ factor })}>
            <option value="">Configured order</option>
            {FACTORS.map((factor) => (
              <option key={factor}>{factor}</option>
            ))}
          </SelectField>
          <SelectField label="Without provider" value={wish.without} onChange={(without) => set({ without })}>
            <option value="">None</option>
            {providers.data?.data.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </SelectField>
        </div>
        <details>
          <summary className="target text-soft">The request as JSON</summary>
          <Field
            label="Request"
            hint="In any of the protocols. The request is planned, not sent."
            className="mt-2"
          >
            {(control) => (
              <textarea
                {...control}
                className="field font-mono"
                rows={10}
                spellCheck={false}
                value={body}
                onChange={({ target }) => setOwn(target.value)}
              />
            )}
          </Field>
        </details>
        <Button type="submit" look="primary" icon="routing" busy={asking.isPending} className="self-start">
          Explain
        </Button>
      </form>
      <section aria-label="Decision" aria-live="polite">
        {asking.error && <Problem error={asking.error} />}
        {asking.data && !asking.error && <WhyHere route={asking.data} />}
        {!asking.data && !asking.error && (
          <Empty icon="routing" title="See where a request would go">
            The plan shows the endpoints in their order with reasons, and those that are excluded. Nothing is
            sent.
          </Empty>
        )}
      </section>
    </div>
  );
}
