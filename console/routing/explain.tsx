// A request is written, and the decision about it is shown; nothing is sent to a provider.
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/card.tsx';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { WhyHere } from '../ui/why-here.tsx';
import { explainRoute } from './explain-route.ts';

const EXAMPLE = `{
  "model": "sim/chat",
  "messages": [{ "role": "user", "content": "Hello" }],
  "provider": { "routing": { "type": "priority", "primary_factor": "price" } }
}`;
const NOBODY: ReadonlyMap<string, string> = new Map();

export function Explain(): ReactNode {
  const [body, setBody] = useState(EXAMPLE);
  const asking = useMutation({ mutationFn: () => explainRoute(body) });
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          asking.mutate();
        }}
      >
        <Field label="Request" hint="As any of the protocols writes it. It is planned and not sent.">
          {(control) => (
            <textarea
              {...control}
              className="field font-mono"
              rows={14}
              spellCheck={false}
              value={body}
              onChange={({ target }) => setBody(target.value)}
            />
          )}
        </Field>
        <Button type="submit" look="primary" icon="routing" busy={asking.isPending} className="self-start">
          Explain
        </Button>
      </form>
      <section aria-label="Decision" aria-live="polite">
        {asking.error && <Problem error={asking.error} />}
        {asking.data && !asking.error && <WhyHere route={asking.data} asked={NOBODY} />}
        {!asking.data && !asking.error && (
          <Empty icon="routing" title="Ask where a request would go">
            The order of endpoints, the reason of each, and who is passed over are shown here.
          </Empty>
        )}
      </section>
    </div>
  );
}
