// Probe results of a provider, from `dragoman doctor` or the console, and the settings derived from them.
import { useState, type ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useList } from '../api/queries.ts';
import type { Tone } from '../format/states.ts';
import { Signal } from '../ui/status.tsx';
import { Button } from '../ui/button.tsx';
import { Card, Waiting } from '../ui/card.tsx';
import { Code } from '../ui/code.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table } from '../ui/table.tsx';
import { When } from '../ui/when.tsx';
import { ProbeDialog } from './probe-dialog.tsx';

type Diagnosis = Answer<'GET /doctor/findings'>['data'][number];
type Outcome = Diagnosis['findings'][number]['outcome'];

const TONES: Readonly<Record<Outcome, Tone>> = { yes: 'quiet', no: 'warn', unknown: 'idle' };

interface DoctorCardProps {
  readonly provider: string;
  /** Models of the provider. */
  readonly models: readonly string[];
}

export function DoctorCard({ provider, models }: DoctorCardProps): ReactNode {
  const [asks, setAsks] = useState(false);
  const list = useList('GET /doctor/findings', { provider }, { pauseMs: 5_000 });
  return (
    <Card
      title="Probe results"
      flush
      aside={models.length > 0 && <Button onClick={() => setAsks(true)}>Probe now…</Button>}
    >
      {asks && <ProbeDialog provider={provider} models={models} onClose={() => setAsks(false)} />}
      {list.error && <Problem error={list.error} />}
      {!list.rows && !list.error && <Waiting rows={2} />}
      {list.rows?.length === 0 && (
        <div className="flex flex-col gap-2 px-4 pb-4 text-soft">
          <p>
            Nothing was measured here, so the preset decides. Probes are a few dozen small requests to a
            model; the button says what they cost at most. A command on the machine of the gateway does the
            same:
          </p>
          <Code text={`npx --no dragoman doctor --model ${provider}/MODEL`} label="Command" />
        </div>
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
                <Signal tone={TONES[outcome]}>
                  {number} {outcome}
                </Signal>
              </span>
            )
          );
        })}
        <span className="text-soft">
          <When at={at} as="ago" />
        </span>
      </summary>
      {id === null && (
        <p className="px-4 pb-2 text-sm text-warn">
          No model is served there now, so these results are not used ({diagnosis.base_url}).
        </p>
      )}
      {facts.length > 0 && (
        <p className="px-4 pb-2 text-sm text-soft">
          The gateway uses: <span className="font-mono text-xs text-ink">{facts.join(' · ')}</span>
        </p>
      )}
      <Table
        label={`Results for ${id ?? model}`}
        rows={findings}
        keyOf={({ probe, title }) => `${probe} ${title}`}
        columns={[
          { name: 'Question', className: 'md:w-64', cell: ({ title }) => title },
          {
            name: 'Answer',
            className: 'md:w-24',
            cell: ({ outcome }) => <Signal tone={TONES[outcome]}>{outcome}</Signal>,
          },
          {
            name: 'Details of the results',
            className: 'break-words',
            cell: ({ value, detail }) => (value === undefined ? detail : `${value}: ${detail}`),
          },
        ]}
      />
    </details>
  );
}

/** Probe results as settings of the configuration. */
function factsOf({ facts }: Diagnosis): readonly string[] {
  return [
    ...Object.entries(facts.quirks).map(([name, value]) => `${name}: ${String(value)}`),
    ...facts.unsupported.map((name) => `${name}: unsupported`),
    ...(facts.reasoning === undefined ? [] : [`reasoning: ${facts.reasoning}`]),
    ...(facts.context_length === undefined ? [] : [`context_length: ${facts.context_length}`]),
  ];
}
