// What each side sent, as it was sent, where that was kept.
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { count, duration } from '../format/numbers.ts';
import { Badge } from '../ui/badge.tsx';
import { Card, Empty, Waiting } from '../ui/card.tsx';
import { Code } from '../ui/code.tsx';
import { Problem } from '../ui/problem.tsx';

type Payload = Answer<'GET /generations/{id}/payloads'>['data'][number];

const TITLES: Readonly<Record<Payload['stage'], string>> = {
  client_request: 'Client → gateway',
  upstream_request: 'Gateway → upstream',
  upstream_response: 'Upstream → gateway',
  client_response: 'Gateway → client',
};

export function Payloads({ id }: { readonly id: string }): ReactNode {
  const { data, error } = useRead('GET /generations/{id}/payloads', { params: { id } });
  if (error) return <Problem error={error} />;
  if (!data) return <Waiting />;
  if (data.data.length === 0) return <NothingKept />;
  return (
    <div className="flex flex-col gap-4">
      {data.data.map((payload) => (
        <One key={`${payload.stage} ${payload.attempt ?? ''}`} payload={payload} />
      ))}
    </div>
  );
}

export function NothingKept(): ReactNode {
  return (
    <Empty icon="requests" title="Nothing was kept of what was said">
      Let its key keep what requests say (Change, on the page Projects and keys); for keys of the file, set{' '}
      <code className="font-mono">logging.content</code> to <code className="font-mono">all</code> or{' '}
      <code className="font-mono">failures</code>. It holds from then on.
    </Empty>
  );
}

function One({ payload }: { readonly payload: Payload }): ReactNode {
  const { stage, attempt, method, address, status, headers, bytes, cut, masked, reads, text } = payload;
  const last = reads.at(-1)?.[0];
  return (
    <Card
      title={TITLES[stage] + (attempt === null ? '' : ` (attempt ${attempt + 1})`)}
      aside={
        <span className="figures flex flex-wrap items-center gap-2 text-sm text-soft">
          {cut && <Badge tone="warn">cut</Badge>}
          {masked && <Badge tone="calm">secrets masked</Badge>}
          {count(bytes)} bytes in {count(reads.length)} {reads.length === 1 ? 'piece' : 'pieces'}
          {last !== undefined && `, the last after ${duration(last)}`}
        </span>
      }
    >
      <p className="mb-2 font-mono text-sm break-all">
        {method} {address} {status !== null && `Status ${status}`}
      </p>
      <details className="mb-3">
        <summary className="text-sm text-soft">{count(headers.length)} headers</summary>
        <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 font-mono text-xs">
          {headers.map(([name, value], at) => (
            // Names may stand there twice.
            <div key={`${name} ${at}`} className="contents">
              <dt className="text-faint">{name}</dt>
              <dd className="break-all">{value}</dd>
            </div>
          ))}
        </dl>
      </details>
      {text === null ? (
        <p className="text-soft">The body is no text.</p>
      ) : (
        text !== '' && <Code text={text} label={`Body: ${TITLES[stage]}`} />
      )}
    </Card>
  );
}
