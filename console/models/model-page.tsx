// Page of one model: endpoints with prices and health, use in the last week, and sample code.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { field } from '../api/sums.ts';
import { SpendChart } from '../charts/spend-chart.tsx';
import { counted, duration, exactUsd, rate, share, short, speed, usdSum } from '../format/numbers.ts';
import { priceSource } from '../format/states.ts';
import { useSpan } from '../time/use-span.ts';
import { buttonClass } from '../ui/button.tsx';
import { Card, Page, Waiting } from '../ui/card.tsx';
import { Code } from '../ui/code.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import type { Endpoint } from './facts.ts';

const here = getRouteApi('/model/$');
const USD = field('usd');
const WEEK = { range: '7d' } as const;

export function ModelPage(): ReactNode {
  const { _splat: id = '' } = here.useParams();
  const { data, error } = useRead('GET /models/{id}', { params: { id } });
  return (
    <Page
      title={id}
      before={
        <Link to="/models" className="link target inline-flex items-center">
          Models
        </Link>
      }
      actions={
        <>
          <Link to="/requests" search={{ model: id }} className={buttonClass()}>
            Requests
          </Link>
          <Link to="/playground" search={{ model: id }} className={buttonClass('primary')}>
            Try it
          </Link>
        </>
      }
    >
      {error && <Problem error={error} />}
      {!data && !error && <Waiting rows={8} />}
      {data && (
        <div className="flex flex-col gap-4">
          <Card flush title="Endpoints">
            <Endpoints endpoints={data.endpoints} />
          </Card>
          <div className="grid gap-4 xl:grid-cols-2">
            <Use model={id} />
            <Card title="From a program" flush>
              <Snippets model={id} />
            </Card>
          </div>
        </div>
      )}
    </Page>
  );
}

function Endpoints({ endpoints }: { readonly endpoints: readonly Endpoint[] }): ReactNode {
  return (
    <Table
      label="Endpoints"
      rows={endpoints}
      keyOf={({ slug, protocol, model }) => `${slug} ${protocol} ${model}`}
      columns={[
        {
          name: 'Endpoint',
          cell: ({ slug, provider, protocol, model }) => (
            <>
              <Link to="/providers/$provider" params={{ provider }} data-row className="row-link font-medium">
                {slug}
              </Link>
              <span className="block text-xs font-normal text-faint">
                {protocol} · {model}
              </span>
            </>
          ),
        },
        {
          name: 'Context',
          number: true,
          cell: ({ facts }) => short(facts.context_length),
        },
        {
          name: 'Prices per 1M',
          cell: ({ price }) =>
            price === null ? (
              <span className="text-soft">
                Unknown. Set <code className="font-mono">price</code> in dragoman.yaml
              </span>
            ) : (
              <span className="figures">
                {rate(price.input)} in, {rate(price.output)} out
                {price.cache_read !== undefined && `, ${rate(price.cache_read)} from cache`}
                {price.request !== undefined && `, ${exactUsd(price.request)} per request`}
                <span className="block text-xs text-faint">{priceSource(price.source)}</span>
              </span>
            ),
        },
        {
          name: 'First token',
          number: true,
          cell: ({ health }) => (health.first_token_ms === null ? '–' : duration(health.first_token_ms)),
        },
        {
          name: 'Tokens/s',
          number: true,
          cell: ({ health }) => (health.tokens_per_second === null ? '–' : speed(health.tokens_per_second)),
        },
        {
          name: 'Good',
          number: true,
          cell: ({ health }) => (health.success_rate === null ? '–' : share(health.success_rate)),
        },
      ]}
    />
  );
}

function Use({ model }: { readonly model: string }): ReactNode {
  const { times } = useSpan(WEEK);
  const { data } = useRead(
    'GET /usage',
    { query: { ...times, model, totals: 'true', columns: 'requests,usd,unpriced_requests' } },
    { pauseMs: 15_000 },
  );
  const all = data?.totals?.all;
  return (
    <SpendChart
      title="Spend, 7 days"
      range={WEEK}
      of={{ model }}
      aside={
        all && (
          <span className="figures text-soft">
            {usdSum(USD(all), field('unpriced_requests')(all))} ·{' '}
            {counted(field('requests')(all) ?? 0, 'request')}
          </span>
        )
      }
    />
  );
}

function Snippets({ model }: { readonly model: string }): ReactNode {
  const [form, setForm] = useState('curl');
  const origin = location.origin;
  const forms: readonly (readonly [string, string])[] = [
    [
      'curl',
      `curl ${origin}/v1/chat/completions \\
  -H "authorization: Bearer $DRAGOMAN_KEY" -H 'content-type: application/json' \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    ],
    [
      'Python',
      `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1")  # reads OPENAI_API_KEY
completion = client.chat.completions.create(
    model="${model}", messages=[{"role": "user", "content": "Hello"}]
)
print(completion.choices[0].message.content)`,
    ],
    [
      'TypeScript',
      `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1' }); // reads OPENAI_API_KEY
const completion = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(completion.choices[0].message.content);`,
    ],
  ];
  return (
    <Tabs
      label="Language"
      value={form}
      onChange={setForm}
      tabs={forms.map(([id, text]) => ({ id, label: id, content: <Code text={text} label={id} /> }))}
    />
  );
}
