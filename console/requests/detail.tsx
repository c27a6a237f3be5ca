// Details of one request, in the panel or on its page: a summary, timing and tabs.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { count, counted, duration, exactUsd, speed } from '../format/numbers.ts';
import { fullTime } from '../format/times.ts';
import { cx } from '../ui/cx.ts';
import { Money } from '../ui/money.tsx';
import { RequestStatus } from '../ui/status.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Timed } from '../ui/when.tsx';
import { WhyHere } from '../ui/why-here.tsx';
import { Changes, changesIn } from './changes.tsx';
import { Conversation } from './conversation.tsx';
import { Cost } from './cost.tsx';
import { Raw } from './raw.tsx';
import { Timeline } from './timeline.tsx';
import { Waterfall } from './waterfall.tsx';
import type { Generation } from './generation.ts';

interface DetailProps {
  readonly generation: Generation;
  readonly view: string | undefined;
  readonly onView: (view: string) => void;
  /** True: there is space for facts next to the conversation. */
  readonly isWide: boolean;
}

/** Status, model, time, cost and key in one line. */
function Head({ generation: g }: { readonly generation: Generation }): ReactNode {
  return (
    <p className="figures flex flex-wrap items-center gap-x-2 gap-y-1 text-soft">
      <RequestStatus state={g.state} status={g.status} />
      <span className="font-medium text-ink">{g.model ?? g.requested_model}</span>
      {g.attempts.length > 1 && <span>{counted(g.attempts.length, 'attempt')}</span>}
      {g.duration_ms !== null && <span>{duration(g.duration_ms)}</span>}
      <span>
        {g.unpriced ? <Money value={null} /> : g.cost_usd === null ? 'not charged' : exactUsd(g.cost_usd)}
      </span>
      <Link to="/keys/$id" params={{ id: g.key_id }} className="link">
        {g.key_name ?? g.key_id}
      </Link>
      {g.project_id !== g.key_id && <span>({g.project_id})</span>}
    </p>
  );
}

const TONES: Readonly<Partial<Record<Generation['state'], string>>> = {
  failed: 'border-bad',
  broken_stream: 'border-bad',
  limit_reached: 'border-warn',
  rejected: 'border-warn',
  recovered: 'border-info',
};

function Sentence({ generation: { explanation, state } }: { readonly generation: Generation }): ReactNode {
  const { limit } = explanation;
  return (
    <p className={cx('border-l-2 pl-3 text-base break-words', TONES[state] ?? 'border-line')}>
      <Timed text={explanation.text} />
      {limit && limit.owner.kind === 'key' && (
        <>
          {' '}
          <Link to="/keys/$id" params={{ id: limit.owner.id }} className="link">
            Change the limit
          </Link>
        </>
      )}
    </p>
  );
}

export function Detail({ generation, view, onView, isWide }: DetailProps): ReactNode {
  const { report, route, attempts } = generation;
  const payloads = useRead('GET /generations/{id}/payloads', { params: { id: generation.id } });
  const isKept = (payloads.data?.data.length ?? 0) > 0;
  const diff = useRead(
    'GET /generations/{id}/diff',
    { params: { id: generation.id }, query: { attempt: Math.max(0, attempts.length - 1) } },
    { when: attempts.length > 0 && isKept },
  );
  const changes = diff.data
    ? changesIn(diff.data.request).length + changesIn(diff.data.answer).length
    : report.length;
  const tabs = [
    {
      id: 'conversation',
      label: 'Conversation',
      content: (
        <div
          className={cx(
            'grid gap-6',
            isWide && 'lg:grid-cols-[minmax(0,1fr)_18rem] 2xl:grid-cols-[minmax(0,1fr)_24rem]',
          )}
        >
          <Conversation generation={generation} />
          <Facts generation={generation} />
        </div>
      ),
    },
    ...(attempts.length > 0
      ? [{ id: 'timeline', label: 'Timeline', content: <Timeline generation={generation} /> }]
      : []),
    ...(route
      ? [
          {
            id: 'routing',
            label: 'Routing',
            content: (
              <WhyHere
                route={route}
                asked={new Map(attempts.map(({ endpoint, outcome }) => [endpoint, outcome]))}
              />
            ),
          },
        ]
      : []),
    ...(generation.native_tokens
      ? [{ id: 'cost', label: 'Cost', content: <Cost generation={generation} /> }]
      : []),
    ...(attempts.length > 0
      ? [
          {
            id: 'changes',
            label: changes > 0 ? `Changes ${changes}` : 'Changes',
            content: <Changes generation={generation} isKept={isKept} />,
          },
        ]
      : []),
    { id: 'raw', label: 'Raw', content: <Raw generation={generation} /> },
  ];
  return (
    <div className="flex flex-col gap-4">
      <Head generation={generation} />
      <Sentence generation={generation} />
      <Waterfall generation={generation} />
      <div className="-mx-4 border-t">
        <Tabs
          label="Request details"
          tabs={tabs}
          value={tabs.some(({ id }) => id === view) ? (view ?? '') : 'conversation'}
          onChange={onView}
        />
      </div>
    </div>
  );
}

function Facts({ generation: g }: { readonly generation: Generation }): ReactNode {
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Model', g.model ?? 'None'],
    ...(g.requested_model === g.model ? [] : [['Asked', g.requested_model] as const]),
    ['Client', `${g.protocol}${g.streamed ? ', streamed' : ''}`],
    ['Served by', g.endpoint ?? 'None'],
    ...(g.native_tokens
      ? [
          [
            'Tokens',
            `${count(g.native_tokens.prompt_tokens)} in, ${count(g.native_tokens.completion_tokens)} out`,
          ] as const,
        ]
      : []),
    ...(g.tokens_per_second === null
      ? []
      : [['Speed', `${speed(g.tokens_per_second).replace('/s', '')} tokens/s`] as const]),
    ...(g.finish_reason === null ? [] : [['Finish', g.finish_reason] as const]),
    ['When', fullTime(g.created_at)],
    [
      'Id',
      <code key="id" className="font-mono text-xs break-all">
        {g.id}
      </code>,
    ],
  ];
  return (
    <dl className="grid content-start gap-x-4 gap-y-1.5 rounded-md bg-sunk p-3 [grid-template-columns:auto_minmax(0,1fr)]">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-faint">{name}</dt>
          <dd className="figures break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
