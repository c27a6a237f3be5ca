// Raw headers and bodies of a request, as sent and received by each side, and its record.
import { useState, type ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { count, counted, duration } from '../format/numbers.ts';
import { Waiting } from '../ui/card.tsx';
import { Code } from '../ui/code.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Problem } from '../ui/problem.tsx';
import { Signal } from '../ui/status.tsx';
import { Tabs } from '../ui/tabs.tsx';
import type { Generation } from './generation.ts';

type Payload = Answer<'GET /generations/{id}/payloads'>['data'][number];

const TITLES: Readonly<Record<Payload['stage'], string>> = {
  client_request: 'Client request',
  upstream_request: 'Upstream request',
  upstream_response: 'Upstream response',
  client_response: 'Client response',
};

export function Raw({ generation }: { readonly generation: Generation }): ReactNode {
  const { data, error } = useRead('GET /generations/{id}/payloads', { params: { id: generation.id } });
  const [shown, setShown] = useState<string | null>(null);
  if (error && error.status !== 404) return <Problem error={error} />;
  if (!data && !error) return <Waiting />;
  const payloads = data?.data ?? [];
  const several = payloads.some(({ attempt }) => (attempt ?? 0) > 0);
  const tabs = [
    ...payloads.map((payload) => ({
      id: `${payload.stage} ${payload.attempt ?? ''}`,
      label: TITLES[payload.stage] + (payload.attempt !== null && several ? ` ${payload.attempt + 1}` : ''),
      content: <One payload={payload} />,
    })),
    { id: 'record', label: 'Record', content: <Body text={JSON.stringify(generation)} label="Record" /> },
  ];
  return (
    <div className="-mx-4 -my-4">
      <Tabs label="Payloads" tabs={tabs} value={shown ?? tabs[0]?.id ?? ''} onChange={setShown} />
    </div>
  );
}

function One({ payload }: { readonly payload: Payload }): ReactNode {
  const { stage, method, address, status, headers, bytes, cut, masked, reads, text } = payload;
  const last = reads.at(-1)?.[0];
  return (
    <div className="flex flex-col gap-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-mono text-xs break-all">
          {method} {address} {status !== null && `Status ${status}`}
        </span>
        <span className="figures text-soft">
          {count(bytes)} bytes in {counted(reads.length, 'piece')}
          {last !== undefined && `, the last after ${duration(last)}`}
        </span>
        {cut && <Signal tone="warn">cut</Signal>}
        {masked && <Signal tone="idle">secrets masked</Signal>}
      </p>
      <details>
        <summary className="target text-soft">{counted(headers.length, 'header')}</summary>
        <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 font-mono text-xs">
          {headers.map(([name, value], at) => (
            // Header names can occur more than once.
            <div key={`${name} ${at}`} className="contents">
              <dt className="text-faint">{name}</dt>
              <dd className="break-all">{value}</dd>
            </div>
          ))}
        </dl>
      </details>
      {text === null ? (
        <p className="text-soft">The body is not text.</p>
      ) : (
        text !== '' && <Body text={text} label={TITLES[stage]} />
      )}
    </div>
  );
}

function Body({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const tree = parsed(text);
  return tree === undefined ? (
    <Code text={text} label={label} />
  ) : (
    <JsonTree value={tree} text={text} label={label} />
  );
}

/** Undefined: not JSON. */
function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
