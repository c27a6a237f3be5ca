// Conversation of a request: messages, collapsed reasoning, tool calls with results, and images.
import { useMemo, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { count } from '../format/numbers.ts';
import { Waiting } from '../ui/card.tsx';
import { cx } from '../ui/cx.ts';
import { GuideLink } from '../ui/guide.tsx';
import { Icon } from '../ui/icon.tsx';
import { Problem } from '../ui/problem.tsx';
import { Timed } from '../ui/when.tsx';
import { readAnswer, readQuestion, type Part, type PayloadMessage } from './read-payload.ts';
import type { Generation } from './generation.ts';

/** States of requests that were refused, rather than failed. */
const REFUSED: ReadonlySet<Generation['state']> = new Set(['limit_reached', 'rejected']);

export function Conversation({ generation }: { readonly generation: Generation }): ReactNode {
  const { data, error } = useRead('GET /generations/{id}/payloads', { params: { id: generation.id } });
  const said = useMemo(() => {
    const of = (stage: string): string => data?.data.find((each) => each.stage === stage)?.text ?? '';
    return { question: readQuestion(of('client_request')), answer: readAnswer(of('client_response')) };
  }, [data]);
  if (error && error.status !== 404) return <Problem error={error} />;
  if (!data && !error) return <Waiting />;
  if (!data || data.data.length === 0) return <NotKept />;
  const { question, answer } = said;
  const chars = answer
    .flatMap(({ parts }) => parts)
    .reduce((sum, part) => sum + ('text' in part ? part.text.length : 0), 0);
  return (
    <ol className="flex flex-col gap-3">
      {(question ?? []).map((each, at) => (
        <Message key={at} said={each} />
      ))}
      {question === null && <li className="text-soft">The request is not valid JSON. See Raw.</li>}
      {answer.map((each, at) => (
        <Message key={`answer ${at}`} said={each} />
      ))}
      {generation.state === 'broken_stream' && (
        <li className="flex items-center gap-2 rounded-md bg-bad-wash px-3 py-2 text-bad">
          <Icon name="broken" /> The stream broke after {count(chars)} characters
          {generation.error && `: ${generation.error.message}`}
        </li>
      )}
      {generation.state === 'cancelled' && (
        <li className="flex items-center gap-2 rounded-md bg-sunk px-3 py-2 text-soft">
          <Icon name="left" /> The client closed the connection here, after {count(chars)} characters.
        </li>
      )}
      {answer.length === 0 && generation.error && (
        <li
          className={cx(
            'flex items-start gap-2 rounded-md px-3 py-2',
            REFUSED.has(generation.state) ? 'bg-warn-wash text-warn' : 'bg-bad-wash text-bad',
          )}
        >
          <Icon name={REFUSED.has(generation.state) ? 'reject' : 'bad'} />{' '}
          <span className="min-w-0 break-words">
            <Timed text={generation.error.message} />
          </span>
        </li>
      )}
    </ol>
  );
}

function NotKept(): ReactNode {
  return (
    <p className="text-soft">
      Content was not logged. Set <code className="font-mono text-ink">logging.content: all</code> (or{' '}
      <code className="font-mono text-ink">failures</code>) in dragoman.yaml, or turn on content logging for
      the key. This applies to later requests.{' '}
      <GuideLink to="/observability#content-logging">Content logging</GuideLink>
    </p>
  );
}

function Message({ said: { role, parts } }: { readonly said: PayloadMessage }): ReactNode {
  return (
    <li className="grid gap-x-4 gap-y-1 sm:grid-cols-[5rem_minmax(0,1fr)]">
      <span className="pt-0.5 text-xs font-medium text-faint">{role}</span>
      <div className="flex min-w-0 flex-col gap-2 text-base">
        {parts.map((part, at) => (
          <Shown key={at} part={part} />
        ))}
      </div>
    </li>
  );
}

function Shown({ part }: { readonly part: Part }): ReactNode {
  switch (part.type) {
    case 'text':
      return <p className="break-words whitespace-pre-wrap">{part.text}</p>;
    case 'thinking':
      return (
        <details className="rounded-md bg-sunk px-3 py-1.5 text-sm text-soft">
          <summary className="target">Thinking ({count(part.text.length)} characters)</summary>
          <p className="mt-1 break-words whitespace-pre-wrap">{part.text}</p>
        </details>
      );
    case 'call':
      return (
        <div className="rounded-md border px-3 py-1.5 text-sm">
          <span className="inline-flex items-center gap-1.5 font-medium">
            <Icon name="tool" size={14} /> {part.name}
          </span>{' '}
          <code className="font-mono text-xs break-all text-soft">{part.args}</code>
        </div>
      );
    case 'result':
      return (
        <div className="rounded-md border border-dashed px-3 py-1.5 text-sm">
          <span className="text-faint">Result{part.name === '' ? '' : ` of ${part.name}`}: </span>
          <span className="break-words whitespace-pre-wrap">{part.text}</span>
        </div>
      );
    case 'picture':
      return <img src={part.url} alt="" className="max-h-64 self-start rounded border" />;
    case 'other':
      return <p className="text-sm text-faint">[{part.what}]</p>;
  }
}
