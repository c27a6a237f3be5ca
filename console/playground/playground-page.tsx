// The playground: any model in any protocol, one or two of them side by side.
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { Card, Empty, Page } from '../ui/card.tsx';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Composer } from './composer.tsx';
import type { Attachment, Dialect, Turn } from './conversation.ts';
import { codeFor, FORMS } from './copy-as.ts';
import { DIALECTS, dialectOf } from './dialects/index.ts';
import { SettingsForm, USUAL } from './settings-form.tsx';
import { Turns } from './turns.tsx';
import { usePane, type Pane } from './use-pane.ts';

const here = getRouteApi('/playground');
const FIRST_MODEL = 'sim/chat';

interface Sides {
  readonly model?: string;
  readonly protocol?: string;
  /** Those of the second side; absent: there is one. */
  readonly model2?: string;
  readonly protocol2?: string;
}

export function PlaygroundPage(): ReactNode {
  const { model = FIRST_MODEL, protocol, model2, protocol2 } = here.useSearch();
  const navigate = here.useNavigate();
  const [settings, setSettings] = useState(USUAL);
  const [codeOf, setCodeOf] = useState<0 | 1 | null>(null);
  const panes = [usePane(), usePane()] as const;
  const set = (changes: { readonly [Name in keyof Sides]?: string | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...changes }) as Sides, replace: true });
  const sides = [
    { model, dialect: dialectOf(protocol), pane: panes[0] },
    ...(model2 === undefined ? [] : [{ model: model2, dialect: dialectOf(protocol2), pane: panes[1] }]),
  ];
  const send = (text: string, files: readonly Attachment[]): void => {
    for (const side of sides)
      side.pane.send({ role: 'user', text, files }, side.dialect, { ...settings, model: side.model });
  };
  const copied = codeOf === null ? undefined : sides[codeOf];
  return (
    <Page
      title="Playground"
      about="Ask any model in any protocol; each answer is a request like others, and is counted as one."
      actions={
        <>
          <Button
            icon={model2 === undefined ? 'plus' : 'close'}
            onClick={() =>
              set(model2 === undefined ? { model2: model } : { model2: undefined, protocol2: undefined })
            }
          >
            {model2 === undefined ? 'Second model' : 'One model'}
          </Button>
          <Button onClick={() => panes.forEach((pane) => pane.clear())}>New conversation</Button>
        </>
      }
    >
      <details className="mb-4 rounded-lg border bg-card">
        <summary className="px-4 py-2.5 font-medium">System, reasoning, tools</summary>
        <div className="border-t p-4">
          <SettingsForm settings={settings} onChange={setSettings} />
        </div>
      </details>
      <div className={`grid gap-4 ${sides.length > 1 ? 'lg:grid-cols-2' : ''}`}>
        {sides.map((side, at) => (
          <SideCard
            key={at === 0 ? 'first' : 'second'}
            {...side}
            onModel={(next) => set(at === 0 ? { model: next } : { model2: next })}
            onProtocol={(next) => set(at === 0 ? { protocol: next } : { protocol2: next })}
            onCode={() => setCodeOf(at === 0 ? 0 : 1)}
            onResults={(results) =>
              side.pane.send({ role: 'tool', results }, side.dialect, { ...settings, model: side.model })
            }
          />
        ))}
      </div>
      <div className="sticky bottom-16 z-10 mt-4 md:bottom-4">
        <Composer
          isRunning={sides.some(({ pane }) => pane.isRunning)}
          canSend={sides.every((side) => side.model !== '')}
          onSend={send}
          onStop={() => sides.forEach(({ pane }) => pane.stop())}
        />
      </div>
      {copied && (
        <CodeDialog
          dialect={copied.dialect}
          model={copied.model}
          body={copied.dialect.body(asked(copied.pane.turns), { ...settings, model: copied.model })}
          onClose={() => setCodeOf(null)}
        />
      )}
    </Page>
  );
}

/** The turns up to the last question; an example where nothing was asked. */
function asked(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.findLastIndex(({ role }) => role !== 'assistant');
  return last < 0 ? [{ role: 'user', text: 'Hello!', files: [] }] : turns.slice(0, last + 1);
}

interface SideProps {
  readonly model: string;
  readonly dialect: Dialect;
  readonly pane: Pane;
  readonly onModel: (model: string) => void;
  readonly onProtocol: (id: string) => void;
  readonly onCode: () => void;
  readonly onResults: Parameters<typeof Turns>[0]['onResults'];
}

function SideCard({ model, dialect, pane, onModel, onProtocol, onCode, onResults }: SideProps): ReactNode {
  const [text, setText] = useState(model);
  const models = useRead('GET /models', {
    query: { limit: 100, search: text.includes('/') ? undefined : text },
  });
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          <input
            className="field min-w-24 max-w-64 flex-1 font-medium"
            aria-label="Model"
            list="playground-models"
            value={text}
            onChange={({ target }) => {
              setText(target.value);
              onModel(target.value.trim());
            }}
          />
          <datalist id="playground-models">
            {models.data?.data.map(({ id }) => (
              <option key={id} value={id} />
            ))}
          </datalist>
          <select
            className="field w-auto min-w-0 flex-none font-normal"
            aria-label="Protocol"
            value={dialect.id}
            onChange={({ target }) => onProtocol(target.value)}
          >
            {DIALECTS.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </span>
      }
      aside={
        <Button look="quiet" icon="copy" onClick={onCode}>
          Copy as…
        </Button>
      }
    >
      {pane.turns.length === 0 ? (
        <Empty icon="playground" title={`Ask ${model || 'a model'} something`}>
          “What is 6 x 7?”, “count to 20”, “write 500 words”: what the simulated models do is in their manual.
        </Empty>
      ) : (
        <Turns turns={pane.turns} onResults={onResults} />
      )}
    </Card>
  );
}

interface CodeDialogProps {
  readonly dialect: Dialect;
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly onClose: () => void;
}

function CodeDialog({ dialect, model, body, onClose }: CodeDialogProps): ReactNode {
  const [form, setForm] = useState<string>(FORMS[0]);
  return (
    <Dialog
      open
      onClose={onClose}
      title="The same from a program"
      about="The key is read from DRAGOMAN_KEY: make one on the page Projects and keys."
    >
      <Tabs
        label="Language"
        value={form}
        onChange={setForm}
        tabs={FORMS.map((each) => ({
          id: each,
          label: each,
          content: (
            <Code
              text={codeFor(each, dialect, { origin: location.origin, model, body })}
              label={`${each}, ${dialect.label}`}
            />
          ),
        }))}
      />
    </Dialog>
  );
}
