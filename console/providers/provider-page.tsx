// Page of one provider: its problems with their original messages, affected requests, traffic, endpoints and recent
// errors.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { count, counted, duration, share } from '../format/numbers.ts';
import { ENDPOINT_STATES, type Tone } from '../format/states.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { Card, Page, Waiting } from '../ui/card.tsx';
import { Chart, type Series } from '../ui/chart/chart.tsx';
import { cx } from '../ui/cx.ts';
import { Facts } from '../ui/facts.tsx';
import { Money } from '../ui/money.tsx';
import { Problem } from '../ui/problem.tsx';
import { EndpointStatus } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.ts';
import { When } from '../ui/when.tsx';
import { DisableDialog } from './disable-dialog.tsx';
import { DoctorCard } from './doctor-card.tsx';
import { EndpointsTable } from './endpoints-table.tsx';
import type { Provider } from './provider.ts';

const here = getRouteApi('/providers/$provider');

const HOUR_SECONDS = 3_600;

export function ProviderPage(): ReactNode {
  const { provider: id } = here.useParams();
  const { data, error } = useRead('GET /providers/{id}', { params: { id } }, { pauseMs: 2_000 });
  const [isDisabling, setDisabling] = useState<string | null | undefined>(undefined);
  const queries = useQueryClient();
  const enabling = useMutation({
    mutationFn: (model: string | null) =>
      ask('POST /providers/{id}/breaker', {
        params: { id },
        body: { state: 'closed', ...(model !== null && { model }) },
      }),
    onSuccess: async (_, model) => {
      await queries.invalidateQueries({
        predicate: ({ queryKey }) => /provider|problem/.test(String(queryKey[0])),
      });
      toast({ title: `${model ?? data?.name ?? id} is enabled` });
    },
  });
  return (
    <Page
      title={data?.name ?? id}
      before={
        <Link to="/providers" className="link target inline-flex items-center">
          Providers
        </Link>
      }
      beside={data && <EndpointStatus state={data.state} />}
      actions={
        <>
          <Link to="/requests" search={{ attempted: id }} className={buttonClass()}>
            Requests
          </Link>
          {data?.state === 'disabled' ? (
            <Button busy={enabling.isPending} onClick={() => enabling.mutate(null)}>
              Enable
            </Button>
          ) : (
            <Button onClick={() => setDisabling(null)}>Disable…</Button>
          )}
        </>
      }
    >
      {(error ?? enabling.error) && <Problem error={error ?? enabling.error} />}
      {!data && !error && <Waiting rows={10} />}
      {data && (
        <div className="flex flex-col gap-4">
          <ProviderSummary provider={data} />
          <div className="grid gap-4 xl:grid-cols-2">
            <Traffic provider={data} />
            <Errors provider={data} />
          </div>
          <Card flush title="Endpoints">
            <EndpointsTable
              endpoints={data.endpoints}
              busy={enabling.isPending}
              onDisable={setDisabling}
              onEnable={(model) => enabling.mutate(model)}
            />
          </Card>
          <DoctorCard
            provider={id}
            models={[...new Set(data.endpoints.map((each) => each.model_id))].toSorted()}
          />
          {isDisabling !== undefined && (
            <DisableDialog
              provider={data}
              model={isDisabling}
              onUndo={() => enabling.mutate(isDisabling)}
              onClose={() => setDisabling(undefined)}
            />
          )}
        </div>
      )}
    </Page>
  );
}

/** Border and background of a problem, by the tone of the provider's state. */
const BOX: Readonly<Record<Tone, string>> = {
  bad: 'bg-bad-wash text-bad',
  warn: 'bg-warn-wash text-warn',
  info: 'bg-info-wash text-info',
  idle: 'bg-sunk text-soft',
  quiet: 'bg-sunk text-soft',
};

