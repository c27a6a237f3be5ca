// Dialog that cancels a batch, and says before that which results are kept.
import type { ReactNode } from 'react';
import { useBatchCancel, type Batch } from '../api/batches.ts';
import { count } from '../format/numbers.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { toast } from '../ui/toast.ts';

interface CancelDialogProps {
  readonly batch: Batch;
  readonly onClose: () => void;
}

export function CancelDialog({ batch, onClose }: CancelDialogProps): ReactNode {
  const { total, done } = batch.lines;
  const cancelling = useBatchCancel(() => {
    toast({ title: 'Batch is being cancelled' });
    onClose();
  });
  return (
    <FormDialog
      title="Cancel this batch?"
      about={`${
        total === null
          ? 'No lines have run yet.'
          : `Results of lines that have ended are kept: ${count(done)} of ${count(total)}. Running lines have 30 seconds to finish, and the others will not run.`
      } This cannot be undone.`}
      verb="Cancel batch"
      back="Keep running"
      danger
      busy={cancelling.isPending}
      error={cancelling.error}
      onSubmit={() => cancelling.mutate(batch.id)}
      onClose={onClose}
    >
      <p className="font-mono text-xs break-all text-soft">{batch.id}</p>
    </FormDialog>
  );
}
