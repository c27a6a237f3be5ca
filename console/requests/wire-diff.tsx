// The client's request beside the upstream's, and the answers, by meaning: the gateway's codecs say what belongs together.
import { useState, type ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Waiting } from '../ui/card.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table } from '../ui/table.tsx';
import { NothingKept } from './payloads.tsx';

type Diff = Answer<'GET /generations/{id}/diff'>;
type Side = NonNullable<Diff['request']>;
type Row = Side['rows'][number];

const TONES: Readonly<Record<Row['state'], Tone>> = {
  same: 'good',
  changed: 'accent',
  dropped: 'bad',
  added: 'warn',
  gateway: 'calm',
  form: 'calm',
};

export function WireDiff({
  generation,
}: {
  readonly generation: Answer<'GET /generations/{id}'>;
}): ReactNode {
  const [attempt, setAttempt] = useState(Math.max(0, generation.attempts.length - 1));
  const { data, error } = useRead('GET /generations/{id}/diff', {
    params: { id: generation.id },
    query: { attempt },
  });
  if (error?.status === 404) return <NothingKept />;
  if (error) return <Problem error={error} />;
  if (!data) return <Waiting />;
  return (
    <div className="flex flex-col gap-6">
      {generation.attempts.length > 1 && (
        <select
          className="field max-w-xs"
          aria-label="Attempt"
          value={attempt}
          onChange={({ target }) => setAttempt(Number(target.value))}
        >
          {generation.attempts.map(({ id, endpoint, outcome }, at) => (
            <option key={id} value={at}>
              Attempt {at + 1}: {endpoint} ({outcome})
            </option>
          ))}
        </select>
      )}
      <Compared title="Request" diff={data} side={data.request} elsewhere="not in the body" />
      <Compared title="Answer" diff={data} side={data.answer} />
    </div>
  );
}

interface ComparedProps {
  readonly title: string;
  readonly diff: Diff;
  readonly side: Side | null;
  /** Of what has no place in a body. */
  readonly elsewhere?: string | undefined;
}

function Compared({ title, diff, side, elsewhere }: ComparedProps): ReactNode {
  const [isOnlyDifferent, setOnlyDifferent] = useState(false);
  if (!side)
    return <p className="text-soft">{title}: one of the two is missing, was cut, or cannot be read.</p>;
  const rows = side.rows
    .map((row, at) => ({ ...row, at }))
    .filter(({ state }) => !isOnlyDifferent || (state !== 'same' && state !== 'form'));
  return (
    <section aria-label={title}>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-semibold">{title}</h3>
        <label className="flex items-center gap-2 text-sm text-soft">
          <input
            type="checkbox"
            className="accent-accent"
            checked={isOnlyDifferent}
            onChange={({ target }) => setOnlyDifferent(target.checked)}
          />
          Only what differs
        </label>
      </div>
      <div className="overflow-x-auto rounded-md border">
        {rows.length === 0 ? (
          <p className="p-4 text-soft">Nothing differs.</p>
        ) : (
          <Table
            label={title}
            className="md:table-fixed"
            rows={rows}
            keyOf={({ at }) => String(at)}
            columns={[
              {
                name: 'What',
                className: 'md:w-40 break-words',
                cell: ({ what }) => <span className="font-medium">{what}</span>,
              },
              {
                name: `Client: ${diff.client_protocol}`,
                cell: ({ client }) => <Place place={client} elsewhere={elsewhere} />,
              },
              {
                name: diff.lane,
                className: 'md:w-24',
                cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge>,
              },
              {
                name: `Upstream: ${diff.upstream_protocol}`,
                cell: ({ upstream, report }) => (
                  <>
                    <Place place={upstream} elsewhere={elsewhere} />
                    {report.map(({ path, action, reason }) => (
                      <p key={`${path} ${action}`} className="mt-1 text-xs text-warn">
                        {action}: {reason}
                      </p>
                    ))}
                  </>
                ),
              },
            ]}
          />
        )}
      </div>
      {side.by_value && (
        <p className="mt-1 text-xs text-faint">One of the two was searched for the values of the other.</p>
      )}
    </section>
  );
}

interface PlaceProps extends Pick<ComparedProps, 'elsewhere'> {
  readonly place: Row['client'];
}

function Place({ place, elsewhere }: PlaceProps): ReactNode {
  if (!place) return <span className="text-faint">–</span>;
  return (
    <>
      {place.path === null ? (
        <span className="block text-xs text-faint">{elsewhere}</span>
      ) : (
        <code className="block font-mono text-xs break-all text-faint">{place.path}</code>
      )}
      <span className="line-clamp-6 break-words whitespace-pre-wrap">
        {typeof place.value === 'string' ? place.value : JSON.stringify(place.value)}
      </span>
    </>
  );
}
