// The client's request beside the upstream's, and the answers, by meaning: the gateway's codecs say what belongs together.
import { useState, type ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Waiting } from '../ui/card.tsx';
import { Problem } from '../ui/problem.tsx';
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
      <Compared title="Request" diff={data} side={data.request} />
      <Compared title="Answer" diff={data} side={data.answer} />
    </div>
  );
}

interface ComparedProps {
  readonly title: string;
  readonly diff: Diff;
  readonly side: Side | null;
}

function Compared({ title, diff, side }: ComparedProps): ReactNode {
  const [isOnlyDifferent, setOnlyDifferent] = useState(false);
  if (!side)
    return <p className="text-soft">{title}: one of the two is missing, was cut, or cannot be read.</p>;
  const rows = isOnlyDifferent
    ? side.rows.filter(({ state }) => state !== 'same' && state !== 'form')
    : side.rows;
  return (
    <section>
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
        <table className="table min-w-160 table-fixed">
          <thead>
            <tr>
              <th scope="col">Client: {diff.client_protocol}</th>
              <th scope="col" className="w-24">
                {diff.lane}
              </th>
              <th scope="col">Upstream: {diff.upstream_protocol}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={`${row.what} ${at}`}>
                <td>
                  <Place place={row.client} />
                </td>
                <td>
                  <Badge tone={TONES[row.state]}>{row.state}</Badge>
                </td>
                <td>
                  <Place place={row.upstream} />
                  {row.report.map(({ path, action, reason }) => (
                    <p key={`${path} ${action}`} className="mt-1 text-xs text-warn">
                      {action}: {reason}
                    </p>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {side.by_value && (
        <p className="mt-1 text-xs text-faint">One of the two was searched for the values of the other.</p>
      )}
    </section>
  );
}

function Place({ place }: { readonly place: Row['client'] }): ReactNode {
  if (!place) return <span className="text-faint">–</span>;
  return (
    <>
      {place.path !== null && (
        <code className="block font-mono text-xs break-all text-faint">{place.path}</code>
      )}
      <span className="line-clamp-6 break-words whitespace-pre-wrap">
        {typeof place.value === 'string' ? place.value : JSON.stringify(place.value)}
      </span>
    </>
  );
}
