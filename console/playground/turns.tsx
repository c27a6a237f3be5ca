// Turns of a conversation: questions, reasoning, answers, and tool calls that wait for results.
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { count, duration, exactUsd, speed } from '../format/numbers.ts';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/problem.tsx';
import { dataUrl, isPicture, openCalls, type AssistantTurn, type Call, type Turn } from './conversation.ts';

interface TurnsProps {
  readonly turns: readonly Turn[];
  /** Called with the results of the tool calls in the last answer. */
  readonly onResults: (results: readonly { readonly call: Call; readonly text: string }[]) => void;
}

export function Turns({ turns, onResults }: TurnsProps): ReactNode {
  return (
    <ol className="flex flex-col gap-4">
      {turns.map((turn, at) => (
        // The index is a stable key, because turns are only appended.
        <li key={at}>
          {turn.role === 'user' && <Question turn={turn} />}
          {turn.role === 'assistant' && (
            <Answer turn={turn} onResults={at === turns.length - 1 ? onResults : undefined} />
          )}
          {turn.role === 'tool' && (
            <ul className="flex flex-col gap-1">
              {turn.results.map(({ call, text }) => (
                <li key={call.id} className="rounded-md border border-dashed px-3 py-2 text-sm">
                  <span className="text-faint">{call.name} gave </span>
                  <span className="break-words whitespace-pre-wrap">{text}</span>
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  );
}

function Question({ turn }: { readonly turn: Extract<Turn, { role: 'user' }> }): ReactNode {
  return (
    <div className="ml-8 rounded-lg bg-sunk px-3.5 py-2.5">
      <p className="break-words whitespace-pre-wrap">{turn.text}</p>
      {turn.files.length > 0 && (
        <ul className="mt-2 flex flex-wrap gap-2">
          {turn.files.map((file) => (
            <li key={file.name}>
              {isPicture(file) ? (
                <img src={dataUrl(file)} alt={file.name} className="max-h-32 rounded border" />
              ) : (
                <span className="rounded border bg-card px-2 py-1 text-sm">{file.name}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Answer({
  turn,
  onResults,
}: {
  readonly turn: AssistantTurn;
  readonly onResults: TurnsProps['onResults'] | undefined;
}): ReactNode {
  const { text, reasoning, calls, facts } = turn;
  const unanswered = openCalls(turn);
  return (
    <div className="flex flex-col gap-2" aria-busy={facts.isRunning}>
      {reasoning !== '' && (
        <details open={text === ''} className="rounded-md bg-sunk px-3 py-2 text-sm text-soft">
          <summary className="font-medium">Reasoning</summary>
          <p className="mt-1 break-words whitespace-pre-wrap">{reasoning}</p>
        </details>
      )}
      {text !== '' && <p className="break-words whitespace-pre-wrap">{text}</p>}
      {calls.map((call) => (
        <div key={call.id} className="rounded-md border px-3 py-2 text-sm">
          <span className="font-medium">{call.name}</span>
          <pre className="mt-1 font-mono text-xs break-words whitespace-pre-wrap text-soft">
            {call.arguments}
          </pre>
          {call.isRun && (
            <p className="mt-1 break-words whitespace-pre-wrap">
              <span className="text-faint">
                {call.result === null ? 'is running in the gateway…' : 'gave '}
              </span>
              {call.result}
            </p>
          )}
        </div>
      ))}
      {unanswered.length > 0 && !facts.isRunning && onResults && (
        <Results calls={unanswered} onResults={onResults} />
      )}
      {facts.error !== null && <Problem error={facts.error} />}
      <Facts turn={turn} />
    </div>
  );
}

/** Form for the results of tool calls. */
function Results({
  calls,
  onResults,
}: {
  readonly calls: readonly Call[];
  readonly onResults: TurnsProps['onResults'];
}): ReactNode {
  const [texts, setTexts] = useState<readonly string[]>(calls.map(() => ''));
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onResults(calls.map((call, at) => ({ call, text: texts[at] ?? '' })));
      }}
    >
      {calls.map((call, at) => (
        <textarea
          key={call.id}
          className="field font-mono"
          rows={2}
          aria-label={`Result of ${call.name}`}
          placeholder={`Result of ${call.name}`}
          value={texts[at]}
          onChange={({ target }) => setTexts(texts.with(at, target.value))}
        />
      ))}
      <Button type="submit" icon="send" className="self-start">
        Send results
      </Button>
    </form>
  );
}

function Facts({ turn: { facts } }: { readonly turn: AssistantTurn }): ReactNode {
  const id = facts.id ?? '';
  const { data } = useRead(
    'GET /generations/{id}',
    { params: { id } },
    { when: id !== '' && !facts.isRunning },
  );
  if (facts.isRunning)
    return (
      <p className="animate-pulse text-sm text-faint" role="status">
        {facts.firstMs === null ? 'Waiting for the first token…' : 'Responding…'}
      </p>
    );
  const said = [
    facts.firstMs !== null && `first token ${duration(facts.firstMs)}`,
    facts.wholeMs !== null && `duration ${duration(facts.wholeMs)}`,
    data?.tokens_per_second != null && `${speed(data.tokens_per_second).replace('/s', '')} tokens/s`,
    data?.native_tokens &&
      `${count(data.native_tokens.prompt_tokens)} → ${count(data.native_tokens.completion_tokens)} tokens`,
    data && (data.unpriced ? 'cost unknown' : exactUsd(data.cost_usd ?? 0)),
    data?.endpoint,
  ].filter((each) => typeof each === 'string');
  return (
    <p className="figures flex flex-wrap items-center gap-x-2 text-xs text-faint">
      {said.join(' · ')}
      {data && (
        <Link to="/requests/$id" params={{ id: data.id }} className="text-accent hover:underline">
          Open request
        </Link>
      )}
    </p>
  );
}
