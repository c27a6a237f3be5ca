// What `dragoman doctor` found out about a provider's endpoints: what the gateway goes by, and each question with its answer.
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useList } from '../api/queries.ts';
import { ago, fullTime } from '../format/times.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Card, Waiting } from '../ui/card.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table } from '../ui/table.tsx';

type Diagnosis = Answer<'GET /doctor/findings'>['data'][number];
type Outcome = Diagnosis['findings'][number]['outcome'];

const TONES: Readonly<Record<Outcome, Tone>> = { yes: 'good', no: 'warn', unknown: 'calm' };

export function DoctorCard({ provider }: { readonly provider: string }): ReactNode {
  const list = useList('GET /doctor/findings', { provider }, { pauseMs: 5_000 });
  return (
    <Card title="What doctor found" flush>
      {list.error && <Problem error={list.error} />}
      {!list.rows && !list.error && <Waiting rows={2} />}
      {list.rows?.length === 0 && (
        <p className="p-4 text-soft">
          Nothing was measured here; what the preset says holds. On the gateway’s machine,{' '}
          <code className="font-mono text-ink">npx dragoman doctor --model {provider}/…</code> asks an
          endpoint what it can: a few small requests.
        </p>
      )}
      {list.rows?.map((diagnosis) => (
        <Found key={diagnosis.id} diagnosis={diagnosis} />
      ))}
      <More list={list} />
    </Card>
  );
}

function Found({ diagnosis }: { readonly diagnosis: Diagnosis }): ReactNode {
  const { model_id: id, model, protocol, probed_at: at, findings } = diagnosis;
  const facts = factsOf(diagnosis);
  return (
    <details className="border-b last:border-b-0">
      <summary className="px-4 py-2.5">
        <span className="font-medium">{id ?? model}</span> <span className="text-faint">{protocol}</span>{' '}
        {(['yes', 'no', 'unknown'] as const).map((outcome) => {
          const number = findings.filter((finding) => finding.outcome === outcome).length;
          return (
            number > 0 && (
              <span key={outcome} className="mr-1">
                <Badge tone={TONES[outcome]}>
                  {number} {outcome}
                </Badge>
              </span>
            )
          );
        })}
        <span className="text-sm text-soft" title={fullTime(at)}>
          {ago(at)}
        </span>
      </summary>
      {id === null && (
        <p className="px-4 pb-2 text-sm text-warn">
          No model is served there now, so nothing of it is used ({diagnosis.base_url}).
        </p>
      )}
      {facts.length > 0 && (
        <p className="px-4 pb-2 text-sm text-soft">
          The gateway goes by: <span className="font-mono text-xs text-ink">{facts.join(' · ')}</span>
        </p>
      )}
      <Table
        label={`Findings about ${id ?? model}`}
        rows={findings}
        keyOf={({ probe, title }) => `${probe} ${title}`}
        columns={[
          { name: 'Question', className: 'md:w-64', cell: ({ title }) => title },
          {
            name: 'Answer',
            className: 'md:w-24',
            cell: ({ outcome }) => <Badge tone={TONES[outcome]}>{outcome}</Badge>,
          },
          {
            name: 'How that is known',
            className: 'break-words',
            cell: ({ value, detail }) => (value === undefined ? detail : `${value}: ${detail}`),
          },
        ]}
      />
    </details>
  );
}

/** As the configuration would say it. */
function factsOf({ facts }: Diagnosis): readonly string[] {
  return [
    ...Object.entries(facts.quirks).map(([name, value]) => `${name}: ${String(value)}`),
    ...facts.unsupported.map((name) => `${name}: unsupported`),
    ...(facts.reasoning === undefined ? [] : [`reasoning: ${facts.reasoning}`]),
    ...(facts.context_length === undefined ? [] : [`context_length: ${facts.context_length}`]),
  ];
}