function ProviderSummary({ provider }: { readonly provider: Provider }): ReactNode {
  const { problem, effect, day, state, state_until: until, disabled_by: by, as_of: asOf } = provider;
  return (
    <Card>
      {problem && (
        <div className={cx('mb-4 rounded-md px-3 py-2', BOX[ENDPOINT_STATES[state].tone])}>
          <p className="text-base font-medium">
            {problem.text} {problem.since !== null && <When at={problem.since} as="since" />}
          </p>
          <p className="break-words">“{problem.message}”</p>
          <p className="mt-1 text-sm">
            {counted(effect.rerouted, 'request')} rerouted, {count(effect.failed)} failed in the last 24 h.
          </p>
        </div>
      )}
      {state === 'disabled' && (
        <p className="mb-4 text-base">
          Disabled by {by?.name ?? 'an operator'}
          {by?.reason != null && `: ${by.reason}`}
          {until !== null && (
            <>
              , ends <When at={until} as="ahead" />
            </>
          )}
          .
        </p>
      )}
      <Facts
        facts={[
          ['Attempts, 24 h', count(day.attempts)],
          ['Good', day.good_share === null ? 'No attempt' : share(day.good_share)],
          [
            'First token p95',
            day.first_content_ms_p95 === null ? 'No response' : duration(day.first_content_ms_p95),
          ],
          [
            'Spend, 24 h',
            day.requests === 0 ? '$0' : <Money key="usd" value={day.usd} unpriced={day.unpriced_requests} />,
          ],
          [
            'Address',
            <span key="address" className="break-all">
              {provider.base_urls.join(', ') || 'None'}
            </span>,
          ],
          [
            'Key',
            provider.key_hint === null ? (
              'None'
            ) : (
              <code key="key" className="font-mono text-xs">
                {provider.key_hint}
              </code>
            ),
          ],
          ['Protocols', provider.protocols.join(', ') || 'None'],
          ['Models', count(provider.models)],
        ]}
      />
      {asOf !== null && (
        <p className="mt-3 text-xs text-faint">
          No attempt in the last 15 minutes: the state is as of <When at={asOf} as="ago" />.
        </p>
      )}
    </Card>
  );
}

function Traffic({ provider: { trend, name } }: { readonly provider: Provider }): ReactNode {
  const { times, series } = useMemo(() => {
    const rows: readonly Series[] = [
      {
        id: 'good',
        name: 'Good',
        colour: '--color-series-6',
        values: trend.map(({ attempts, failed_attempts: failed }) => attempts - failed),
      },
      {
        id: 'failed',
        name: 'Failed',
        colour: '--color-bad',
        values: trend.map(({ failed_attempts: failed }) => failed),
      },
    ];
    return { times: trend.map(({ start }) => Date.parse(start) / 1_000), series: rows };
  }, [trend]);
  return (
    <Chart
      title="Attempts, 24 h"
      kind="bars"
      times={times}
      step={HOUR_SECONDS}
      series={series}
      write={count}
      empty={`No attempts at ${name} in the last 24 hours.`}
    />
  );
}

function Errors({ provider: { recent_errors: errors } }: { readonly provider: Provider }): ReactNode {
  return (
    <Card title="Recent errors" flush>
      {errors.length === 0 ? (
        <p className="px-4 pb-4 text-soft">No failed attempts in the last 24 hours.</p>
      ) : (
        <Table
          label="Recent errors"
          rows={errors}
          keyOf={({ example_id: id }) => id}
          columns={[
            {
              name: 'Message',
              className: 'break-words',
              cell: ({ text, message, example_id: id }) => (
                <>
                  <Link to="/requests/$id" params={{ id }} data-row className="row-link font-medium">
                    {text}
                  </Link>
                  <p className="line-clamp-2 font-normal text-soft">{message}</p>
                </>
              ),
            },
            { name: 'Count', number: true, cell: (error) => count(error.count) },
            { name: 'Last', number: true, cell: ({ last_at: at }) => <When at={at} as="ago" /> },
          ]}
        />
      )}
    </Card>
  );
}
