// Dialog with the messages that were sent to a webhook. Each can be sent again.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useList } from '../api/queries.ts';
import { count } from '../format/numbers.ts';
import { Button } from '../ui/button.tsx';
import { Waiting } from '../ui/card.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { JobStatus } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { When } from '../ui/when.tsx';
import type { Webhook } from './webhooks-card.tsx';

interface DeliveriesDialogProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

export function DeliveriesDialog({ webhook, onClose }: DeliveriesDialogProps): ReactNode {
  const { id, url } = webhook;
  const list = useList('GET /webhooks/{id}/deliveries', {}, { pauseMs: 2_000, params: { id } });
  const queries = useQueryClient();
  const sending = useMutation({
    mutationFn: (delivery: string) =>
      ask('POST /webhooks/{id}/deliveries/{delivery}/redeliver', { params: { id, delivery } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['GET /webhooks/{id}/deliveries'] }),
  });
  return (
    <Dialog open onClose={onClose} title="Deliveries" about={`${url}: the last 14 days.`} isWide>
      {(list.error ?? sending.error) && <Problem error={list.error ?? sending.error} />}
      {!list.rows && !list.error && <Waiting rows={4} />}
      {list.rows?.length === 0 && (
        <p className="text-soft">No deliveries yet. Send a test event to try it.</p>
      )}
      {list.rows && list.rows.length > 0 && (
        <Table
          label="Deliveries"
          rows={list.rows}
          keyOf={(each) => each.id}
          columns={[
            { name: 'Created', cell: ({ created_at: at }) => <When at={at} as="ago" /> },
            { name: 'Event', cell: ({ type }) => type ?? 'Unknown' },
            { name: 'State', cell: ({ state }) => <JobStatus state={state} /> },
            { name: 'Attempts', number: true, cell: ({ attempts }) => count(attempts) },
            {
              name: 'Last failure',
              className: 'break-words',
              cell: ({ last_failure: failure }) => failure ?? <span className="text-faint">–</span>,
            },
            {
              name: 'Actions',
              unnamed: true,
              cell: (each) => (
                <Button
                  busy={sending.isPending && sending.variables === each.id}
                  onClick={() => sending.mutate(each.id)}
                >
                  Send again
                </Button>
              ),
            },
          ]}
        />
      )}
      <More list={list} />
    </Dialog>
  );
}
