// Shows a new secret with the base URL, code snippets, a test request, and all of it as a message to send. The secret
// is shown only once, so the dialog closes only with "Done", and asks for confirmation if nothing was copied.
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { duration } from '../format/numbers.ts';
import { Button } from '../ui/button.tsx';
import { Code } from '../ui/code.tsx';
import { copyText } from '../ui/copy-text.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
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
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [form, setForm] = useState('curl');
  const model = useAllowedModel(models);
  const base = `${location.origin}/v1`;
  const snippets = snippetsOf({ origin: location.origin, secret, model });
  const trying = useMutation({ mutationFn: () => tryKey(secret, model) });
  const copy = (text: string): void => void copyText(text).then(() => setCopied(true));
  return (
    <Dialog
      open
      isLocked
      onClose={onDone}
      title={`Hand over ${name}`}
      about="The key is shown this once, and kept nowhere."
    >
      <div className="flex flex-col gap-4" onCopy={() => setCopied(true)}>
        <div className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-2">
          <span className="text-soft">Key</span>
          <code
            tabIndex={0}
            role="region"
            aria-label="Key"
            className="block rounded-md bg-sunk px-2 py-1.5 font-mono text-xs break-all"
          >
            {secret}
          </code>
          <Button icon="copy" onClick={() => copy(secret)}>
            Copy key
          </Button>
          <span className="text-soft">Base URL</span>
          <code className="block rounded-md bg-sunk px-2 py-1.5 font-mono text-xs break-all">{base}</code>
          <Button icon="copy" onClick={() => void copyText(base)}>
            Copy
          </Button>
        </div>
        <div className="rounded-md border">
          <Tabs
            label="Program"
            value={form}
            onChange={setForm}
            tabs={snippets.map(({ id, text }) => ({
              id,
              label: id,
              content: <Code text={text} label={id} onCopied={() => setCopied(true)} />,
            }))}
          />
        </div>
        {trying.data && (
          <p role="status" className={`flex items-start gap-2 ${trying.data.isGood ? '' : 'text-bad'}`}>
            <Icon name={trying.data.isGood ? 'good' : 'bad'} />
            <span className="min-w-0 break-words">
              {trying.data.isGood
                ? `${model} answered in ${duration(trying.data.ms)}: “${trying.data.text}”`
                : `Refused with ${trying.data.status}: ${trying.data.text}`}
            </span>
          </p>
        )}
        {trying.error && <p className="text-bad">{trying.error.message}</p>}
        <p className="min-h-4 text-xs text-soft" role="status">
          {isCopied ? 'Copied.' : isAsking ? 'The key was not copied. It cannot be shown again.' : ''}
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button busy={trying.isPending} onClick={() => trying.mutate()}>
            Test it
          </Button>
          <Button icon="copy" onClick={() => copy(messageOf({ name, base, secret, model }))}>
            Copy all as a message
          </Button>
          <Button
            look={isAsking && !isCopied ? 'danger' : 'primary'}
            onClick={() => (isCopied || isAsking ? onDone() : setAsking(true))}
          >
            {isAsking && !isCopied ? 'Done without a copy' : 'Done'}
          </Button>
        </div>
      </div>
    </Dialog>
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
