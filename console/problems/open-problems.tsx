// Open problems: a summary, then a list ordered from worst to best, each with a link.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { count, exactUsd, limitWords } from '../format/numbers.ts';
import { buttonClass } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Problem } from '../ui/problem.tsx';
import { EndpointStatus, KeyStatus, Signal } from '../ui/status.tsx';
import { When } from '../ui/when.tsx';

type Open = Answer<'GET /problems'>['data'][number];
const LINK = `${buttonClass('quiet')} min-h-7! px-2!`;

export function OpenProblems(): ReactNode {
  const { data, error } = useRead('GET /problems', {}, { pauseMs: 2_000 });
  if (error) return <Problem error={error}> Open problems cannot be read.</Problem>;
  if (!data) return null;
  if (data.data.length === 0)
    return (
      <p className="flex items-center gap-2 text-soft">
        {data.sentence.asked > 0 && <span aria-hidden="true" className="size-2 rounded-full bg-ok" />}
        {data.sentence.text}
      </p>
    );
  return (
    <section aria-label="Open problems" className="rounded-lg border bg-card">
      <h2 className="flex items-center gap-2 px-4 py-3 text-lg font-semibold">
        <span className="text-bad">
          <Icon name="warn" />
        </span>
        {data.sentence.text}
      </h2>
      <ul>
        {data.data.map((each, at) => (
          <li key={at} className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t px-4 py-1.5">
            <One problem={each} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One problem: state, name, description and link. */
function One({ problem }: { readonly problem: Open }): ReactNode {
  const { kind, text, since, provider, state, limit, key } = problem;
  if (kind === 'provider' && provider !== undefined)
    return (
      <Line
        state={<EndpointStatus state={state ?? 'failing'} />}
        name={
          <Link to="/providers/$provider" params={{ provider }} className="font-medium hover:underline">
            {problem.provider_name ?? provider}
          </Link>
        }
        links={
          <>
            <Link to="/requests" search={{ attempted: provider }} className={LINK}>
              Requests
            </Link>
            <Link to="/providers/$provider" params={{ provider }} className={LINK}>
              Page
            </Link>
          </>
        }
      >
        {text}
        {since !== null && (
          <>
            {' '}
            <When at={since} as="since" />
          </>
        )}
        {effectOf(problem)}
      </Line>
    );
  if (kind === 'budget' && limit) return <Limit limit={limit} state={problem.budget_state} />;
  if (kind === 'key_expiry' && key)
    return (
      <Line
        state={<KeyStatus state="expires_soon" />}
        name={key.name}
        links={
          <Link to="/keys/$id" params={{ id: key.id }} className={LINK}>
            Key
          </Link>
        }
      >
        expires <When at={key.expires_at} as="ahead" />
      </Line>
    );
  return (
    <Line
      state={
        <Signal tone="bad" icon="bad">
          Ledger
        </Signal>
      }
      name="Records"
    >
      {text}
    </Line>
  );
}

/** Number of affected requests; empty if there are none. */
function effectOf({ rerouted = 0, failed = 0 }: Pick<Open, 'rerouted' | 'failed'>): string {
  const parts = [
    ...(rerouted > 0 ? [`${count(rerouted)} rerouted`] : []),
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
  ];
  return parts.length === 0 ? '' : ` · ${parts.join(', ')}`;
}

interface LimitProps {
  readonly limit: NonNullable<Open['limit']>;
  readonly state: Open['budget_state'];
}

function Limit({ limit, state = 'budget_used_up' }: LimitProps): ReactNode {
  const { text, owner, unit, used, resets_at: resets } = limit;
  return (
    <Line
      state={<KeyStatus state={state} />}
      name={owner.name || owner.kind}
      links={
        owner.kind === 'key' ? (
          <Link to="/keys/$id" params={{ id: owner.id }} className={LINK}>
            Key
          </Link>
        ) : (
          owner.kind === 'project' && (
            <Link to="/keys" search={{ project: owner.id }} className={LINK}>
              Project
            </Link>
          )
        )
      }
    >
      {`${limitWords(text)}, ${unit === 'usd' ? exactUsd(used) : count(used)} used`}
      {resets !== null && (
        <>
          , resets <When at={resets} as="ahead" />
        </>
      )}
    </Line>
  );
}

interface LineProps {
  readonly state: ReactNode;
  readonly name: ReactNode;
  readonly links?: ReactNode;
  readonly children: ReactNode;
}

function Line({ state, name, links, children }: LineProps): ReactNode {
  return (
    <>
      <span className="sm:w-32">{state}</span>
      <span className="min-w-0 truncate font-medium sm:w-36 xl:w-64">{name}</span>
      <span className="min-w-0 flex-1 basis-60 text-soft">{children}</span>
      <span className="-ml-2 flex gap-1 sm:ml-0">{links}</span>
    </>
  );
}
