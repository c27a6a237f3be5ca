// Progress of a batch: its state, and the number of ended and failed lines.
import type { ReactNode } from 'react';
import type { Batch } from '../api/batches.ts';
import { count } from '../format/numbers.ts';
import { cx } from '../ui/cx.ts';
import { PartsBar } from '../ui/spark.tsx';
import { BatchStatus } from '../ui/status.tsx';

/** State of a batch. Waiting for capacity is shown before any other state. */
export function BatchState({
  batch: { status, waits_for: reason },
}: {
  readonly batch: Pick<Batch, 'status' | 'waits_for'>;
}): ReactNode {
  return <BatchStatus state={reason === null ? status : 'waiting'} title={reason ?? undefined} />;
}

interface ProgressProps {
  readonly lines: Batch['lines'];
  readonly className?: string;
}

/** Lines of a batch as a bar and as numbers. */
export function Progress({ lines, className }: ProgressProps): ReactNode {
  const { total, done, failed } = lines;
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <PartsBar
        of={Math.max(1, total ?? 0)}
        parts={[
          [done - failed, 'fill-soft'],
          [failed, 'fill-bad'],
        ]}
        className={cx(className ?? 'w-24')}
      />
      <span className="figures whitespace-nowrap">
        {total !== null && `${count(done)} of ${count(total)}`}
        {total === null && failed === 0 && 'Not read yet'}
        {total !== null && failed > 0 && ' · '}
        {failed > 0 && <span className="text-bad">{count(failed)} failed</span>}
      </span>
    </span>
  );
}
