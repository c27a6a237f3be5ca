// Shows a new secret with the base URL, code snippets, a test request, and all of it as a message to send.
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { duration } from '../format/numbers.ts';
import { Button } from '../ui/button.tsx';
import { Code } from '../ui/code.tsx';
import { Icon } from '../ui/icon.tsx';
import { ShownOnce } from '../ui/shown-once.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { messageOf, snippetsOf } from './snippets.ts';
import { tryKey } from './try-key.ts';

interface HandOverProps {
  readonly secret: string;
  readonly name: string;
  /** Ids and patterns of allowed models; none: all. */
  readonly models: readonly string[];
  readonly onDone: () => void;
}

export function HandOver({ secret, name, models, onDone }: HandOverProps): ReactNode {
  const [form, setForm] = useState('curl');
  const model = useAllowedModel(models);
  const base = `${location.origin}/v1`;
  const snippets = snippetsOf({ origin: location.origin, secret, model });
  const trying = useMutation({ mutationFn: () => tryKey(secret, model) });
  return (
    <ShownOnce
      title={`Hand over ${name}`}
      about="The key is shown only now, and stored nowhere."
      secret={{ name: 'Key', text: secret }}
      rows={[{ name: 'Base URL', text: base }]}
      onDone={onDone}
      actions={(copy) => (
        <>
          <Button busy={trying.isPending} onClick={() => trying.mutate()}>
            Test it
          </Button>
          <Button icon="copy" onClick={() => copy(messageOf({ name, base, secret, model }))}>
            Copy all as a message
          </Button>
        </>
      )}
    >
      {(onCopied) => (
        <>
          <div className="rounded-md border">
            <Tabs
              label="Program"
              value={form}
              onChange={setForm}
              tabs={snippets.map(({ id, text }) => ({
                id,
                label: id,
                content: <Code text={text} label={id} onCopied={onCopied} />,
              }))}
            />
          </div>
          {trying.data && (
            <p role="status" className={`flex items-start gap-2 ${trying.data.isGood ? '' : 'text-bad'}`}>
              <Icon name={trying.data.isGood ? 'good' : 'bad'} />
              <span className="min-w-0 break-words">
                {trying.data.isGood
                  ? `${model} responded in ${duration(trying.data.ms)}: “${trying.data.text}”`
                  : `Failed with ${trying.data.status}: ${trying.data.text}`}
              </span>
            </p>
          )}
          {trying.error && <p className="text-bad">{trying.error.message}</p>}
        </>
      )}
    </ShownOnce>
  );
}

/** A model that the key may use: the first selected one, else the first of the catalogue that is not simulated. */
function useAllowedModel(models: readonly string[]): string {
  const exact = models.find((each) => !each.includes('*'));
  const prefix = models[0]?.split('*')[0] ?? '';
  const { data } = useRead(
    'GET /models',
    { query: { limit: 100, search: prefix || undefined } },
    { when: exact === undefined },
  );
  const fitting = (data?.data ?? []).map(({ id }) => id).filter((id) => id.startsWith(prefix));
  return exact ?? fitting.find((id) => !id.startsWith('sim/')) ?? fitting[0] ?? 'sim/chat';
}
