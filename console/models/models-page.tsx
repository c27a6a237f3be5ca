// Models page: one row per model, expandable to the endpoints that serve it.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useList, useRead } from '../api/queries.ts';
import { counted, duration, rate, short, speed } from '../format/numbers.ts';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Choice } from '../ui/choice.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { best, cheapest, priceOf } from './facts.ts';

const here = getRouteApi('/models');

type Model = Answer<'GET /models'>['data'][number];

const COLUMNS: readonly Column<Model>[] = [
  {
    name: 'Model',
    id: 'name',
    className: 'min-w-[24ch] break-words',
    sort: ({ id }) => id,
    cell: ({ id }) => (
      <Link to="/model/$" params={{ _splat: id }} data-row className="row-link font-medium">
        {id}
      </Link>
    ),
  },
  {
    name: 'Served by',
    cell: ({ endpoints }) => (
      <span className="text-soft">{[...new Set(endpoints.map(({ provider }) => provider))].join(', ')}</span>
    ),
  },
  {
    name: 'Context',
    id: 'context',
    number: true,
    sort: ({ endpoints }) => best(endpoints, ({ facts }) => facts.context_length, 'largest'),
    cell: ({ endpoints }) => short(best(endpoints, ({ facts }) => facts.context_length, 'largest')),
  },
  {
    name: 'In per 1M',
    id: 'in',
    number: true,
    sort: ({ endpoints }) => priceOf(cheapest(endpoints)?.price?.input),
    cell: ({ endpoints }) => rate(cheapest(endpoints)?.price?.input),
  },
  {
    name: 'Out per 1M',
    id: 'out',
    number: true,
    sort: ({ endpoints }) => priceOf(cheapest(endpoints)?.price?.output),
    cell: ({ endpoints }) => rate(cheapest(endpoints)?.price?.output),
  },
  {
    name: 'First token',
    id: 'first',
    number: true,
    sort: ({ endpoints }) => best(endpoints, ({ health }) => health.first_token_ms, 'smallest'),
    cell: ({ endpoints }) =>
      measured(
        best(endpoints, ({ health }) => health.first_token_ms, 'smallest'),
        duration,
      ),
  },
  {
    name: 'Tokens/s',
    id: 'speed',
    number: true,
    sort: ({ endpoints }) => best(endpoints, ({ health }) => health.tokens_per_second, 'largest'),
    cell: ({ endpoints }) =>
      measured(
        best(endpoints, ({ health }) => health.tokens_per_second, 'largest'),
        speed,
      ),
  },
];

/** A measured value; a dash if there is none. */
function measured(value: number | null, write: (value: number) => string): ReactNode {
  return value === null ? <span className="text-faint">–</span> : write(value);
}

export function ModelsPage(): ReactNode {
  const { search = '', provider, order } = here.useSearch();
  const navigate = here.useNavigate();
  const [text, setText] = useState(search);
  const models = useList('GET /models', { search: search || undefined, provider }, { pauseMs: 15_000 });
  const providers = useRead('GET /providers', { query: { limit: 100 } });
  const show = (changes: Record<string, string | undefined>): void =>
    void navigate({
      search: (before) =>
        Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value)),
      replace: true,
    });
  return (
    <Page title="Models">
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <input
          className="field max-w-72"
          type="search"
          aria-label="Search models"
          placeholder="Search models"
          data-search
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            show({ search: target.value });
          }}
        />
        <Choice
          label="Provider"
          value={provider ?? ''}
          options={[
            ['', 'All providers'],
            ...(providers.data?.data ?? []).map(({ id, name }) => [id, name] as const),
          ]}
          onChange={(next) => show({ provider: next })}
        />
        <span className="figures ml-auto text-soft">
          {models.rows &&
            (models.hasMore
              ? `Showing the first ${models.rows.length}`
              : counted(models.rows.length, 'model'))}
        </span>
      </div>
      <Card flush>
        {!models.rows && !models.error && <Waiting rows={12} />}
        {models.error && <Problem error={models.error} />}
        {models.rows?.length === 0 && (
          <Empty icon="models" title="No models found">
            You can also use unlisted models: request <code className="font-mono">provider/name</code>.
          </Empty>
        )}
        {models.rows && models.rows.length > 0 && (
          <Table
            label="Models"
            columns={COLUMNS}
            rows={models.rows}
            keyOf={({ id }) => id}
            order={order}
            onOrder={(next) => show({ order: next })}
          />
        )}
        <More list={models} />
      </Card>
    </Page>
  );
}
