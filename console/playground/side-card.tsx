// One side of the playground: model, protocol and conversation.
import { useState, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { useSettled } from '../api/use-settled.ts';
import { rate, short } from '../format/numbers.ts';
import { Card, Empty } from '../ui/card.tsx';
import { Choice } from '../ui/choice.tsx';
import { GuideLink } from '../ui/guide.tsx';
import { Picker, type Option } from '../ui/picker.tsx';
import type { Dialect } from './conversation.ts';
import { DIALECTS } from './dialects/index.ts';
import { Turns } from './turns.tsx';
import type { Pane } from './use-pane.ts';

const MOST = 50;

interface SideCardProps {
  readonly model: string;
  readonly dialect: Dialect;
  readonly pane: Pane;
  readonly onModel: (model: string) => void;
  readonly onProtocol: (id: string) => void;
  readonly onResults: Parameters<typeof Turns>[0]['onResults'];
}

export function SideCard({ model, dialect, pane, onModel, onProtocol, onResults }: SideCardProps): ReactNode {
  return (
    <Card
      title={
        <span className="flex flex-wrap items-center gap-2 text-sm font-normal">
          <span className="w-64 max-w-full">
            <ModelPicker model={model} onModel={onModel} />
          </span>
          <Choice
            label="Protocol"
            value={dialect.id}
            options={DIALECTS.map(({ id, label }) => [id, label] as const)}
            onChange={onProtocol}
          />
        </span>
      }
    >
      {pane.turns.length === 0 ? (
        <Empty icon="playground" title={`Send a message to ${model || 'a model'}`}>
          {model.startsWith('sim/') && (
            <>
              Try “What is 6 x 7?”, “count to 20” or “write 500 words”.{' '}
              <GuideLink to="/sim#responses">What simulated models respond to</GuideLink>
            </>
          )}
        </Empty>
      ) : (
        <Turns turns={pane.turns} onResults={onResults} />
      )}
    </Card>
  );
}

/** Suggests models with price and context length. Other ids can be entered. */
function ModelPicker({
  model,
  onModel,
}: {
  readonly model: string;
  readonly onModel: (model: string) => void;
}): ReactNode {
  const [text, setText] = useState('');
  const search = useSettled(text);
  const { data } = useRead('GET /models', { query: { limit: MOST, search: search || undefined } });
  const found = (data?.data ?? [])
    .filter(({ id }) => id.toLowerCase().includes(text.toLowerCase()))
    .map(({ id, endpoints }): Option => {
      const [first] = endpoints;
      const context = first?.facts.context_length ?? null;
      const price = first?.price ? `${rate(first.price.input)} / ${rate(first.price.output)}` : 'no price';
      return { id, name: id, note: context === null ? price : `${price} · ${short(context)}` };
    });
  const isKnown = text === '' || found.some(({ id }) => id === text);
  return (
    <Picker
      label="Model"
      value={model === '' ? null : { id: model, name: model, note: null }}
      options={isKnown ? found : [...found, { id: text, name: text, note: 'as typed' }]}
      onSearch={setText}
      onChange={(option) => option && onModel(option.id)}
    />
  );
}
