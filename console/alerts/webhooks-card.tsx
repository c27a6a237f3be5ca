// Webhooks: subscribed events, delivery state and recent deliveries.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask, type Answer } from '../api/client.ts';
import { useList } from '../api/queries.ts';
import { counted } from '../format/numbers.ts';
import { Button } from '../ui/button.tsx';
import { Card, Waiting } from '../ui/card.tsx';
import { Menu, type MenuEntry } from '../ui/menu.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { WebhookStatus } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.ts';
import { When } from '../ui/when.tsx';
import { DeliveriesDialog } from './deliveries-dialog.tsx';
import { DeleteWebhook, NewWebhook } from './webhook-dialogs.tsx';

export type Webhook = Answer<'GET /webhooks'>['data'][number];
type Opened = { readonly type: 'new' } | { readonly type: 'sent' | 'delete'; readonly webhook: Webhook };

export function WebhooksCard(): ReactNode {
  const list = useList('GET /webhooks', {}, { pauseMs: 5_000 });
  const [opened, setOpened] = useState<Opened | null>(null);
  const queries = useQueryClient();
  const doing = useMutation({
    mutationFn: async ({ id, does }: { readonly id: string; readonly does: 'test' | 'enable' }) => {
      const params = { id };
      if (does === 'test') await ask('POST /webhooks/{id}/test', { params, body: {} });
      else await ask('PATCH /webhooks/{id}', { params, body: { state: 'enabled' } });
      return does;
    },
    onSuccess: async (does) => {
      await queries.invalidateQueries({
        predicate: ({ queryKey }) => String(queryKey[0]).includes('/webhooks'),
      });
      toast({ title: does === 'test' ? 'Test event queued' : 'Webhook enabled' });
    },
  });
  const entriesOf = (webhook: Webhook): readonly MenuEntry[] => [
    { label: 'Deliveries…', icon: 'requests', onSelect: () => setOpened({ type: 'sent', webhook }) },
    {
      label: 'Send test event',
      icon: 'send',
      onSelect: () => doing.mutate({ id: webhook.id, does: 'test' }),
    },
    ...(webhook.state === 'disabled'
      ? [
          {
            label: 'Enable',
            icon: 'rotate',
            onSelect: () => doing.mutate({ id: webhook.id, does: 'enable' }),
          } as const,
        ]
      : []),
    ...(webhook.source === 'database'
      ? [
          {
            label: 'Delete…',
            icon: 'reject',
            danger: true,
            onSelect: () => setOpened({ type: 'delete', webhook }),
          } as const,
        ]
      : []),
  ];
  const close = (): void => setOpened(null);
  return (
    <Card
      flush
      title="Webhooks"
      aside={
        <Button icon="plus" onClick={() => setOpened({ type: 'new' })}>
          New webhook
        </Button>
      }
    >
      {(list.error ?? doing.error) && (
        <div className="px-4 pb-4">
          <Problem error={list.error ?? doing.error} />
        </div>
      )}
      {!list.rows && !list.error && <Waiting rows={2} />}
      {list.rows?.length === 0 && (
        <p className="px-4 pb-4 text-soft">
          No webhooks yet. A webhook receives alerts, and the ends of background responses and batches.
        </p>
      )}
      {list.rows && list.rows.length > 0 && (
        <Table
          label="Webhooks"
          rows={list.rows}
          keyOf={({ id }) => id}
          columns={[
            {
              name: 'Address',
              className: 'min-w-[24ch] break-all',
              cell: ({ url, description, source }) => (
                <>
                  <span className="font-medium">{url}</span>
                  <span className="block text-xs font-normal text-faint">
                    {source === 'file' ? 'Defined in dragoman.yaml' : description}
                  </span>
                </>
              ),
            },
            {
              name: 'Events',
              className: 'min-w-[12ch]',
              cell: ({ events }) => (
                <span title={events?.join(', ')}>
                  {events === null
                    ? 'all'
                    : events.length < 3
                      ? events.join(', ')
                      : counted(events.length, 'type')}
                </span>
              ),
            },
            { name: 'Project', className: 'whitespace-nowrap', cell: ({ project }) => project ?? 'all' },
            {
              name: 'State',
              cell: ({ state, failing_since: since, disabled_reason: reason }) => (
                <>
                  <WebhookStatus state={state} />{' '}
                  <span className="text-soft">
                    {state === 'failing' && since !== null && <When at={since} as="since" />}
                    {state === 'disabled' && reason}
                  </span>
                </>
              ),
            },
            {
              name: 'Actions',
              unnamed: true,
              className: 'w-12 text-right',
              cell: (webhook) => (
                <span className="-my-1 inline-block">
                  <Menu label={`Actions for ${webhook.url}`} entries={entriesOf(webhook)} />
                </span>
              ),
            },
          ]}
        />
      )}
      <More list={list} />
      {opened?.type === 'new' && <NewWebhook onClose={close} />}
      {opened?.type === 'sent' && <DeliveriesDialog webhook={opened.webhook} onClose={close} />}
      {opened?.type === 'delete' && <DeleteWebhook webhook={opened.webhook} onClose={close} />}
    </Card>
  );
}
