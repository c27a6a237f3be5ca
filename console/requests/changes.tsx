// Differences between the client's and the upstream's request and answer: added, changed and dropped members.
import { useState, type ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { Waiting } from '../ui/card.tsx';
import { SelectField } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { Signal } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import type { Generation } from './generation.ts';

type Diff = Answer<'GET /generations/{id}/diff'>;
type Side = NonNullable<Diff['request']>;
type Row = Side['rows'][number];

const TONES = { added: 'info', changed: 'warn', dropped: 'bad' } as const;
type Kind = keyof typeof TONES;

/** Rows of a side that differ. */
export function changesIn(side: Side | null): readonly (Row & { readonly state: Kind })[] {
  return (side?.rows ?? []).filter((row): row is Row & { readonly state: Kind } => {
    if (!(row.state in TONES)) return false;
    // A member that the client never sent cannot have been dropped.
    return row.state !== 'dropped' || row.client !== null;
  });
}

interface ChangesProps {
  readonly generation: Generation;
  /** True if the bodies were stored. */
  readonly isKept: boolean;
}

export function Changes({ generation, isKept }: ChangesProps): ReactNode {
  const [attempt, setAttempt] = useState(Math.max(0, generation.attempts.length - 1));
  const { data, error } = useRead(
    'GET /generations/{id}/diff',
    {
      params: { id: generation.id },
      query: { attempt },
    },
    { when: isKept },
  );
  const isMissing = !isKept || error?.status === 404;
  if (error && !isMissing) return <Problem error={error} />;
  return (
    <div className="flex flex-col gap-5">
      {generation.attempts.length > 1 && (
        <SelectField label="Attempt" value={attempt} onChange={(text) => setAttempt(Number(text))}>
          {generation.attempts.map(({ id, endpoint, outcome }, at) => (
            <option key={id} value={at}>
              {at + 1}: {endpoint} ({outcome})
            </option>
          ))}
        </SelectField>
      )}
      {generation.report.length > 0 && <Report generation={generation} />}
      {!data && !isMissing && <Waiting />}
      {data && (
        <>
          <Compared title="Request" diff={data} side={data.request} />
          <Compared title="Response" diff={data} side={data.answer} />
        </>
      )}
      {isMissing && (
        <p className="text-soft">
          Values are not shown, because content was not logged (
          <code className="font-mono">logging.content</code>
          ).
        </p>
      )}
    </div>
  );
}

/** Losses reported by the translation. */
function Report({ generation: { report } }: { readonly generation: Generation }): ReactNode {
  return (
    <ul className="flex flex-col gap-1">
      {report.map(({ path, action, reason }, at) => (
        <li key={`${path} ${at}`} className="flex flex-wrap items-baseline gap-2">
          <Signal tone={action === 'dropped' ? 'bad' : 'warn'}>{action}</Signal>
          <code className="font-mono text-xs">{path}</code>
          <span className="text-soft">{reason}</span>
        </li>
      ))}
    </ul>
  );
}

interface ComparedProps {
  readonly title: string;
  readonly diff: Diff;
  readonly side: Side | null;
}

function Compared({ title, diff, side }: ComparedProps): ReactNode {
  const rows = changesIn(side).map((row, at) => ({ ...row, at }));
  if (!side)
    return (
      <p className="text-soft">{title}: one of the two bodies is missing, truncated or not JSON. See Raw.</p>
    );
  return (
    <section aria-label={title}>
      <h2 className="mb-1 font-semibold">{title}</h2>
      {rows.length === 0 ? (
        <p className="text-soft">No differences.</p>
      ) : (
        <div className="rounded-md border">
          <Table
            label={title}
            className="md:table-fixed"
            rows={rows}
            keyOf={({ at }) => String(at)}
            columns={[
              {
                name: 'What',
                className: 'md:w-36 break-words',
                cell: ({ what, state }) => (
                  <span className="flex flex-col items-start gap-1">
                    <span className="max-w-full font-medium wrap-anywhere">{what}</span>
                    <Signal tone={TONES[state]}>{state}</Signal>
                  </span>
                ),
              },
              { name: `Client: ${diff.client_protocol}`, cell: ({ client }) => <Place place={client} /> },
              {
                name: `Upstream: ${diff.upstream_protocol}`,
                cell: ({ upstream, report }) => (
                  <>
                    <Place place={upstream} />
                    {report.map(({ path, reason }) => (
                      <p key={path} className="mt-1 text-xs text-soft">
                        {reason}
                      </p>
                    ))}
                  </>
                ),
              },
            ]}
          />
        </div>
      )}
    </section>
  );
}

function Place({ place }: { readonly place: Row['client'] }): ReactNode {
  if (!place) return <span className="text-faint">absent</span>;
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
