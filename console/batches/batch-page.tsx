// Page of one batch: progress, cost so far, why it waits, and its failed lines with their requests.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { batchChangesAt, type Batch } from '../api/batches.ts';
import { useRead } from '../api/queries.ts';
import { count, counted, duration } from '../format/numbers.ts';
import { fullTime } from '../format/times.ts';
import { Button } from '../ui/button.tsx';
import { Card, Page, Waiting } from '../ui/card.tsx';
import { Facts } from '../ui/facts.tsx';
import { Money } from '../ui/money.tsx';
import { Problem } from '../ui/problem.tsx';
import { When } from '../ui/when.tsx';
import { CancelDialog } from './cancel-dialog.tsx';
import { Failures } from './failures.tsx';
import { BatchState, Progress } from './progress.tsx';

const here = getRouteApi('/batches/$id');

export function BatchPage(): ReactNode {
  const { id } = here.useParams();
  const [asks, setAsks] = useState(false);
  const { data, error } = useRead(
    'GET /batches/{id}',
    { params: { id } },
    { pauseMs: 1_000, changesAt: batchChangesAt },
  );
  const mayCancel = data?.outcome === null && data.cancel_requested_at === null;
  return (
    <Page
      title="Batch"
      before={
        <Link to="/batches" className="link target inline-flex items-center">
          Batches
        </Link>
      }
      beside={data && <BatchState batch={data} />}
      actions={
        mayCancel && (
          <Button className="text-bad!" onClick={() => setAsks(true)}>
            Cancel…
          </Button>
        )
      }
    >
      {error && <Problem error={error} />}
      {!data && !error && <Waiting rows={10} />}
      {data && (
        <div className="flex flex-col gap-4">
          <Sentence batch={data} />
          {data.problems
            .filter(({ line }) => line === null)
            .map(({ message }) => (
              <Problem key={message} error={message} />
            ))}
          <Card>
            <div className="mb-4">
              <Progress lines={data.lines} className="w-full max-w-xl" />
            </div>
            <Facts facts={factsOf(data)} />
          </Card>
          <Failures batch={data} />
        </div>
      )}
      {data && asks && <CancelDialog batch={data} onClose={() => setAsks(false)} />}
    </Page>
  );
}

/** Progress of the batch, and why it is waiting. */
function Sentence({ batch }: { readonly batch: Batch }): ReactNode {
  const { lines, waits_for: reason, waits_since: since, outcome, ended_at: end, created_at: begin } = batch;
  const { total, done, failed } = lines;
  const took = end === null ? null : duration(Date.parse(end) - Date.parse(begin));
  return (
    <p className="text-base" aria-live="polite">
      {total === null
        ? outcome === null
          ? 'Its lines have not been read yet.'
          : 'All of its lines failed.'
        : `${count(done)} of ${counted(total, 'line')} ${done === 1 ? 'has' : 'have'} ended, ${failed === 0 ? 'none' : count(failed)} failed.`}
      {took !== null && ` Duration: ${took}.`}
      {reason !== null && (
        <>
          {' '}
          Waiting {since !== null && <When at={since} as="since" />}: {reason}
        </>
      )}
    </p>
  );
}

type Fact = readonly [name: string, value: ReactNode];

function factsOf(batch: Batch): readonly Fact[] {
  const { lines, tokens, key, key_name: name, ended_at: end, deadline_at: latest } = batch;
  return [
    [
      end === null ? 'Cost so far' : 'Cost',
      <Money key="cost" value={batch.cost_usd} unpriced={batch.unpriced_lines} />,
    ],
    ['Succeeded', count(lines.succeeded)],
    ['Failed', count(lines.failed)],
    ...(lines.expired > 0 ? [['Expired', count(lines.expired)] as const] : []),
    ...(lines.cancelled > 0 ? [['Cancelled', count(lines.cancelled)] as const] : []),
    ['Tokens', `${count(tokens.input)} in, ${count(tokens.output)} out`],
    [
      'Key',
      <Link key="key" to="/keys/$id" params={{ id: key }} className="link">
        {name ?? key}
      </Link>,
    ],
    ['Project', batch.project],
    ['Protocol', batch.protocol],
    ['Created', fullTime(batch.created_at)],
    ['Start of first line', batch.began_at === null ? 'not yet' : fullTime(batch.began_at)],
    end === null ? ['Latest end', fullTime(latest)] : ['Ended', fullTime(end)],
    ['Id', <Code key="id" text={batch.id} />],
    ['Input file', <Code key="input" text={batch.input_file} />],
    ['Output file', <Code key="output" text={batch.output_file} />],
    ...(batch.error_file === null
      ? []
      : [['Error file', <Code key="error" text={batch.error_file} />] as const]),
  ];
}

/** An id, or "none". */
function Code({ text }: { readonly text: string | null }): ReactNode {
  return text === null ? 'none' : <code className="font-mono text-xs break-all">{text}</code>;
}
