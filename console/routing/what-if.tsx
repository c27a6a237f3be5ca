// Estimates from records what past requests would have cost under another policy, without a provider, or at other
// prices.
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask, type Answer } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import type { Operations } from '../api/schema.ts';
import { count, counted, duration, share, usd, usdSum } from '../format/numbers.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/card.tsx';
import { Facts } from '../ui/facts.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { Signal } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';

type Result = Answer<'POST /what-if'>;
type Asked = Operations['POST /what-if']['body'];
type Factor = NonNullable<NonNullable<Asked['policy']>['primary_factor']>;

const FACTORS: readonly Factor[] = ['price', 'latency', 'throughput', 'quality'];
const DAY_MS = 86_400_000;

interface Wishes {
  readonly factor: Factor | '';
  readonly without: readonly string[];
  readonly cheaper: string;
  /** Percent of the current price. */
  readonly percent: number;
  readonly from: string;
  readonly to: string;
  readonly days: number;
}

const NONE: Wishes = { factor: '', without: [], cheaper: '', percent: 50, from: '', to: '', days: 7 };

function askedOf({ factor, without, cheaper, percent, from, to, days }: Wishes): Asked {
  return {
    from: new Date(Date.now() - days * DAY_MS).toISOString(),
    ...(factor !== '' && { policy: { type: 'priority', primary_factor: factor } }),
    without,
    ...(cheaper !== '' && { prices: [{ provider: cheaper, factor: percent / 100 }] }),
    ...(from !== '' && to !== '' && { models: { [from]: to } }),
  };
}

export function WhatIf(): ReactNode {
  const [wishes, setWishes] = useState(NONE);
  const providers = useRead('GET /providers', { query: { limit: 100 } });
  const asking = useMutation({ mutationFn: () => ask('POST /what-if', { body: askedOf(wishes) }) });
  const set = (changes: Partial<Wishes>): void => setWishes({ ...wishes, ...changes });
  const ids = providers.data?.data.map(({ id }) => id) ?? [];
  return (
    <div className="flex flex-col gap-6">
      <form
        className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4"
        onSubmit={(event) => {
          event.preventDefault();
          asking.mutate();
        }}
      >
        <SelectField
          label="Requests of the last"
          value={wishes.days}
          onChange={(text) => set({ days: Number(text) })}
        >
          {[1, 7, 30].map((days) => (
            <option key={days} value={days}>
              {days === 1 ? 'day' : `${days} days`}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Order endpoints by"
          value={wishes.factor}
          onChange={(text) => set({ factor: text as Wishes['factor'] })}
        >
          <option value="">Configured order</option>
          {FACTORS.map((factor) => (
            <option key={factor}>{factor}</option>
          ))}
        </SelectField>
        <SelectField
          label="Without provider"
          value={wishes.without[0] ?? ''}
          onChange={(text) => set({ without: text === '' ? [] : [text] })}
        >
          <option value="">None</option>
          {ids.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </SelectField>
        <div className="flex gap-2">
          <SelectField
            label="Change prices of"
            className="flex-1"
            value={wishes.cheaper}
            onChange={(text) => set({ cheaper: text })}
          >
            <option value="">None</option>
            {ids.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </SelectField>
          <TextField
            label="to (%)"
            className="w-20"
            type="number"
            min={0}
            max={1000}
            value={wishes.percent}
            onChange={(text) => set({ percent: Number(text) || 0 })}
          />
        </div>
        <TextField
          label="Replace model"
          className="lg:col-span-2"
          placeholder="sim/chat"
          value={wishes.from}
          onChange={(text) => set({ from: text.trim() })}
        />
        <TextField
          label="with model"
          className="lg:col-span-2"
          placeholder="sim/gemini"
          value={wishes.to}
          onChange={(text) => set({ to: text.trim() })}
        />
        <Button type="submit" look="primary" busy={asking.isPending} className="justify-self-start">
          Estimate
        </Button>
      </form>
      <section aria-label="Estimate" aria-live="polite">
        {asking.error && <Problem error={asking.error} />}
        {asking.data && <Estimate result={asking.data} />}
        {!asking.data && !asking.error && (
          <Empty icon="routing" title="Estimate a change before you make it">
            Choose a change. The estimate is made from recorded requests: cost, speed and endpoints with and
            without it. Nothing is sent.
          </Empty>
        )}
      </section>
    </div>
  );
}

type Group = Result['groups'][number];

/** Figures that are compared per group. */
const SIDES: readonly (readonly [name: string, write: (side: Group['before']) => string])[] = [
  ['Share', (side) => share(side.share)],
  ['Cost', (side) => usdSum(side.usd, side.unpriced)],
  ['Duration', (side) => duration(side.duration_ms)],
];

function Estimate({ result }: { readonly result: Result }): ReactNode {
  const { before, after, sampled, whole, moved, groups, unserved, assumptions } = result;
  if (sampled === 0)
    return (
      <Empty icon="requests" title="No served requests in this period">
        Choose a longer period, or send a request first.
      </Empty>
    );
  const saved = before.usd - after.usd;
  const isShort = Object.keys(unserved).length > 0;
  return (
    <div className="flex flex-col gap-4">
      <p className="flex flex-wrap items-center gap-2">
        <Signal tone="info">Estimate</Signal>
        {whole ? `Of all ${count(sampled)} requests` : `Of a sample of ${count(sampled)} requests`},{' '}
        {count(moved)} would have gone to another endpoint.
      </p>
      <Facts
        facts={[
          ['Cost before', usdSum(before.usd, before.unpriced)],
          ['Cost after', usdSum(after.usd, after.unpriced)],
          [saved >= 0 ? 'Saved' : 'More', isShort ? '–' : usd(Math.abs(saved))],
          ['First token', `${duration(before.first_content_ms)} → ${duration(after.first_content_ms)}`],
        ]}
      />
      {isShort && (
        <Problem error="Some requests could not have been served. They cost nothing, so the difference is not a saving.">
          <ul className="mt-1 list-disc pl-5 text-sm">
            {Object.entries(unserved).map(([reason, number]) => (
              <li key={reason}>
                {counted(number, 'request')}: {reason}
              </li>
            ))}
          </ul>
        </Problem>
      )}
      <div className="overflow-x-auto rounded-md border">
        <Table
          label="By endpoint"
          rows={groups}
          keyOf={(group) => `${group.model} ${group.endpoint}`}
          columns={[
            {
              name: 'Model at endpoint',
              cell: ({ model, endpoint }) => (
                <>
                  <span className="font-medium">{model}</span>{' '}
                  <span className="font-normal text-faint">at {endpoint}</span>
                </>
              ),
            },
            ...SIDES.flatMap(([name, write]) => [
              { name, number: true, cell: (group: Group) => write(group.before) },
              { name: `${name}, then`, number: true, cell: (group: Group) => write(group.after) },
            ]),
          ]}
        />
      </div>
      <details className="text-sm text-soft">
        <summary>How this is computed</summary>
        <ul className="mt-1 list-disc pl-5">
          {assumptions.map((assumption) => (
            <li key={assumption}>{assumption}</li>
          ))}
        </ul>
      </details>
    </div>
  );
}
