// Playground: one or two conversations with any model in any protocol, with settings and the equivalent code.
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Card, Page } from '../ui/card.tsx';
import { Code } from '../ui/code.tsx';
import { Problem } from '../ui/problem.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Composer } from './composer.tsx';
import type { Attachment, Turn } from './conversation.ts';
import { codeFor, FORMS } from './copy-as.ts';
import { dialectOf } from './dialects/index.ts';
import { useFirstModel, rememberModel, useOtherModel } from './first-model.ts';
import { SettingsForm, USUAL } from './settings-form.tsx';
import { SideCard } from './side-card.tsx';
import { useAsked } from './use-asked.ts';
import { usePane } from './use-pane.ts';

const here = getRouteApi('/playground');

interface Sides {
  readonly model?: string;
  readonly protocol?: string;
  /** Model of the second side; absent: only one side. */
  readonly model2?: string;
  readonly protocol2?: string;
}

export function PlaygroundPage(): ReactNode {
  const { model: given, protocol, model2, protocol2, request } = here.useSearch();
  const { model, error } = useFirstModel(given);
  const another = useOtherModel(model);
  const navigate = here.useNavigate();
  const [settings, setSettings] = useState(USUAL);
  const [codeOf, setCodeOf] = useState<0 | 1>(0);
  const panes = [usePane(), usePane()] as const;
  const question = useAsked(request);
  const put = useEffectEvent((system: string) => setSettings({ ...settings, system }));
  useEffect(() => {
    if (question && question.system !== '') put(question.system);
  }, [question]);
  const set = (changes: { readonly [Name in keyof Sides]?: string | undefined }): void =>
    void navigate({ search: (before) => ({ ...before, ...changes }) as Sides, replace: true });
  const sides = [
    { model, dialect: dialectOf(protocol), pane: panes[0] },
    ...(model2 === undefined ? [] : [{ model: model2, dialect: dialectOf(protocol2), pane: panes[1] }]),
  ];
  const send = (text: string, files: readonly Attachment[]): void => {
    rememberModel(model);
    for (const side of sides)
      side.pane.send({ role: 'user', text, files }, side.dialect, { ...settings, model: side.model });
  };
  const coded = sides[codeOf] ?? sides[0];
  return (
    <Page
      title="Playground"
      actions={
        <>
          <Button
            icon={model2 === undefined ? 'plus' : 'close'}
            onClick={() =>
              set(model2 === undefined ? { model2: another } : { model2: undefined, protocol2: undefined })
            }
          >
            {model2 === undefined ? 'Second model' : 'One model'}
          </Button>
          <Button onClick={() => panes.forEach((pane) => pane.clear())}>New conversation</Button>
        </>
      }
    >
      {error && (
        <div className="mb-4">
          <Problem error={error}>
            {' '}
            The list of models cannot be read, but you can enter the id of a model.
          </Problem>
        </div>
      )}
      <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_18rem_22rem]">
        <div className="flex min-w-0 flex-col gap-4 xl:min-h-[calc(100dvh-6rem)]">
          <div className={`grid flex-1 gap-4 ${sides.length > 1 ? 'lg:grid-cols-2' : ''}`}>
            {sides.map((side, at) => (
              <SideCard
                key={at === 0 ? 'first' : 'second'}
                {...side}
                onModel={(next) => set(at === 0 ? { model: next } : { model2: next })}
                onProtocol={(next) => set(at === 0 ? { protocol: next } : { protocol2: next })}
                onResults={(results) =>
                  side.pane.send({ role: 'tool', results }, side.dialect, { ...settings, model: side.model })
                }
              />
            ))}
          </div>
          <div className="sticky bottom-16 z-10 md:bottom-4">
            <Composer
              key={question?.text ?? ''}
              text={question?.text ?? ''}
              isRunning={sides.some(({ pane }) => pane.isRunning)}
              canSend={sides.every((side) => side.model !== '')}
              onSend={send}
              onStop={() => sides.forEach(({ pane }) => pane.stop())}
            />
          </div>
        </div>
        <Card title="Settings">
          <SettingsForm settings={settings} onChange={setSettings} />
        </Card>
        <Card
          title="Code"
          flush
          aside={
            sides.length > 1 && (
              <div role="group" aria-label="Model" className="flex gap-1">
                {sides.map((side, at) => (
                  <Button
                    key={at}
                    look="quiet"
                    aria-pressed={coded === side}
                    onClick={() => setCodeOf(at === 0 ? 0 : 1)}
                  >
                    {at + 1}
                  </Button>
                ))}
              </div>
            )
          }
        >
          {coded && (
            <CodeTabs
              label={coded.dialect.label}
              codeIn={(form) =>
                codeFor(form, coded.dialect, {
                  origin: location.origin,
                  model: coded.model,
                  body: coded.dialect.body(asked(coded.pane.turns), { ...settings, model: coded.model }),
                })
              }
            />
          )}
        </Card>
      </div>
    </Page>
  );
}

/** Turns up to the last question; an example if there are none. */
function asked(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.findLastIndex(({ role }) => role !== 'assistant');
  return last < 0 ? [{ role: 'user', text: 'Hello!', files: [] }] : turns.slice(0, last + 1);
}

interface CodeTabsProps {
  readonly label: string;
  readonly codeIn: (form: (typeof FORMS)[number]) => string;
}

function CodeTabs({ label, codeIn }: CodeTabsProps): ReactNode {
  const [form, setForm] = useState<string>(FORMS[0]);
  return (
    <Tabs
      label="Language"
      value={form}
      onChange={setForm}
      tabs={FORMS.map((each) => ({
        id: each,
        label: each,
        content: (
          <>
            <Code text={codeIn(each)} label={`${each}, ${label}`} />
            <p className="mt-2 text-xs text-faint">
              The code reads the key from DRAGOMAN_KEY. Create a key on the page Keys.
            </p>
          </>
        ),
      }))}
    />
  );
}
