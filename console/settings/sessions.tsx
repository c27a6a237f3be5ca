// Sessions of the console: user, address, last use, and a button to end each.
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ask, type Answer } from '../api/client.ts';
import { sessionQuery, useList } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { Waiting } from '../ui/card.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.ts';
import { When } from '../ui/when.tsx';
import { browserName } from './browser-name.ts';

type Listed = Answer<'GET /sessions'>['data'][number];

export function Sessions(): ReactNode {
  const { data: own } = useSuspenseQuery(sessionQuery);
  const list = useList('GET /sessions', {});
  const queries = useQueryClient();
  const ending = useMutation({
    mutationFn: ({ id }: Listed) => ask('DELETE /sessions/{id}', { params: { id } }),
    onSuccess: async (_, { actor }) => {
      await queries.invalidateQueries({ queryKey: ['GET /sessions'] });
      toast({ title: `Session of ${actor.name} ended` });
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <p className="text-soft">
        A session ends after two hours without requests, after twelve hours, or when its key is revoked.
      </p>
      {(list.error ?? ending.error) && <Problem error={list.error ?? ending.error} />}
      {!list.rows && !list.error && <Waiting rows={2} />}
      {list.rows && (
        <div className="-mx-4 -mb-4">
          <Table
            label="Sessions"
            rows={list.rows}
            keyOf={({ id }) => id}
            columns={[
              {
                name: 'Who',
                className: 'min-w-[24ch]',
                cell: ({ id, actor }) => (
                  <>
                    <span className="font-medium">{actor.name}</span>
                    {id === own.session_id && <span className="ml-2 text-xs text-faint">this browser</span>}
                  </>
                ),
              },
              { name: 'Address', cell: ({ address }) => address ?? 'Unknown' },
              {
                name: 'Browser',
                cell: ({ user_agent: agent }) => <span title={agent ?? undefined}>{browserName(agent)}</span>,
              },
              { name: 'Signed in', cell: ({ created_at: at }) => <When at={at} as="ago" /> },
              {
                name: 'Last used',
                // Precise to the minute.
                cell: ({ id, last_used_at: at }) =>
                  id === own.session_id ? 'now' : <When at={at} as="ago" />,
              },
              { name: 'Ends', cell: ({ expires_at: at }) => <When at={at} as="ahead" /> },
              {
                name: 'Actions',
                unnamed: true,
                className: 'text-right',
                cell: (row) =>
                  row.id !== own.session_id && (
                    <Button
                      aria-label={`End the session of ${row.actor.name} at ${row.address ?? 'an unknown address'}`}
                      busy={ending.isPending && ending.variables.id === row.id}
                      onClick={() => ending.mutate(row)}
                    >
                      End
                    </Button>
                  ),
              },
            ]}
          />
          <More list={list} />
        </div>
      )}
    </div>
  );
}
